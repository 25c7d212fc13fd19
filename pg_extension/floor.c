/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * floor.c
 *		The fence that no retired resource was above.
 *
 * One number for all: a resource without a row in the registry may have had
 * any fence up to it.
 */
#include "floor.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "place.h"

enum
{
	COLUMN_ONE = 1,				/* true: the only row */
	COLUMN_FENCE,
	COLUMN_RAISED_AT,
	COLUMNS = COLUMN_RAISED_AT
};

static RfPlace place = {.table = "retired", .index = "retired_pkey"};

/* The only row, a copy, or NULL. */
static HeapTuple
read_row(Relation table, Snapshot snapshot)
{
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, snapshot,
										  0, NULL);
	HeapTuple	tuple = systable_getnext(scan);

	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	return tuple;
}

static int64
fence_of(Relation table, HeapTuple tuple)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, COLUMN_FENCE,
									 RelationGetDescr(table), &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

void
rf_floor_look(Snapshot snapshot, RfRow *row)
{
	Relation	table = rf_place_open(&place, AccessShareLock);
	HeapTuple	tuple = read_row(table, snapshot);

	rf_row_clear(row);
	if (tuple != NULL)
	{
		row->fence = fence_of(table, tuple);
		rf_row_stamp(row, tuple);
		heap_freetuple(tuple);
	}
	table_close(table, NoLock);
}

void
rf_floor_raise(int64 fence)
{
	Relation	table = rf_place_open(&place, ShareUpdateExclusiveLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	HeapTuple	old = read_row(table, snapshot);
	HeapTuple	tuple;
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	UnregisterSnapshot(snapshot);
	values[COLUMN_ONE - 1] = BoolGetDatum(true);
	values[COLUMN_FENCE - 1] = Int64GetDatum(fence);
	values[COLUMN_RAISED_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	tuple = heap_form_tuple(RelationGetDescr(table), values, nulls);
	if (old == NULL)
		CatalogTupleInsert(table, tuple);
	else if (fence_of(table, old) < fence)
		CatalogTupleUpdate(table, &old->t_self, tuple);
	CommandCounterIncrement();
	table_close(table, NoLock);
}
