/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis.c - one Redis, and five masters of which a majority must agree
 *
 * They save nothing, so they flush nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contestant.h"
#include "redis_server.h"

enum { MASTERS = 5 };

static redis_server *single, *master[MASTERS];
static rf_client *of_single, *of_masters;

static double scripts_run(redis_server *server)
{
    const char *info = redis_server_command(server, "INFO commandstats");
    const char *found = strstr(info, "cmdstat_evalsha:calls=");

    return found ? strtod(strchr(found, '=') + 1, NULL) : 0;
}

/* ---- One ------------------------------------------------------------------- */

static void start_single(void)
{
    char url[64];

    single = redis_server_start(NULL);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(single));
    of_single = client_open(url);
}

static void pair_single(void)
{
    client_pair(of_single);
}

static cost counted_by_single(void)
{
    return (cost){ scripts_run(single), 0 };
}

static cost cost_of_single(size_t pairs)
{
    return cost_by(counted_by_single, pair_single, pairs);
}

static void stop_single(void)
{
    rf_close(of_single);
    redis_server_stop(single);
}

const contestant redis = { "redis",     NULL,           start_single,
                           pair_single, cost_of_single, stop_single };

/* ---- Five ------------------------------------------------------------------ */

static void start_masters(void)
{
    char url[128];
    int used = snprintf(url, sizeof(url), "redlock://");

    for (int i = 0; i < MASTERS; i++) {
        master[i] = redis_server_start(NULL);
        used += snprintf(url + used, sizeof(url) - (size_t)used,
                         "%s127.0.0.1:%d", i > 0 ? "," : "",
                         redis_server_port(master[i]));
    }
    of_masters = client_open(url);
}

static void pair_masters(void)
{
    client_pair(of_masters);
}

static cost counted_by_masters(void)
{
    cost sum = { 0, 0 };

    for (int i = 0; i < MASTERS; i++)
        sum.requests += scripts_run(master[i]);
    return sum;
}

static cost cost_of_masters(size_t pairs)
{
    return cost_by(counted_by_masters, pair_masters, pairs);
}

static void stop_masters(void)
{
    rf_close(of_masters);
    for (int i = 0; i < MASTERS; i++)
        redis_server_stop(master[i]);
}

const contestant redlock = { "redlock",       NULL,
                             start_masters,   pair_masters,
                             cost_of_masters, stop_masters };
