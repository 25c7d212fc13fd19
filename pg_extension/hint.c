/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * hint.c
 *		Where this backend last saw a resource's row, and what was in it.
 *
 * Most calls of the guard find what the one before found, so that one has to
 * be cheap: neither table nor index is opened, no snapshot is taken, and the
 * page is found without a look into the table of all buffers.
 */
#include "hint.h"

#include "access/heapam.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/snapmgr.h"

/*
 * A session that works on ten thousand resources finds nearly all of them again:
 * of places for one hint each, nearly half would be wanted by two.
 */
#define N_SETS		2048
#define N_WAYS		8

static RfHint hints[RF_HINT_KINDS][N_SETS][N_WAYS];
static uint64 age = 1;			/* hints of another age are void */

static RfHint *
set_of(RfHintKind kind, uint64 hash)
{
	return hints[kind][hash % N_SETS];
}

RfHint *
rf_hint_find(RfHintKind kind, uint64 hash)
{
	RfHint	   *set = set_of(kind, hash);
	int			i;

	for (i = 0; i < N_WAYS; i++)
		if (set[i].hash == hash && set[i].age == age)
			return &set[i];
	return NULL;
}

/* A void one, or the one whose turn it is. */
static RfHint *
to_be_replaced(RfHint *set)
{
	static uint32 turn = 0;
	int			i;

	for (i = 0; i < N_WAYS; i++)
		if (set[i].age != age)
			return &set[i];
	return &set[turn++ % N_WAYS];
}

RfHint *
rf_hint_new(RfHintKind kind, uint64 hash)
{
	RfHint	   *hint = rf_hint_find(kind, hash);

	if (hint == NULL)
		hint = to_be_replaced(set_of(kind, hash));
	hint->hash = hash;
	hint->age = age;
	return hint;
}

/* Which buffer its page is in has to be asked: the update does not tell. */
RfHint *
rf_hint_set(RfHintKind kind, uint64 hash, Relation table, ItemPointer tid)
{
	RfHint	   *hint = rf_hint_new(kind, hash);

	hint->file = rf_file_of(table);
	hint->buffer = ReadBuffer(table, ItemPointerGetBlockNumber(tid));
	hint->tid = *tid;
	ReleaseBuffer(hint->buffer);
	return hint;
}

void
rf_hint_forget_all(void)
{
	age++;
}

/*
 * SnapshotSelf is what has been committed up to this moment, as the latest
 * snapshot would tell; for one version, which is there or not, that is enough.
 */
static bool
is_there(const RfHint *hint, Oid table, HeapTuple tuple)
{
	Page		page = BufferGetPage(hint->buffer);
	OffsetNumber offset = ItemPointerGetOffsetNumber(&hint->tid);
	ItemId		item;

	if (offset > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item))
		return false;
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_self = hint->tid;
	tuple->t_tableOid = table;
	return HeapTupleSatisfiesVisibility(tuple, SnapshotSelf, hint->buffer);
}

bool
rf_hint_follow(const RfHint *hint, Oid table, HeapTuple tuple)
{
	bool		found;

	/* A page that vacuum has cut off is in no buffer. */
	if (!rf_read_recent_buffer(hint->file,
							   ItemPointerGetBlockNumber(&hint->tid),
							   hint->buffer))
		return false;
	LockBuffer(hint->buffer, BUFFER_LOCK_SHARE);
	found = is_there(hint, table, tuple);
	LockBuffer(hint->buffer, BUFFER_LOCK_UNLOCK);
	if (!found)
		ReleaseBuffer(hint->buffer);
	return found;
}
