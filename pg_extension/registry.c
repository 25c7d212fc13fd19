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
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "errcodes.h"
#include "hint.h"

enum
{
	COLUMN_RESOURCE = 1,
	COLUMN_FENCE,
	COLUMN_HOLDER,
	COLUMN_CLAIMED_AT,
	COLUMNS = COLUMN_CLAIMED_AT
};

/* Where the registry is; forgotten when either relation changes. */
static Oid	table_oid = InvalidOid;
static Oid	index_oid = InvalidOid;
static ScanKeyData by_resource;

static void
forget_place(Datum arg, Oid relid)
{
	if (OidIsValid(relid) && relid != table_oid && relid != index_oid)
		return;
	table_oid = index_oid = InvalidOid;
	rf_hint_forget_all();
}

/* Once in a backend's life. */
static void
prepare_lookups(void)
{
	static bool prepared = false;

	if (prepared)
		return;
	ScanKeyInit(&by_resource, COLUMN_RESOURCE, BTEqualStrategyNumber,
				F_TEXTEQ, (Datum) 0);
	fmgr_info_cxt(F_TEXTEQ, &by_resource.sk_func, TopMemoryContext);
	CacheRegisterRelcacheCallback(forget_place, (Datum) 0);
	prepared = true;
}

static void
find_place(void)
{
	Oid			schema;
	Oid			found_table;
	Oid			found_index;

	prepare_lookups();
	schema = get_namespace_oid("ringfence", true);
	found_table = OidIsValid(schema) ?
		get_relname_relid("registry", schema) : InvalidOid;
	found_index = OidIsValid(schema) ?
		get_relname_relid("registry_pkey", schema) : InvalidOid;
	if (!OidIsValid(found_table) || !OidIsValid(found_index))
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("The table ringfence.registry or its primary key "
						   "is not there."),
				 errhint("Schema, table and key must keep the names that "
						 "CREATE EXTENSION gave them.")));
	table_oid = found_table;
	index_oid = found_index;
}

/*
 * Locks on table and index are kept to the end of the transaction, so that
 * the registry cannot be dropped under a claim.  Taking one may bring the news
 * that the place has changed.
 */
static Relation
open_registry(LOCKMODE mode)
{
	for (;;)
	{
		Oid			wanted;

		if (!OidIsValid(table_oid))
			find_place();
		wanted = table_oid;
		LockRelationOid(wanted, mode);
		if (wanted == table_oid)
			return table_open(wanted, NoLock);
		UnlockRelationOid(wanted, mode);
	}
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

/* Find the resource's row as the snapshot sees it. */
static void
find_row(Relation registry, const RfGrant *grant, Snapshot snapshot,
		 RfRow *row)
{
	Relation	index = index_open(index_oid, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(registry, NULL);
	IndexScanDesc scan = begin_scan(registry, index, grant, snapshot);

	clear_row(row);
	if (index_getnext_slot(scan, ForwardScanDirection, slot))
		read_row(row, slot);
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
		if (ItemPointerIsValid(&row->tid))
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
	Relation	index = index_open(index_oid, AccessShareLock);
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

bool
rf_registry_advance(const RfGrant *grant, const RfRow *row)
{
	Relation	registry = open_registry(RowExclusiveLock);
	bool		done = true;
	HeapTuple	tuple;

	if (ItemPointerIsValid(&row->tid))
		done = lock_row(registry, row);
	if (done)
	{
		tuple = form_tuple(registry, grant);
		if (ItemPointerIsValid(&row->tid))
		{
			tuple->t_self = row->tid;
			CatalogTupleUpdate(registry, &tuple->t_self, tuple);
		}
		else
			CatalogTupleInsert(registry, tuple);
		heap_freetuple(tuple);
		/* So that this transaction's next look sees it. */
		CommandCounterIncrement();
	}
	table_close(registry, NoLock);
	return done;
}
