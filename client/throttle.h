/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * throttle.h - what protects the lock service from its clients
 *
 * A rate limit for clients that ask too often, and a breaker for a service that
 * is down: asking it more often does not help it up.  Only requests for new
 * locks are held back; renewing and giving back never are.
 */
#ifndef RF_THROTTLE_H
#define RF_THROTTLE_H

#include "internal.h"

#define RF__RATE_MAX 100000

typedef struct rf__limits {
    int rate_per_s;       /* 0: no limit; up to this many at once      */
    int64_t next_us;      /* when the next request was due, if evenly
                             spaced; ahead of the clock after a burst  */
    int breaker_failures; /* 0: no breaker                             */
    int breaker_ms;
    int failures; /* in a row                                  */
    int64_t open_until_ms;
} rf__limits;

void rf__limits_init(rf__limits *l, const rf_options *opts);

/* RF_OK when a request may be sent now; RF_REFUSED with a text. */
rf_status rf__limits_pass(rf__limits *l, rf__error *error);

/* What became of a request. */
void rf__limits_note(rf__limits *l, rf_status status);

#endif /* RF_THROTTLE_H */
