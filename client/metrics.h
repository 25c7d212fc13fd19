/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * metrics.h - what a client has done, for those who watch it
 */
#ifndef RF_METRICS_H
#define RF_METRICS_H

#include <stdatomic.h>

#include "internal.h"

typedef struct rf__timing {
    _Atomic uint64_t sum_us;
    _Atomic uint64_t bucket[RF_BUCKETS];
} rf__timing;

/* Written by the client's thread and its keeper's, read by any. */
typedef struct rf__metrics {
    _Atomic uint64_t calls[RF_CALLS][RF_OUTCOMES];
    _Atomic uint64_t lost[RF_REASONS];
    rf__timing timing[RF_TIMINGS];
    rf_hook hook;
    void *arg;
} rf__metrics;

/* A call is over: count it, and tell the hook. */
void rf__metrics_call(rf__metrics *m, const rf_event *event);
void rf__metrics_lost(rf__metrics *m, const rf_event *event);
void rf__metrics_time(rf__metrics *m, rf_timing which, int64_t us);

#endif /* RF_METRICS_H */
