/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * faults.c - what is put between a worker and its servers
 */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_proxy.h"
#include "proxy.h"
#include "settings.h"

static proxy *redis_proxy;
static pg_proxy *database_proxy;

static proxy_fault fault_of(const char *text)
{
    static const char *const names[] = {
        [PROXY_PASS] = "pass",
        [PROXY_DELAY] = "delay",
        [PROXY_SWALLOW] = "swallow",
        [PROXY_MUTE] = "mute",
        [PROXY_CUT_BEFORE] = "cut-before",
        [PROXY_CUT_AFTER] = "cut-after",
        [PROXY_CUT_INSIDE] = "cut-inside",
        [PROXY_DUPLICATE] = "duplicate",
        [PROXY_SWAP] = "swap",
        [PROXY_STALE] = "stale",
        [PROXY_DRIBBLE] = "dribble",
        [PROXY_HALF_CLOSE] = "half-close",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(text, names[i], strcspn(text, ":")) == 0)
            return (proxy_fault)i;
    }
    settings_refuse(text);
}

static proxy *between_redis(void)
{
    proxy *p;
    char *at = strchr(set.fault, ':');
    long skip, count;

    if (*set.fault == '\0')
        return NULL;
    if (at == NULL)
        settings_refuse(set.fault);
    skip = strtol(at + 1, &at, 10);
    count = *at == ':' ? strtol(at + 1, NULL, 10) : 1;
    p = proxy_start(set.redis);
    if (fault_of(set.fault) == PROXY_DELAY)
        proxy_set_delay(p, (int)skip, (int)count, (int)set.ttl * 2);
    else
        proxy_set(p, fault_of(set.fault), (int)skip, (int)count);
    return p;
}

static pg_fault pg_fault_of(const char *text)
{
    static const char *const names[] = {
        [PG_CUT_BEFORE] = "cut-before",
        [PG_CUT_AFTER] = "cut-after",
        [PG_MUTE] = "mute",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] != NULL &&
            strncmp(text, names[i], strcspn(text, ":")) == 0)
            return (pg_fault)i;
    }
    settings_refuse(text);
}

static pg_proxy *between_database(void)
{
    const char *at = strchr(set.pg_fault, ':');
    pg_proxy *p;

    if (*set.pg_fault == '\0')
        return NULL;
    if (at == NULL)
        settings_refuse(set.pg_fault);
    p = pg_proxy_start();
    pg_proxy_set(p, pg_fault_of(set.pg_fault), (int)strtol(at + 1, NULL, 10));
    setenv("PGHOST", pg_proxy_folder(p), 1);
    setenv("PGPORT", "5432", 1);
    return p;
}

const char *faults_start(void)
{
    static char url[160];

    redis_proxy = between_redis();
    database_proxy = between_database();
    if (redis_proxy != NULL)
        return proxy_url(redis_proxy);
    if (set.url != NULL)
        return set.url;
    snprintf(url, sizeof(url), "redis+unix://%s", set.redis);
    return url;
}

void faults_stop(void)
{
    if (redis_proxy != NULL)
        proxy_stop(redis_proxy);
    if (database_proxy != NULL)
        pg_proxy_stop(database_proxy);
}
