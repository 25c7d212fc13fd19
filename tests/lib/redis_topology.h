/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_topology.h - several real Redis servers that belong together
 *
 * Each is a redis_server of its own; what is started here is ready when the
 * call returns, and a program whose servers don't get ready ends.  more: options
 * for each of them, as for redis_server_start(); url is for plain connections.
 */
#ifndef REDIS_TOPOLOGY_H
#define REDIS_TOPOLOGY_H

#include "redis_server.h"

/*
 * A master with two replicas, watched by three sentinels under the name "main".
 * The password of the data is "data", that of the sentinels "watch".
 */
typedef struct redis_sentinels {
    redis_server *data[3];
    redis_server *sentinel[3];
    char url[256];
} redis_sentinels;

redis_sentinels *redis_sentinels_start(void);
redis_sentinels *redis_sentinels_start_with(const char *const *more);
void redis_sentinels_stop(redis_sentinels *s);

/* Where the sentinels' majority has the master now: 0 to 2; -1: no majority. */
int redis_sentinels_master(redis_sentinels *s);

/* 1 when both replicas of this master are up to date with it. */
int redis_replicas_ready(redis_server *master, int replicas);

/* Three masters with a replica each: node[0] to [2], and [3] to [5]. */
typedef struct redis_cluster {
    redis_server *node[6];
    char id[6][48];
    char url[256];
} redis_cluster;

redis_cluster *redis_cluster_start(void);
redis_cluster *redis_cluster_start_with(const char *const *more);
void redis_cluster_stop(redis_cluster *c);

/* Which of the first three has a slot in the beginning. */
int redis_cluster_owner(int slot);

/* Until it is so; the program ends after half a minute. */
#define wait_until(condition)                           \
    do {                                                \
        for (int waited = 0; !(condition); waited += 5) \
            redis_topology_nap(waited, #condition);     \
    } while (0)

void redis_topology_nap(int waited_ms, const char *what);

#endif /* REDIS_TOPOLOGY_H */
