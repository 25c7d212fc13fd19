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
#include "access/stratnum.h"
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
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "errcodes.h"
#include "floor.h"
#include "hint.h"
#include "place.h"

enum
{
	COLUMN_RESOURCE = 1,
	COLUMN_FENCE,
	COLUMN_HOLDER,
	COLUMN_CLAIMED_AT,
	COLUMNS = COLUMN_CLAIMED_AT
};

static RfPlace place = {.table = "registry", .index = "registry_pkey"};
static ScanKeyData by_resource;

static Relation
open_registry(LOCKMODE mode)
{
	if (by_resource.sk_attno == 0)
	{
		ScanKeyInit(&by_resource, COLUMN_RESOURCE, BTEqualStrategyNumber,
					F_TEXTEQ, (Datum) 0);
		fmgr_info_cxt(F_TEXTEQ, &by_resource.sk_func, TopMemoryContext);
	}
	return rf_place_open(&place, mode);
}

static void
read_holder(RfRow *row, Datum value)
{
	const text *holder = DatumGetTextPP(value);
	int			len = VARSIZE_ANY_EXHDR(holder);

	/* Too long could only be made by hand, and then equals nobody. */
	len = Min(len, RF_HOLDER_MAX + 1);
	memcpy(row->holder_space, VARDATA_ANY(holder), len);
	row->holder_space[len] = '\0';
	row->holder = row->holder_space;
}

static void
read_row(RfRow *row, TupleTableSlot *slot)
{
	bool		isnull;
	bool		should_free;
	Datum		value;
	HeapTuple	tuple;

	value = slot_getattr(slot, COLUMN_FENCE, &isnull);
	row->fence = isnull ? 0 : DatumGetInt64(value);
	value = slot_getattr(slot, COLUMN_HOLDER, &isnull);
	if (!isnull)
		read_holder(row, value);
	value = slot_getattr(slot, COLUMN_CLAIMED_AT, &isnull);
	row->claimed_at = isnull ? 0 : DatumGetTimestampTz(value);
	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	row->xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	row->tid = slot->tts_tid;
	if (should_free)
		heap_freetuple(tuple);
}

static bool
is_resource(TupleTableSlot *slot, const RfGrant *grant)
{
	bool		isnull;
	const text *resource;

	resource = DatumGetTextPP(slot_getattr(slot, COLUMN_RESOURCE, &isnull));
	return !isnull && VARSIZE_ANY_EXHDR(resource) == grant->name_len &&
		memcmp(VARDATA_ANY(resource), grant->name, grant->name_len) == 0;
}

static void
clear_row(RfRow *row)
{
	row->fence = 0;
	row->holder = NULL;
	row->is_retired = false;
	row->xmin = InvalidTransactionId;
	ItemPointerSetInvalid(&row->tid);
}

static IndexScanDesc
begin_scan(Relation registry, Relation index, const RfGrant *grant,
		   Snapshot snapshot)
{
	IndexScanDesc scan;

	by_resource.sk_argument = PointerGetDatum(grant->resource);
	scan = rf_index_beginscan(registry, index, snapshot, 1);
	index_rescan(scan, &by_resource, 1, NULL, 0);
	return scan;
}

/*
 * Without a row the resource may have had any fence up to the floor, whoever
 * its holder was: nobody has an empty name.
 */
static void
stand_on_floor(RfRow *row, Snapshot snapshot)
{
	row->fence = rf_floor_look(snapshot, &row->xmin);
	if (row->fence == 0)
		return;
	row->is_retired = true;
	row->holder_space[0] = '\0';
	row->holder = row->holder_space;
}

/* Find the resource's row as the snapshot sees it. */
static void
find_row(Relation registry, const RfGrant *grant, Snapshot snapshot,
		 RfRow *row)
{
	Relation	index = rf_place_open_index(&place);
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	IndexScanDesc scan = begin_scan(registry, index, grant, snapshot);

	clear_row(row);
	if (index_getnext_slot(scan, ForwardScanDirection, slot))
		read_row(row, slot);
	else
		stand_on_floor(row, snapshot);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
}

