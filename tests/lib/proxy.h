/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * proxy.h - a fault between a client and its Redis
 *
 * Listens on a Unix socket and on a free port of the loopback, and passes whole
 * requests and whole replies on, but for those that are to meet a fault.  A
 * fault counts requests over all connections, in the order in which they come.
 */
#ifndef PROXY_H
#define PROXY_H

#include <stddef.h>

typedef struct proxy proxy;

typedef enum proxy_fault {
    PROXY_PASS,       /* none                                               */
    PROXY_DELAY,      /* the reply comes late, by the amount in ms          */
    PROXY_SWALLOW,    /* the request never arrives, and nothing comes back  */
    PROXY_MUTE,       /* it arrives; the reply never comes                  */
    PROXY_CUT_BEFORE, /* the connection breaks before it arrives            */
    PROXY_CUT_AFTER,  /* it arrives; then the connection breaks             */
    PROXY_CUT_INSIDE, /* half of the reply, then the connection breaks      */
    PROXY_DUPLICATE,  /* it arrives twice, and both replies come back       */
    PROXY_SWAP,       /* this reply and that of the next such request, on   */
                      /* whatever connection, change places                 */
    PROXY_STALE,      /* the reply of the request before comes again        */
    PROXY_DRIBBLE,    /* the reply comes byte by byte                       */
    PROXY_HALF_CLOSE, /* it arrives; the proxy says it will send no more    */
    PROXY_SAY         /* nothing arrives; what proxy_say() set comes back   */
} proxy_fault;

/* In front of the server that listens on the Unix socket at path. */
proxy *proxy_start(const char *path);
void proxy_stop(proxy *p);

const char *proxy_url(const proxy *p); /* redis+unix:// */
int proxy_port(const proxy *p);

/* After skip more requests, the next count requests meet the fault. */
void proxy_set(proxy *p, proxy_fault fault, int skip, int count);
void proxy_set_delay(proxy *p, int skip, int count, int ms);

/* Answer the next count requests with these bytes instead of Redis' own. */
void proxy_say(proxy *p, int count, const char *bytes, size_t len);

/* How many requests came through so far, and how many connections. */
int proxy_requests(proxy *p);
int proxy_connections(proxy *p);

#endif /* PROXY_H */
