/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * leases.c
 *		The only file that reads and writes the leases.
 *
 * By direct access to table and index, as the registry.  Rows are never
 * deleted by those who take and give back locks: the next holder of the same
 * resource writes over the row, and the index stays as it is.  They go when the
 * resource is retired.
 */
#include "leases.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "checks.h"
#include "compat.h"
#include "errcodes.h"
#include "hint.h"
#include "place.h"
#include "resource_lock.h"
#include "row.h"

enum
{
	COLUMN_RESOURCE = 1,
	COLUMN_FENCE,
	COLUMN_HOLDER,
	COLUMN_EXPIRES_AT,
	COLUMNS = COLUMN_EXPIRES_AT
};

/* As the client library allows: a lock for longer is no lease any more. */
#define MOST_HOURS	24

static RfPlace place = {.table = "leases", .index = "leases_pkey"};

void
rf_leases_lock(const RfGrant *grant)
{
	rf_lock_lease(grant->hash);
}

static void
clear(RfLease *lease)
{
	lease->fence = 0;
	lease->holder[0] = '\0';
	lease->expires_at = DT_NOBEGIN;
	ItemPointerSetInvalid(&lease->tid);
}

/* Its columns are of the types of a claim's, in the same order. */
static bool
read_lease(RfLease *lease, const RfGrant *grant, HeapTuple tuple)
{
	RfRow		row;

	if (!rf_grant_is_for(grant, rf_row_read(&row, tuple)))
		return false;
	lease->fence = row.fence;
	strlcpy(lease->holder, row.holder == NULL ? "" : row.holder,
			sizeof(lease->holder));
	lease->expires_at = row.claimed_at;
	lease->tid = row.tid;
	return true;
}

/* With the latest snapshot, for the reasons that the registry has. */
static void
look_by_index(Oid table, const RfGrant *grant, RfLease *lease)
{
	Relation	leases = table_open(table, NoLock);
	Relation	index = rf_place_open_index(&place);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(leases, NULL);
	IndexScanDesc scan = rf_place_scan(leases, index, grant->resource,
									   snapshot);
	bool		should_free;

	clear(lease);
	if (index_getnext_slot(scan, ForwardScanDirection, slot) &&
		read_lease(lease, grant,
				   ExecFetchSlotHeapTuple(slot, false, &should_free)))
		(void) rf_hint_set(RF_HINT_LEASE, grant->hash, leases, &lease->tid);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	index_close(index, NoLock);
	table_close(leases, NoLock);
}

/*
 * The version that this backend saw or wrote last is mostly still the stored
 * one: who takes a lock gives it back.  As in the registry, not for SERIALIZABLE.
 */
static bool
look_by_hint(Oid table, const RfGrant *grant, RfLease *lease)
{
	const RfHint *hint = rf_hint_find(RF_HINT_LEASE, grant->hash);
	HeapTupleData tuple;
	bool		found;

	if (hint == NULL || IsolationIsSerializable() ||
		!rf_hint_follow(hint, table, &tuple))
		return false;
	found = read_lease(lease, grant, &tuple);
	ReleaseBuffer(hint->buffer);
	return found;
}

void
rf_leases_look(const RfGrant *grant, RfLease *lease)
{
	Oid			table = rf_place_lock(&place, AccessShareLock);

	if (!look_by_hint(table, grant, lease))
		look_by_index(table, grant, lease);
}

static HeapTuple
form_tuple(Relation leases, const RfGrant *grant, TimestampTz expires_at)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[COLUMN_RESOURCE - 1] = PointerGetDatum(grant->resource);
	values[COLUMN_FENCE - 1] = Int64GetDatum(grant->fence);
	values[COLUMN_HOLDER - 1] = CStringGetTextDatum(grant->holder);
	values[COLUMN_EXPIRES_AT - 1] = TimestampTzGetDatum(expires_at);
	return heap_form_tuple(RelationGetDescr(leases), values, nulls);
}

static void
become(RfLease *lease, const RfGrant *grant, TimestampTz expires_at,
	   const ItemPointerData *tid)
{
	lease->fence = grant->fence;
	lease->expires_at = expires_at;
	lease->tid = *tid;
	if (grant->holder != lease->holder)
		strlcpy(lease->holder, grant->holder, sizeof(lease->holder));
}

void
rf_leases_store(const RfGrant *grant, TimestampTz expires_at, RfLease *lease)
{
	Relation	leases = rf_place_open(&place, RowExclusiveLock);
	HeapTuple	tuple = form_tuple(leases, grant, expires_at);

	if (ItemPointerIsValid(&lease->tid))
	{
		rf_place_prune(leases, &lease->tid);
		tuple->t_self = lease->tid;
		CatalogTupleUpdate(leases, &tuple->t_self, tuple);
	}
	else
		CatalogTupleInsert(leases, tuple);
	become(lease, grant, expires_at, &tuple->t_self);
	(void) rf_hint_set(RF_HINT_LEASE, grant->hash, leases, &lease->tid);
	heap_freetuple(tuple);
	/* So that this transaction's next look sees it. */
	CommandCounterIncrement();
	table_close(leases, NoLock);
}

void
rf_leases_remove(const RfLease *lease)
{
	Relation	leases;
	ItemPointerData tid = lease->tid;

	if (!ItemPointerIsValid(&tid))
		return;
	leases = rf_place_open(&place, RowExclusiveLock);
	CatalogTupleDelete(leases, &tid);
	table_close(leases, NoLock);
}

bool
rf_lease_is_live(const RfLease *lease, TimestampTz now)
{
	return lease->expires_at > now;
}

bool
rf_lease_is_of(const RfLease *lease, const RfGrant *grant, TimestampTz now)
{
	return rf_lease_is_live(lease, now) && lease->fence == grant->fence &&
		strcmp(lease->holder, grant->holder) == 0;
}

int64
rf_lease_left_ms(const RfLease *lease, TimestampTz now)
{
	return (lease->expires_at - now + 999) / 1000;
}

void
rf_lease_read_grant(FunctionCallInfo fcinfo, RfGrant *grant)
{
	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_check_not_null(fcinfo, 1, "fence");
	rf_check_not_null(fcinfo, 2, "holder");
	rf_grant_set_resource(grant, PG_GETARG_TEXT_PP(0));
	grant->fence = PG_GETARG_INT64(1);
	rf_check_fence(grant->fence);
	rf_grant_set_holder(grant, PG_GETARG_TEXT_PP(2));
}

int64
rf_lease_read_ttl(Interval *ttl)
{
	Interval	least = {.time = 1000};
	Interval	most = {.time = MOST_HOURS * USECS_PER_HOUR};

	if (DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(ttl),
										 IntervalPGetDatum(&least))) ||
		DatumGetBool(DirectFunctionCall2(interval_gt, IntervalPGetDatum(ttl),
										 IntervalPGetDatum(&most))))
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The time to live is not between 1 ms and %d hours.",
						   MOST_HOURS)));
	/* What overflows on the way comes back: the sum is known to be small. */
	return (int64) ((uint64) ttl->time +
					(uint64) (ttl->day + (int64) ttl->month * DAYS_PER_MONTH) *
					(uint64) USECS_PER_DAY);
}
