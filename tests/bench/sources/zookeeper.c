/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper.c - three servers, each of which flushes its log
 */
#include "contestant.h"
#include "zookeeper_ensemble.h"

enum { SERVERS = 3 };

static zookeeper_ensemble *ensemble;
static rf_client *client;

static void start(void)
{
    ensemble = zookeeper_ensemble_start_flushing(SERVERS);
    client = client_open(zookeeper_ensemble_url(ensemble));
}

static void pair(void)
{
    client_pair(client);
}

/* The question itself is a packet, which is not the client's. */
static cost counted(void)
{
    static double asked;
    cost sum = { 0, 0 };

    for (int i = 0; i < SERVERS; i++) {
        const char *told = zookeeper_ensemble_ask(ensemble, i, "mntr");

        sum.requests += sum_of(told, "zk_packets_received\t");
        sum.flushes += sum_of(told, "zk_cnt_fsynctime\t");
    }
    asked += SERVERS;
    sum.requests -= asked;
    return sum;
}

static cost cost_of(size_t pairs)
{
    return cost_by(counted, pair, pairs);
}

static void stop(void)
{
    rf_close(client);
    zookeeper_ensemble_stop(ensemble);
}

const contestant zookeeper = { "zookeeper", "zookeeper://127.0.0.1:1",
                               start,       pair,
                               cost_of,     stop };
