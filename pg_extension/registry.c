/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * registry.c
 *		The only file that reads and writes the registry.
 *
 * By direct access to table and index: no privileges, row policies, triggers
 * or plans of the caller can come between the guard and its row.
 */
#include "registry.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/subtrans.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "errcodes.h"
#include "floor.h"
#include "hint.h"
#include "place.h"

static RfPlace place = {.table = "registry", .index = "registry_pkey"};

static const text *
read_slot(RfRow *row, TupleTableSlot *slot)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);

	Assert(!should_free);
	return rf_row_read(row, tuple);
}

/*
 * Without a row the resource may have had any fence up to the floor, whoever
 * its holder was: nobody has an empty name.
 */
static void
stand_on_floor(RfRow *row, Snapshot snapshot)
{
	rf_floor_look(snapshot, row);
	if (row->fence == 0)
		return;
	row->is_retired = true;
	row->holder_space[0] = '\0';
	row->holder = row->holder_space;
}

/*
 * Its own uncommitted row may be rolled back, and then rf_registry_was() would
 * be wrong about a fence that is newer than the stored one.
 */
static void
remember(Relation registry, const RfGrant *grant, const RfRow *row,
		 TupleTableSlot *slot)
{
	RfHint	   *hint;

	if (TransactionIdIsCurrentTransactionId(row->xmin))
		return;
	hint = rf_hint_new(RF_HINT_CLAIM, grant->hash);
	hint->fence = row->fence;
	hint->file = rf_file_of(registry);
	hint->buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	hint->tid = row->tid;
}

/*
 * With the latest snapshot: the transaction's would be the past under
 * REPEATABLE READ, and any taken before a wait is the past everywhere.
 */
static void
look_by_index(Relation registry, const RfGrant *grant, RfRow *row)
{
	Relation	index = rf_place_open_index(&place);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	IndexScanDesc scan = rf_place_scan(registry, index, grant->resource,
									   snapshot);

	if (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		(void) read_slot(row, slot);
		remember(registry, grant, row, slot);
	}
	else
		stand_on_floor(row, snapshot);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	index_close(index, NoLock);
}

/*
 * If the version that was seen last is still the stored one, it is the
 * resource's row.  Otherwise, or when its place has been given to another,
 * nothing is known.  SERIALIZABLE wants to know what was read, so there the
 * usual way is taken.
 */
static bool
look_by_hint(Oid registry, const RfGrant *grant, RfRow *row)
{
	RfHint	   *hint = rf_hint_find(RF_HINT_CLAIM, grant->hash);
	HeapTupleData tuple;
	bool		found;

	if (hint == NULL || IsolationIsSerializable() ||
		!rf_hint_follow(hint, registry, &tuple))
		return false;
	found = rf_grant_is_for(grant, rf_row_read(row, &tuple));
	ReleaseBuffer(hint->buffer);
	if (found && row->cmin == InvalidCommandId)
		hint->fence = row->fence;
	return found;
}

void
rf_registry_look(const RfGrant *grant, RfRow *row)
{
	Oid			registry = rf_place_lock(&place, AccessShareLock);
	Relation	rel;

	/* Locked first: where rows are may have changed with the table. */
	if (look_by_hint(registry, grant, row))
		return;
	rel = table_open(registry, NoLock);
	look_by_index(rel, grant, row);
	table_close(rel, NoLock);
}

bool
rf_registry_was(const RfGrant *grant)
{
	const RfHint *hint = rf_hint_find(RF_HINT_CLAIM, grant->hash);

	return hint != NULL && hint->fence == grant->fence;
}

/*
 * A dirty snapshot shows the committed version as well as the one that is on
 * its way, and says whose that is.
 */
