/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_proxy.h - a fault between a client and its PostgreSQL
 *
 * Passes bytes on in both directions, and meets the next request with a fault.
 * A request is all that the client sends until it has to wait for an answer.
 */
#ifndef PG_PROXY_H
#define PG_PROXY_H

typedef struct pg_proxy pg_proxy;

typedef enum pg_fault {
    PG_PASS,       /* none                                             */
    PG_CUT_BEFORE, /* the connection breaks before the request arrives */
    PG_CUT_AFTER,  /* it is answered; then the connection breaks       */
    PG_CUT_INSIDE, /* half of the answer, then the connection breaks   */
    PG_CUT_LAST,   /* the same, but only "ready for query" is missing  */
    PG_SWALLOW,    /* the request is read and dropped; silence follows */
    PG_DEAF,       /* the request is not even read; silence follows    */
    PG_MUTE        /* it is carried out; silence follows               */
} pg_fault;

/* In front of the database of the test.  Ends the program when it can't. */
pg_proxy *pg_proxy_start(void);
void pg_proxy_stop(pg_proxy *p);

/* What to add to a connection string, so that it goes through the proxy. */
const char *pg_proxy_options(const pg_proxy *p);

/* Its PGHOST; PGPORT is 5432. */
const char *pg_proxy_folder(const pg_proxy *p);

/* Connections made from now on are slowed down: ms in each direction. */
void pg_proxy_set_delay(pg_proxy *p, int ms);

/*
 * After skip more requests, over all connections, one meets the fault.  To
 * connect is a request, too.
 */
void pg_proxy_set(pg_proxy *p, pg_fault fault, int skip);

/* Requests so far, which is the number of round trips. */
int pg_proxy_requests(const pg_proxy *p);

/* Those of them that began with a statement to be parsed. */
int pg_proxy_parsed(const pg_proxy *p);

#endif /* PG_PROXY_H */
