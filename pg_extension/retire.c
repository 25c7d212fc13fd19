/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * retire.c
 *		retire(): forget idle resources, but not that they had fences.
 *
 * Under each resource's exclusive lock, so that a claim either comes first and
 * keeps its row, or waits and finds the floor.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "checks.h"
#include "claims.h"
#include "errcodes.h"
#include "floor.h"
#include "grant.h"
#include "leases.h"
#include "registry.h"
#include "resource_lock.h"

PG_FUNCTION_INFO_V1(ringfence_retire);

/* Each costs an entry in the server's lock table to the end of this. */
#define MOST_AT_ONCE	10000
#define MOST_YEARS		4000

static void
refuse_age(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail_internal("The age is %s.", why)));
}

/* Nothing is older, and there is no date before all that long ago. */
static void
check_age(Interval *age)
{
	Interval	most = {0};

	most.month = MOST_YEARS * MONTHS_PER_YEAR;
	if (DatumGetBool(DirectFunctionCall2(interval_gt,
										 IntervalPGetDatum(age),
										 IntervalPGetDatum(&most))))
		refuse_age(psprintf("above %d years", MOST_YEARS));
	most.month = -most.month;
	if (DatumGetBool(DirectFunctionCall2(interval_lt,
										 IntervalPGetDatum(age),
										 IntervalPGetDatum(&most))))
		refuse_age("negative");
}

static TimestampTz
read_cutoff(FunctionCallInfo fcinfo)
{
	Interval   *age;
	TimestampTz cutoff;
	TimestampTz now = GetCurrentTransactionStartTimestamp();

	rf_check_not_null(fcinfo, 0, "age");
	age = PG_GETARG_INTERVAL_P(0);
	check_age(age);
	cutoff = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
													 TimestampTzGetDatum(now),
													 IntervalPGetDatum(age)));
	if (cutoff > now)
		refuse_age("negative");
	return cutoff;
}

static int
read_at_most(FunctionCallInfo fcinfo)
{
	int			at_most;

	rf_check_not_null(fcinfo, 1, "number");
	at_most = PG_GETARG_INT32(1);
	if (at_most < 1 || at_most > MOST_AT_ONCE)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The number is %d, not between 1 and %d.",
						   at_most, MOST_AT_ONCE)));
	return at_most;
}

/* A resource in use, here or elsewhere, is not idle, however old its claim. */
static bool
retire_one(RfGrant *grant, TimestampTz cutoff, int64 *floor)
{
	RfLease		lease;
	RfRow		row;

	if (rf_claim_find(grant) != NULL ||
		!rf_try_lock(grant->hash, RF_EXCLUSIVE))
		return false;
	rf_registry_look(grant, &row);
	rf_leases_look(grant, &lease);
	if (!ItemPointerIsValid(&row.tid) || row.claimed_at >= cutoff ||
		rf_lease_is_live(&lease, GetCurrentTimestamp()) ||
		!rf_registry_remove(&row))
	{
		rf_unlock(grant->hash, RF_EXCLUSIVE);
		return false;
	}
	rf_leases_remove(&lease);
	*floor = Max(*floor, row.fence);
	return true;
}

Datum
ringfence_retire(PG_FUNCTION_ARGS)
{
	TimestampTz cutoff;
	int64		floor = 0;
	int32		retired = 0;
	List	   *idle;
	ListCell   *cell;

	rf_check_server();
	cutoff = read_cutoff(fcinfo);
	idle = rf_registry_idle(cutoff, read_at_most(fcinfo));
	foreach(cell, idle)
	{
		RfGrant		grant;

		CHECK_FOR_INTERRUPTS();
		rf_grant_set_resource(&grant, (text *) lfirst(cell));
		if (retire_one(&grant, cutoff, &floor))
			retired++;
	}
	if (retired > 0)
	{
		rf_floor_raise(floor);
		ForceSyncCommit();
	}
	PG_RETURN_INT32(retired);
}
