/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_proxy.h - a fault between a client and one ZooKeeper server
 *
 * Listens on a free port of the loopback and passes whole requests on.
 */
#ifndef ZOOKEEPER_PROXY_H
#define ZOOKEEPER_PROXY_H

typedef struct zookeeper_proxy zookeeper_proxy;

typedef enum zookeeper_fault {
    ZOOKEEPER_PASS,       /* none                                           */
    ZOOKEEPER_CUT_BEFORE, /* the connection breaks before the request comes */
    ZOOKEEPER_CUT_AFTER,  /* it is carried out; then the connection breaks  */
    ZOOKEEPER_SILENT      /* nothing comes through any more, either way     */
} zookeeper_fault;

/* Requests that can be met, as the protocol numbers them. */
typedef enum zookeeper_request {
    ZOOKEEPER_DELETE = 2,
    ZOOKEEPER_SET = 5,
    ZOOKEEPER_CREATE = 15,
    ZOOKEEPER_ANY = 0
} zookeeper_request;

/* In front of the server that listens on the port. */
zookeeper_proxy *zookeeper_proxy_start(int port);
void zookeeper_proxy_stop(zookeeper_proxy *p);

/* zookeeper://127.0.0.1:port */
const char *zookeeper_proxy_url(const zookeeper_proxy *p);

/* The next such request meets the fault; but SILENT lasts until PASS. */
void zookeeper_proxy_set(zookeeper_proxy *p, zookeeper_fault fault,
                         zookeeper_request request);

/* Before each of the next n such requests is passed on, that is done. */
void zookeeper_proxy_before(zookeeper_proxy *p, zookeeper_request request,
                            int n, void (*act)(void));

/* Has it been met? */
int zookeeper_proxy_is_met(const zookeeper_proxy *p);

#endif /* ZOOKEEPER_PROXY_H */
