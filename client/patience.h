/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * patience.h - the rules of waiting, for those who block and those who don't
 */
#ifndef RF_PATIENCE_H
#define RF_PATIENCE_H

#include "internal.h"

/* Pauses start below this and double. */
#define RF__PAUSE_FIRST_MS 10

/* Not final: it may be had later. */
int rf__worth_waiting(rf_status status);

/* How long to pause, with full jitter, and the ceiling for the next pause. */
int64_t rf__pause_ms(int64_t *ceiling_ms);

/*
 * How long to sleep after RF_BUSY.  Never beyond the holder's own end: a holder
 * that died wakes nobody, and a wake-up can be lost on its way.
 */
int64_t rf__sleep_limit_ms(const rf__grant *busy, int64_t left_ms);

/* A counter is missing: ask whoever knows what all of them had come to. */
rf_status rf__learn_floor(const rf__grants *grants,
                          const rf_acquire_options *opts, rf_fence *out,
                          rf__error *error);

#endif /* RF_PATIENCE_H */
