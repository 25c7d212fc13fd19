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
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "checks.h"
#include "compat.h"
#include "errcodes.h"
#include "place.h"
#include "resource_lock.h"

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
read_lease(RfLease *lease, TupleTableSlot *slot)
{
	bool		isnull;
	const text *holder;
	int			len;

	lease->fence = DatumGetInt64(slot_getattr(slot, COLUMN_FENCE, &isnull));
	holder = DatumGetTextPP(slot_getattr(slot, COLUMN_HOLDER, &isnull));
	/* Too long could only be made by hand, and then equals nobody. */
	len = Min(VARSIZE_ANY_EXHDR(holder), RF_HOLDER_MAX + 1);
	memcpy(lease->holder, VARDATA_ANY(holder), len);
	lease->holder[len] = '\0';
	lease->expires_at = DatumGetTimestampTz(slot_getattr(slot,
														 COLUMN_EXPIRES_AT,
														 &isnull));
	lease->tid = slot->tts_tid;
}

static void
find_lease(Relation leases, const RfGrant *grant, Snapshot snapshot,
		   RfLease *lease)
{
	Relation	index = rf_place_open_index(&place);
	TupleTableSlot *slot = table_slot_create(leases, NULL);
	ScanKeyData key;
	IndexScanDesc scan;

	ScanKeyInit(&key, COLUMN_RESOURCE, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(grant->resource));
	scan = rf_index_beginscan(leases, index, snapshot, 1);
	index_rescan(scan, &key, 1, NULL, 0);
	if (index_getnext_slot(scan, ForwardScanDirection, slot))
		read_lease(lease, slot);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
}

/* With the latest snapshot, for the reasons that the registry has. */
void
rf_leases_look(const RfGrant *grant, RfLease *lease)
{
	Relation	leases = rf_place_open(&place, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());

	lease->fence = 0;
	lease->holder[0] = '\0';
	lease->expires_at = DT_NOBEGIN;
	ItemPointerSetInvalid(&lease->tid);
	find_lease(leases, grant, snapshot, lease);
	UnregisterSnapshot(snapshot);
	table_close(leases, NoLock);
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

void
rf_leases_store(const RfGrant *grant, TimestampTz expires_at,
				const RfLease *lease)
{
	Relation	leases = rf_place_open(&place, RowExclusiveLock);
	HeapTuple	tuple = form_tuple(leases, grant, expires_at);

	if (ItemPointerIsValid(&lease->tid))
	{
		tuple->t_self = lease->tid;
		CatalogTupleUpdate(leases, &tuple->t_self, tuple);
	}
	else
		CatalogTupleInsert(leases, tuple);
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
