/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * source.h - what every source of locks and fences must answer
 *
 * A source is one lock service: a Redis, a quorum of them, later others.  It
 * knows connections and wire formats and nothing of deadlines' meaning, of
 * waiting, or of PostgreSQL.  The guard does not care who issues the numbers.
 */
#ifndef RF_SOURCE_H
#define RF_SOURCE_H

#include <stddef.h>

#include "ringfence.h"

/* Where a failure's text goes: the client owns it, everyone below fills it. */
typedef struct rf__error {
    char text[256];
    char sqlstate[6];
} rf__error;

/* Set the text, printf-like.  Never give it a password. */
void rf__set_error(rf__error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define RF__TOKEN_MAX 24

/*
 * As the floor of an acquire: not known, but somebody can be asked.  When the
 * counter is missing, nothing is issued and needs_floor is set.
 */
#define RF__FLOOR_ASK (-1)

/* Who stands in the way: it tells how to wait. */
typedef enum rf__owner {
    RF__OWNER_OURS,   /* a lock like ours: its release wakes us             */
    RF__OWNER_KEPT,   /* given back, kept a moment for a waiter woken before */
    RF__OWNER_FOREIGN /* some other program's lock: nobody will wake us      */
} rf__owner;

/* Who asks, for what.  All strings were validated by lock.c. */
typedef struct rf__grant {
    const char *resource;
    const char *holder; /* RF_HOLDER_LEN hex digits                      */
    rf_fence fence;     /* acquire, in: 0, or what was given back before */
    unsigned doubt;     /* a quorum's own, from one acquire to the next  */
    int shared;         /* together with others who only read; no fence  */
    int again;          /* release: its holder is going to ask again     */
    int may_ask;        /* acquire: a floor is known, or can be asked for */
    int alone;          /* renew: without its counter, which is elsewhere */
    int spent;          /* out: not to be asked for under this holder again */
    int64_t ttl_ms;     /* in: wanted.  out: what the service granted    */
    int64_t wait_ms;    /* acquire: how long the caller is going to wait */
    int64_t sent_ms;    /* out: clock read before the request was sent   */
    int64_t busy_ms;    /* out, RF_BUSY: until the holder's runs out     */
    rf__owner busy_by;  /* out, RF_BUSY                                  */
    int taken;          /* out, RF_LOST: another has it, not just gone   */
    int needs_floor;    /* out, RF_RETRY: see RF__FLOOR_ASK              */
    int cancel_fd;      /* wait: readable when it is to end; -1: never    */
    char token[RF__TOKEN_MAX]; /* what wait handed out, for the next acquire */
} rf__grant;

typedef struct rf__grants {
    rf__grant *grant;
    size_t n;
    size_t busy; /* RF_BUSY: which one; its token belongs to it */
} rf__grants;

/* names: n strings, one after the other, each with its zero. */
typedef struct rf__page {
    char cursor[32];
    char *names; /* the caller frees it */
    size_t n;
} rf__page;

/* How servers are looked at, and who is told. */
typedef struct rf__examination {
    rf_on_finding on_finding;
    void *arg;
    int timeout_ms; /* of each request                              */
    int probe;      /* 1: any key may be written on this server     */
} rf__examination;

typedef struct rf__source rf__source;

/*
 * Every step is atomic in the service, and returns RF_UNKNOWN only when a
 * request was sent and its answer never came.  deadline_ms is on rf__now_ms():
 * no step outlasts it.
 */
typedef struct rf__source_ops {
    int is_fixed; /* 1: nobody can raise its numbers, base=n is added to them */

    rf_status (*acquire)(rf__source *s, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms);

    /*
     * All of them, which have one holder, ttl_ms and wait_ms, or none.
     */
    rf_status (*acquire_all)(rf__source *s, rf__grants *grants, rf_fence floor,
                             int64_t deadline_ms);
    rf_status (*renew)(rf__source *s, rf__grant *grant, int64_t deadline_ms);
    rf_status (*release)(rf__source *s, rf__grant *grant, int64_t deadline_ms);
    rf_status (*reissue)(rf__source *s, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms);
    rf_status (*inspect)(rf__source *s, const char *resource, rf_info *info,
                         int64_t deadline_ms);

    /*
     * Sleep until somebody gives the resource back, for_ms at the most, or
     * until cancel_fd is readable.  A wake-up may be missed and may come for
     * nothing: the caller asks again either way.  RF_OK, or what kept it from
     * sleeping.
     */
    rf_status (*wait)(rf__source *s, rf__grant *grant, int64_t for_ms);

    /*
     * Renew n grants in as few round trips as the service allows; results[i]
     * is what became of grants[i].  May take each grant's sent_ms once for all.
     */
    void (*renew_all)(rf__source *s, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms);

    /* Likewise, but to give back. */
    void (*release_all)(rf__source *s, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms);

    /*
     * Take a lock away from whoever has it under this fence.  RF_LOST when
     * nobody has.
     */
    rf_status (*force_release)(rf__source *s, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms);

    /*
     * The resources with a lock on them, a page at a time: begin with cursor
     * "0" and end when it is "0" again.  Names may come twice.
     */
    rf_status (*list)(rf__source *s, rf__page *page, int64_t deadline_ms);

    /*
     * Tell what there is to tell of each server.  RF_OK, or why one can't be
     * asked.  NULL: there is nothing that this source knows to ask.
     */
    rf_status (*examine)(rf__source *s, const rf__examination *e);

    /*
     * May this lock still be believed in before its deadline?  0 is final.  Asks
     * nobody, from any thread.  NULL: always.
     */
    int (*stands)(rf__source *s, const rf__grant *grant);

    /* 1: a lock goes with the client that took it, and to no other. */
    int goes_with_client;

    /*
     * The same service, for another thread; over a connection of its own but
     * where goes_with_client.  NULL: out of memory.
     */
    rf__source *(*clone)(rf__source *s, rf__error *error);
    void (*close)(rf__source *s);
} rf__source_ops;

/* First member of every source, so that the ops can be found. */
struct rf__source {
    const rf__source_ops *ops;
    rf__error *error;
};

#endif /* RF_SOURCE_H */
