/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * hint.c
 *		Where this backend last saw a resource's row, and what was in it.
 */
#include "hint.h"

#define N_HINTS		512

static RfHint hints[N_HINTS];

static RfHint *
place_of(uint64 hash)
{
	return &hints[hash % N_HINTS];
}

const RfHint *
rf_hint_find(uint64 hash)
{
	RfHint	   *hint = place_of(hash);

	if (!ItemPointerIsValid(&hint->tid) || hint->hash != hash)
		return NULL;
	return hint;
}

void
rf_hint_set(uint64 hash, int64 fence, ItemPointer tid)
{
	RfHint	   *hint = place_of(hash);

	hint->hash = hash;
	hint->fence = fence;
	hint->tid = *tid;
}

void
rf_hint_forget_all(void)
{
	int			i;

	for (i = 0; i < N_HINTS; i++)
		ItemPointerSetInvalid(&hints[i].tid);
}
