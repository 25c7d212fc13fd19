/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * kept.h - a lock that is being kept: when it is renewed, and when it is lost
 */
#ifndef RF_KEPT_H
#define RF_KEPT_H

#include "due.h"
#include "internal.h"

/* What is known of one lock by whoever keeps it.  It belongs to the lock. */
typedef struct rf__kept {
    rf__due due; /* of the next renewal, or of the cap             */
    rf_lock *lock;
    rf__grant grant;
    int64_t ttl_ms;
    int64_t until_ms;    /* hard cap on holding                            */
    int64_t deadline_ms; /* what is believed of the lock                   */
    int failures;        /* renewals in a row that were not answered       */
    int busy;            /* a renewal or on_lost() is going on             */
    rf_on_lost on_lost;
    void *arg;
} rf__kept;

/* Of a lock that is held.  NULL: no memory. */
rf__kept *rf__kept_new(rf_lock *lock, const rf_keep_options *opts);

/* When it is to be renewed for the first time. */
void rf__kept_schedule(rf__kept *kept);

/* What a renewal comes to. */
typedef enum rf__kept_next {
    RF__KEPT_ON,   /* renewed, or to be tried again: due says when           */
    RF__KEPT_LOST, /* for reason                                             */
    RF__KEPT_OVER  /* past its cap: to be given back, then lost by it        */
} rf__kept_next;

/* Renewed or not, as the request that answer is of has ended. */
rf__kept_next rf__kept_renewed(rf__kept *kept, rf_status result,
                               const rf__grant *answer, rf_lost_reason *reason);

/* Before a renewal: does it come too late? */
rf__kept_next rf__kept_look(const rf__kept *kept, rf_lost_reason *reason);

#endif /* RF_KEPT_H */
