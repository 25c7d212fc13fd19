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

#include "access/htup.h"
#include "storage/buf.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "compat.h"

/* In which table. */
typedef enum RfHintKind
{
	RF_HINT_CLAIM,
	RF_HINT_LEASE,
	RF_HINT_KINDS
} RfHintKind;

typedef struct RfHint
{
	uint64		hash;
	uint64		age;			/* of the places, when it was made */
	int64		fence;			/* of a claim; 0: not seen committed yet */
	RfFile		file;
	Buffer		buffer;			/* that the page was in */
	ItemPointerData tid;
} RfHint;

/* NULL when there is none. */
extern RfHint *rf_hint_find(RfHintKind kind, uint64 hash);

/* Where to write a new one; hash and age are filled in. */
extern RfHint *rf_hint_new(RfHintKind kind, uint64 hash);

/* A new one, to that version. */
extern RfHint *rf_hint_set(RfHintKind kind, uint64 hash, Relation table,
						   ItemPointer tid);

/* Row versions may have changed places. */
extern void rf_hint_forget_all(void);

/*
 * The version that stands there, if its page is still in the same buffer and
 * the version is committed and not replaced, or this transaction's own.  True:
 * ReleaseBuffer(hint->buffer) when the tuple has been read.  The caller has a
 * lock on the table.
 */
extern bool rf_hint_follow(const RfHint *hint, Oid table, HeapTuple tuple);

#endif							/* RF_HINT_H */
