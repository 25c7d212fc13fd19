/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd.c - three members, each of which flushes its log
 */
#include "contestant.h"
#include "etcd_cluster.h"

enum { MEMBERS = 3 };

static etcd_cluster *cluster;
static rf_client *client;

static void start(void)
{
    cluster = etcd_cluster_start(MEMBERS);
    client = client_open(etcd_cluster_url(cluster));
}

static void pair(void)
{
    client_pair(client);
}

static cost counted(void)
{
    cost sum = { 0, 0 };

    for (int i = 0; i < MEMBERS; i++) {
        const char *told = etcd_cluster_post(cluster, i, "/metrics", "");

        sum.requests += sum_of(told, "grpc_server_handled_total{");
        sum.flushes += sum_of(told,
                              "etcd_disk_wal_fsync_duration_seconds_count ");
    }
    return sum;
}

static cost cost_of(size_t pairs)
{
    return cost_by(counted, pair, pairs);
}

static void stop(void)
{
    rf_close(client);
    etcd_cluster_stop(cluster);
}

const contestant etcd = { "etcd", "etcd://127.0.0.1:1", start, pair, cost_of,
                          stop };
