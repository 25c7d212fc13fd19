/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stats.h
 *		What has been judged, counted.
 */
#ifndef RF_STATS_H
#define RF_STATS_H

#include "postgres.h"

#include "port/atomics.h"

typedef enum RfCounter
{
	RF_COUNT_CHECKS,			/* grants presented to the guard */
	RF_COUNT_ADVANCES,			/* newer fences stored */
	RF_COUNT_STALE,				/* refused: RF001, by guard or trigger */
	RF_COUNT_COLLISION,			/* refused: RF002 */
	RF_COUNT_UNFENCED,			/* refused by a trigger: RF003 */
	RF_COUNT_OBSERVED,			/* would have been refused; observe mode */
	RF_COUNT_PREEMPTED,			/* backends terminated */
	RF_COUNT_WAIT_USEC,			/* time spent waiting for resources */
	RF_COUNTERS
} RfCounter;

/*
 * This backend's counters, NULL until first used.  Only this backend writes
 * them, so adding needs no locked instruction.
 */
extern pg_atomic_uint64 *rf_counters;

extern void rf_stats_bind(void);
extern Size rf_stats_size(void);
extern void rf_stats_start(void *memory, bool found);

static inline void
rf_count_add(RfCounter counter, uint64 amount)
{
	if (unlikely(rf_counters == NULL))
		rf_stats_bind();
	pg_atomic_write_u64(&rf_counters[counter],
						pg_atomic_read_u64(&rf_counters[counter]) + amount);
}

static inline void
rf_count(RfCounter counter)
{
	rf_count_add(counter, 1);
}

#endif							/* RF_STATS_H */
