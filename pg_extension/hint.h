/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * hint.h
 *		Where this backend last saw a resource's row, and what was in it.
 *
 * Nothing is decided by a hint.  It may be old, or another resource's with the
 * same hash: whoever uses one looks at the row itself afterwards.
 */
#ifndef RF_HINT_H
#define RF_HINT_H

#include "postgres.h"

#include "storage/itemptr.h"

typedef struct RfHint
{
	uint64		hash;
	int64		fence;
	ItemPointerData tid;		/* invalid: no hint */
} RfHint;

/* NULL when there is none. */
extern const RfHint *rf_hint_find(uint64 hash);
extern void rf_hint_set(uint64 hash, int64 fence, ItemPointer tid);

/* Row versions may have changed places. */
extern void rf_hint_forget_all(void);

#endif							/* RF_HINT_H */
