/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_error.c - the one table of Redis' error codes
 *
 * All of them prove that the request was not carried out: the scripts look at
 * everything first and take the lock last.
 */
#include "redis.h"

#include <string.h>

static const rf__redis_failure failures[] = {
    { "NOSCRIPT", RF_RETRY, 0, "the script is not in Redis' cache" },
    { "LOADING", RF_RETRY, 1, "Redis is loading its data" },
    { "BUSY", RF_RETRY, 0, "Redis is busy with a slow script" },
    { "MASTERDOWN", RF_RETRY, 1, "replica without a master" },
    { "READONLY", RF_RETRY, 1, "replica: it takes no writes" },
    { "MISCONF", RF_RETRY, 0, "Redis can't save its data and takes no writes" },
    { "OOM", RF_RETRY, 0, "Redis is out of memory (maxmemory)" },
    { "TRYAGAIN", RF_RETRY, 0, "the slot is being moved" },
    { "CLUSTERDOWN", RF_RETRY, 0, "the cluster is down" },
    { "ASK", RF_RETRY, 0, "the slot is being moved to another node" },
    { "NOREPLICAS", RF_REFUSED, 0, "too few replicas (min-replicas-to-write)" },
    { "MOVED", RF_MISUSE, 0, "the key lives on another node of the cluster" },
    { "CROSSSLOT", RF_MISUSE, 0, "keys in different slots of the cluster" },
    { "NOAUTH", RF_MISUSE, 1, "Redis wants a password, in the URL" },
    { "WRONGPASS", RF_MISUSE, 1, "user or password of the URL is wrong" },
    { "NOPERM", RF_MISUSE, 0, "the user lacks a permission (ACL)" },
    { "DENIED", RF_MISUSE, 1, "Redis is in protected mode" },
    { "WRONGTYPE", RF_MISUSE, 0, "a key holds something else" },
};

static const rf__redis_failure other = { "ERR", RF_MISUSE, 0,
                                         "Redis refuses the command" };
/*
 * Refusals that matter and have no code of their own.  A request with many
 * arguments gets the second one where a short one would get NOAUTH.
 */
static const struct {
    const char *begins;
    rf__redis_failure failure;
} codeless[] = {
    { "ERR max number of clients",
      { "ERR", RF_RETRY, 1, "Redis has too many clients" } },
    { "ERR Protocol error: unauthenticated",
      { "NOAUTH", RF_MISUSE, 1, "Redis wants a password, in the URL" } },
};

static const rf__redis_failure *find(const char *code)
{
    size_t len = strcspn(code, " ");

    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        if (strlen(failures[i].code) == len &&
            memcmp(failures[i].code, code, len) == 0)
            return &failures[i];
    }
    return NULL;
}

const rf__redis_failure *rf__redis_explain(const char *reply)
{
    const rf__redis_failure *found = find(reply);

    for (size_t i = 0; i < sizeof(codeless) / sizeof(codeless[0]); i++) {
        const char *begins = codeless[i].begins;

        if (strncmp(reply, begins, strlen(begins)) == 0)
            return &codeless[i].failure;
    }
    /* Before 7.0 a command's error inside a script is wrapped: "ERR Error
     * running script ...: -READONLY You can't write ...". */
    while (found == NULL && (reply = strstr(reply, " -")) != NULL) {
        reply += 2;
        found = find(reply);
    }
    return found != NULL ? found : &other;
}