/*
 * Without the index: if the version that was seen last is still the visible
 * one, it is the resource's row.  Otherwise, or when its place has been given
 * to another, nothing is known.
 */
static bool
find_row_by_hint(Relation registry, const RfGrant *grant, Snapshot snapshot,
				 RfRow *row)
{
	const RfHint *hint = rf_hint_find(grant->hash);
	ItemPointerData tid;
	TupleTableSlot *slot;
	bool		found = false;

	if (hint == NULL)
		return false;
	tid = hint->tid;
	/* Vacuum cuts off empty pages; to read beyond the end is an error. */
	if (ItemPointerGetBlockNumber(&tid) >= RelationGetNumberOfBlocks(registry))
		return false;
	clear_row(row);
	slot = table_slot_create(registry, NULL);
	if (table_tuple_fetch_row_version(registry, &tid, snapshot, slot) &&
		is_resource(slot, grant))
	{
		read_row(row, slot);
		found = true;
	}
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/*
 * With the latest snapshot: the transaction's would be the past under
 * REPEATABLE READ, and any taken before a wait is the past everywhere.
 */
void
rf_registry_look(const RfGrant *grant, RfRow *row)
{
	Relation	registry = open_registry(AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());

	if (!find_row_by_hint(registry, grant, snapshot, row))
	{
		find_row(registry, grant, snapshot, row);
		/* Its own uncommitted row may be rolled back. */
		if (ItemPointerIsValid(&row->tid) &&
			!TransactionIdIsCurrentTransactionId(row->xmin))
			rf_hint_set(grant->hash, row->fence, &row->tid);
	}
	UnregisterSnapshot(snapshot);
	table_close(registry, NoLock);
}

bool
rf_registry_was(const RfGrant *grant)
{
	const RfHint *hint = rf_hint_find(grant->hash);

	return hint != NULL && hint->fence == grant->fence;
}

/*
 * A dirty snapshot shows the committed version as well as the one that is on
 * its way, and says whose that is.
 */
int64
rf_registry_uncommitted(const RfGrant *grant, int *pid)
{
	Relation	registry = open_registry(AccessShareLock);
	Relation	index = rf_place_open_index(&place);
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	IndexScanDesc scan;
	SnapshotData dirty;
	int64		fence = 0;
	RfRow		row;

	InitDirtySnapshot(dirty);
	scan = begin_scan(registry, index, grant, &dirty);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		if (!TransactionIdIsValid(dirty.xmin))
			continue;
		clear_row(&row);
		read_row(&row, slot);
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
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[COLUMN_RESOURCE - 1] = PointerGetDatum(grant->resource);
	values[COLUMN_FENCE - 1] = Int64GetDatum(grant->fence);
	values[COLUMN_HOLDER - 1] = (Datum) 0;
	nulls[COLUMN_HOLDER - 1] = grant->holder == NULL;
	if (grant->holder != NULL)
		values[COLUMN_HOLDER - 1] = CStringGetTextDatum(grant->holder);
	values[COLUMN_CLAIMED_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
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

	if (ItemPointerIsValid(&row->tid))
	{
		tuple->t_self = row->tid;
		CatalogTupleUpdate(registry, &tuple->t_self, tuple);
	}
	else
		CatalogTupleInsert(registry, tuple);
	heap_freetuple(tuple);
}

bool
rf_registry_store(const RfGrant *grant, const RfRow *row)
{
	Relation	registry = open_registry(RowExclusiveLock);
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
	Relation	registry = open_registry(RowExclusiveLock);
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
	Relation	registry = open_registry(AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	TableScanDesc scan = table_beginscan(registry, snapshot, 0, NULL);
	List	   *idle = NIL;

	while (list_length(idle) < at_most &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		RfRow		row;

		CHECK_FOR_INTERRUPTS();
		read_row(&row, slot);
		if (row.claimed_at < before)
			idle = lappend(idle,
						   DatumGetTextPCopy(slot_getattr(slot, COLUMN_RESOURCE,
														  &isnull)));
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(registry, NoLock);
	return idle;
}
