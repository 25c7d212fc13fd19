/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * topology.c - which source belongs to which URL
 */
#include "topology.h"

#include "cluster.h"
#include "etcd_source.h"
#include "pg_source.h"
#include "quorum.h"
#include "redis_source.h"
#include "sentinel.h"
#include "zookeeper_source.h"

static int is_redis(rf__topology topology)
{
    return topology == RF__SINGLE || topology == RF__SENTINEL ||
           topology == RF__CLUSTER || topology == RF__QUORUM;
}

rf_status rf__topology_check(const rf__service *service, const rf_options *opts,
                             rf__error *error)
{
    if (!is_redis(service->topology) && opts->counter_idle_ms > 0) {
        rf__set_error(error, "option counter_idle_ms: only Redis has counters "
                             "that may go");
        return RF_MISUSE;
    }
    if (service->topology == RF__ETCD)
        return rf__etcd_source_check(opts, error);
    if (service->topology == RF__ZOOKEEPER)
        return rf__zookeeper_source_check(opts, error);
    if (service->topology == RF__POSTGRESQL)
        return rf__pg_source_check(service, opts, error);
    if (service->topology == RF__QUORUM && opts->min_replicas > 0) {
        rf__set_error(error, "option min_replicas: the masters of redlock:// "
                             "are independent");
        return RF_MISUSE;
    }
    return RF_OK;
}

rf__source *rf__topology_source(const rf__service *service,
                                const rf_options *opts, rf__error *error)
{
    if (service->topology == RF__ETCD)
        return rf__etcd_source(service, opts, error);
    if (service->topology == RF__ZOOKEEPER)
        return rf__zookeeper_source(service, opts, error);
    if (service->topology == RF__POSTGRESQL)
        return rf__pg_source(service, opts, error);
    if (service->topology == RF__SENTINEL)
        return rf__redis_source_at(
            &service->data, rf__sentinel_locator(service, opts->timeout_ms),
            opts, error);
    if (service->topology == RF__CLUSTER)
        return rf__cluster_source(service, opts, error);
    if (service->topology == RF__QUORUM)
        return rf__quorum_source(service, opts, error);
    return rf__redis_source(&service->node[0], opts, error);
}