int64
rf_registry_uncommitted(const RfGrant *grant, int *pid)
{
	Relation	registry = rf_place_open(&place, AccessShareLock);
	Relation	index = rf_place_open_index(&place);
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	IndexScanDesc scan;
	SnapshotData dirty;
	int64		fence = 0;
	RfRow		row;

	InitDirtySnapshot(dirty);
	scan = rf_place_scan(registry, index, grant->resource, &dirty);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		if (!TransactionIdIsValid(dirty.xmin))
			continue;
		(void) read_slot(&row, slot);
		fence = row.fence;
		*pid = BackendXidGetPid(SubTransGetTopmostTransaction(dirty.xmin));
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
	table_close(registry, NoLock);
	return fence;
}

static HeapTuple
form_tuple(Relation registry, const RfGrant *grant)
{
	Datum		values[RF_ROW_COLUMNS];
	bool		nulls[RF_ROW_COLUMNS] = {false};

	values[RF_ROW_RESOURCE - 1] = PointerGetDatum(grant->resource);
	values[RF_ROW_FENCE - 1] = Int64GetDatum(grant->fence);
	values[RF_ROW_HOLDER - 1] = (Datum) 0;
	nulls[RF_ROW_HOLDER - 1] = grant->holder == NULL;
	if (grant->holder != NULL)
		values[RF_ROW_HOLDER - 1] = CStringGetTextDatum(grant->holder);
	values[RF_ROW_CLAIMED_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	return heap_form_tuple(RelationGetDescr(registry), values, nulls);
}

/*
 * Lock the row version first: the update that follows cannot fail then.  The
 * resource's lock keeps the guard's own writers apart, but not a person with
 * psql, for whom "tuple concurrently updated" would be a poor answer.
 */
static bool
lock_row(Relation registry, const RfRow *row)
{
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	ItemPointerData tid = row->tid;
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_lock(registry, &tid, GetActiveSnapshot(), slot,
							  GetCurrentCommandId(true),
							  LockTupleNoKeyExclusive, LockWaitBlock, 0,
							  &failure);
	ExecDropSingleTupleTableSlot(slot);
	return result == TM_Ok;
}

static void
write_row(Relation registry, const RfGrant *grant, const RfRow *row)
{
	HeapTuple	tuple = form_tuple(registry, grant);
	RfHint	   *hint;

	if (ItemPointerIsValid(&row->tid))
	{
		rf_place_prune(registry, &row->tid);
		tuple->t_self = row->tid;
		CatalogTupleUpdate(registry, &tuple->t_self, tuple);
	}
	else
		CatalogTupleInsert(registry, tuple);
	/* What it says becomes known when it is seen committed. */
	hint = rf_hint_set(RF_HINT_CLAIM, grant->hash, registry, &tuple->t_self);
	hint->fence = 0;
	heap_freetuple(tuple);
}

bool
rf_registry_store(const RfGrant *grant, const RfRow *row)
{
	Relation	registry = rf_place_open(&place, RowExclusiveLock);
	bool		done;

	done = !ItemPointerIsValid(&row->tid) || lock_row(registry, row);
	if (done)
	{
		write_row(registry, grant, row);
		/* So that this transaction's next look sees it. */
		CommandCounterIncrement();
	}
	table_close(registry, NoLock);
	return done;
}

bool
rf_registry_remove(const RfRow *row)
{
	Relation	registry = rf_place_open(&place, RowExclusiveLock);
	ItemPointerData tid = row->tid;
	bool		done = lock_row(registry, row);

	if (done)
	{
		CatalogTupleDelete(registry, &tid);
		CommandCounterIncrement();
	}
	table_close(registry, NoLock);
	return done;
}

List *
rf_registry_idle(TimestampTz before, int at_most)
{
	Relation	registry = rf_place_open(&place, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	TableScanDesc scan = rf_table_beginscan(registry, snapshot);
	List	   *idle = NIL;

	while (list_length(idle) < at_most &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		const text *resource;
		RfRow		row;

		CHECK_FOR_INTERRUPTS();
		resource = read_slot(&row, slot);
		if (row.claimed_at < before)
			idle = lappend(idle, DatumGetTextPCopy(PointerGetDatum(resource)));
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(registry, NoLock);
	return idle;
}
