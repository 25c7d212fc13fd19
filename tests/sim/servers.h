/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * servers.h - which servers a world has, and what befalls them
 *
 * One Redis; one with replicas; two under sentinels; two of a cluster; or three
 * or five masters, each by itself.
 */
#ifndef SIM_SERVERS_H
#define SIM_SERVERS_H

#include "network.h"
#include "reply.h"
#include "ringfence.h"

#define SERVERS_MAX 8

void servers_begin(void);
void servers_nemesis(void);
void servers_heal(void);

/* What to give to rf_open(). */
const char *servers_url(void);
int servers_min_replicas(void);
int servers_are_quorum(void);
int servers_are_one(void); /* all keys on one server */

/* Has the lock service kept its word so far?  What was granted is held. */
int servers_honest(void);
/* No number was issued twice, nor below an older one. */
int servers_ordered(void);
int servers_moved(void);

/*
 * Does the lock live under this grant, on a majority if there are several?
 * Fence 0: whichever it is.
 */
int servers_hold(int resource, rf_fence fence, const char *holder);

/* Is it among those who read? */
int servers_share(int resource, const char *holder);

/* ---- For network.c ------------------------------------------------------------ */

/* 1: nobody listens there. */
int server_is_dead(int server);
/* Messages come no earlier than this. */
int64_t server_back(int server);

/* A connection's command; the answer comes delay_ms later than others. */
typedef struct server_call {
    int server, argc;
    char **argv;
    const size_t *len;
    int64_t sent; /* number of the message it came with */
    reply *out;
    int64_t delay_ms;
} server_call;

void server_execute(server_call *call);

/* For BLPOP. */
int server_pop(int server, const char *key, char out[24]);

#endif /* SIM_SERVERS_H */
