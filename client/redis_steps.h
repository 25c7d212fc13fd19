/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_steps.h - what the files of the Redis source share
 */
#ifndef RF_REDIS_STEPS_H
#define RF_REDIS_STEPS_H

#include "redis_source.h"

typedef struct rf__redis_source_t {
    rf__source base;
    rf__redis *redis;
    int timeout_ms;
    int min_replicas, replicas_ms;
    char prefix[RF__PREFIX_MAX + 1];
    char client_id[16]; /* random, and "-": tags of two clients never meet */
    int64_t requests;
} rf__redis_source_t;

rf__redis_source_t *rf__rs(rf__source *s);

/* A fresh tag, and what all calls have in common. */
void rf__rs_prepare(rf__redis_source_t *s, rf__call *call,
                    char tag[RF__TAG_LEN]);

/* A request for what is held already, with the room its arguments need. */
typedef struct rf__request {
    rf__call call;
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX], ttl[RF__DECIMAL_MAX];
} rf__request;

/* A floor as the scripts take it, RF__FLOOR_ASK included. */
void rf__rs_write_floor(char *out, rf_fence floor);

typedef enum rf__step { RF__STEP_RENEW, RF__STEP_RELEASE } rf__step;

void rf__rs_request(rf__redis_source_t *s, rf__request *r, rf__step step,
                    const rf__grant *grant);

int rf__rs_outcome_is(const rf__reply *reply, const char *name);

/* The text after the outcome: what, why, or a number. */
const char *rf__rs_detail(const rf__reply *reply);

/* A canonical number from least to RF_FENCE_MAX in item i.  0 when it isn't. */
int rf__rs_number(const rf__reply *reply, size_t i, int64_t least,
                  int64_t *out);
int rf__rs_owner(const rf__reply *reply, size_t i, rf__owner *out);

/* It answered this very request, but with something no script of ours says. */
rf_status rf__rs_nonsense(rf__redis_source_t *s);

/* Outcomes that several scripts share and that are not success. */
rf_status rf__rs_failed(rf__redis_source_t *s, rf__grant *grant,
                        const rf__reply *reply);

/* What the answers to acquire, reissue and inspect say. */
rf_status rf__rs_acquired(rf__redis_source_t *s, rf__grant *grant,
                          const rf__reply *reply);
rf_status rf__rs_reissued(rf__redis_source_t *s, rf__grant *grant,
                          rf_fence floor, const rf__reply *reply);
int rf__rs_info(const rf__reply *reply, rf_info *info); /* 0: it makes none */

/*
 * redis_replicas.c: ask, with this call, how many replicas get what it writes;
 * and after it, whether enough did.  Otherwise the grants are given back.
 */
void rf__rs_ask_replicas(rf__redis_source_t *s, rf__call *call,
                         int64_t deadline_ms);
rf_status rf__rs_confirm(rf__redis_source_t *s, const rf__call *call,
                         rf__grants *grants, int64_t deadline_ms);

/* redis_wait.c, redis_many.c, redis_admin.c: see source.h. */
rf_status rf__rs_force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms);
rf_status rf__rs_list(rf__source *base, rf__page *page, int64_t deadline_ms);
rf_status rf__rs_wait(rf__source *base, rf__grant *grant, int64_t for_ms);
rf_status rf__rs_acquire_all(rf__source *base, rf__grants *grants,
                             rf_fence floor, int64_t deadline_ms);
void rf__rs_renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms);
void rf__rs_release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms);

#endif /* RF_REDIS_STEPS_H */
