/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_steps.h - what the files of the Redis source share
 */
#ifndef RF_REDIS_STEPS_H
#define RF_REDIS_STEPS_H

#include "answer.h"
#include "redis_source.h"

typedef struct rf__redis_source_t {
    rf__source base;
    rf__redis *redis;
    int timeout_ms;
    int min_replicas, replicas_ms;
    rf__author author;
} rf__redis_source_t;

rf__redis_source_t *rf__rs(rf__source *s);

/* An answer that makes no sense ends the connection: RF_UNKNOWN. */
rf_status rf__rs_settle(rf__redis_source_t *s, rf_status status);

/*
 * redis_replicas.c: ask, with this call, how many replicas get what it writes;
 * and after it, whether enough did.  Otherwise the grants are given back.
 */
void rf__rs_ask_replicas(rf__redis_source_t *s, rf__call *call,
                         int64_t deadline_ms);
rf_status rf__rs_confirm(rf__redis_source_t *s, const rf__call *call,
                         rf__grants *grants, int64_t deadline_ms);
rf_status rf__rs_give_back_again(rf__redis_source_t *s, rf__grants *grants,
                                 int64_t deadline_ms);

/* redis_wait.c, redis_many.c, redis_admin.c, redis_examine.c: see source.h. */
rf_status rf__rs_force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms);
rf_status rf__rs_list(rf__source *base, rf__page *page, int64_t deadline_ms);
rf_status rf__rs_counters(rf__source *base, rf__page *page,
                          int64_t deadline_ms); /* likewise, of the counters */
rf_status rf__rs_examine(rf__source *base, const rf__examination *e);
rf_status rf__rs_wait(rf__source *base, rf__grant *grant, int64_t for_ms);
rf_status rf__rs_acquire_all(rf__source *base, rf__grants *grants,
                             rf_fence floor, int64_t deadline_ms);
void rf__rs_renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms);
void rf__rs_release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms);

#endif /* RF_REDIS_STEPS_H */
