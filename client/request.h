/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * request.h - what each script is asked with
 */
#ifndef RF_REQUEST_H
#define RF_REQUEST_H

#include "script.h"

/* Who asks: what all its requests have in common. */
typedef struct rf__author {
    char prefix[RF__PREFIX_MAX + 1];
    char client_id[16]; /* random, and "-": tags of two clients never meet */
    int64_t idle_ms;    /* how long a counter stays; 0: for ever           */
    char idle[RF__DECIMAL_MAX];
    int64_t requests;
} rf__author;

void rf__author_init(rf__author *a, const rf_options *opts);

/* The prefix, and a fresh tag, for which tag is the room. */
void rf__author_sign(rf__author *a, rf__call *call, char tag[RF__TAG_LEN]);

/*
 * How long the counter stays when its lock is idle, as the scripts take it; NULL:
 * one that is to go is not ours.
 */
const char *rf__author_idle(const rf__author *a, const rf__grant *grant);

/* A request with the room that its arguments need: not to be copied. */
typedef struct rf__request {
    rf__call call;
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX], ttl[RF__DECIMAL_MAX],
        floor[RF__DECIMAL_MAX], wait[RF__DECIMAL_MAX];
} rf__request;

/* For a script about one lock.  grant, which is pointed into, has to stay. */
void rf__request_write(rf__request *r, rf__author *a, const rf__script *script,
                       const rf__grant *grant, rf_fence floor);

/* A floor as the scripts take it, RF__FLOOR_ASK included. */
void rf__floor_write(char out[RF__DECIMAL_MAX], rf_fence floor);

typedef enum rf__step {
    RF__STEP_ACQUIRE,
    RF__STEP_RENEW,
    RF__STEP_RELEASE
} rf__step;

/* Which script it takes: shared locks have their own. */
const rf__script *rf__step_script(rf__step step, const rf__grant *grant);

#endif /* RF_REQUEST_H */
