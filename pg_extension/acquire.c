/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * acquire.c
 *		acquire() and reissue(): a lock whose fence comes from the registry.
 *
 * The number is the stored one plus one, and is stored at once: to acquire is
 * to claim, so no grant is ever stale at birth and nothing can be forgotten.
 * Who works under the grant before is waited for; the clock is read after that.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "answer.h"
#include "checks.h"
#include "errcodes.h"
#include "grant.h"
#include "guard.h"
#include "leases.h"
#include "registry.h"
#include "resource_lock.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(ringfence_acquire);
PG_FUNCTION_INFO_V1(ringfence_reissue);

typedef enum RfOutcome
{
	RF_GRANTED,
	RF_REPLAYED,				/* asked again: this holder has it already */
	RF_BUSY
} RfOutcome;

/* ---- A number that nobody had ---------------------------------------------- */

static void
raise_exhausted(const RfGrant *grant, int64 fence)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail("Resource \"%.*s\": no fence is left above %lld.",
					   grant->name_len, grant->name, (long long) fence),
			 errhint("The ceiling is the setting ringfence.max_fence.")));
}

/*
 * Under the resource's exclusive lock: nobody else raises the number, unless a
 * person does it by hand.
 */
static void
claim_next(RfGrant *grant, int64 floor, Oid function)
{
	RfDecision	decision;
	RfRow		row;

	do
	{
		CHECK_FOR_INTERRUPTS();
		rf_registry_look(grant, &row);
		if (Max(row.fence, floor) >= rf_max_fence)
			raise_exhausted(grant, Max(row.fence, floor));
		grant->fence = Max(row.fence, floor) + 1;
		decision = rf_claim_seen(grant, RF_EXCLUSIVE, &row, function);
	} while (decision != RF_PASS);
}

static int64
read_floor(FunctionCallInfo fcinfo, int arg)
{
	int64		floor;

	rf_check_not_null(fcinfo, arg, "floor");
	floor = PG_GETARG_INT64(arg);
	if (floor != 0)
		rf_check_fence(floor);
	return floor;
}

/* ---- acquire() -------------------------------------------------------------- */

/* False: nobody has it. */
static bool
is_held(RfGrant *grant, RfLease *lease, TimestampTz now, RfOutcome *outcome)
{
	rf_leases_look(grant, lease);
	if (!rf_lease_is_live(lease, now))
		return false;
	*outcome = strcmp(lease->holder, grant->holder) == 0 ?
		RF_REPLAYED : RF_BUSY;
	return true;
}

static RfOutcome
acquire(RfGrant *grant, int64 ttl, int64 floor, RfLease *lease, Oid function)
{
	RfOutcome	outcome;

	/* Who has it may go on with it while we ask. */
	if (is_held(grant, lease, GetCurrentTimestamp(), &outcome))
		return outcome;
	rf_lock(grant->hash, RF_EXCLUSIVE);
	rf_leases_lock(grant);
	if (is_held(grant, lease, GetCurrentTimestamp(), &outcome))
	{
		rf_unlock(grant->hash, RF_EXCLUSIVE);
		return outcome;
	}
	claim_next(grant, floor, function);
	rf_leases_store(grant, GetCurrentTimestamp() + ttl, lease);
	return RF_GRANTED;
}

static Datum
answer(FunctionCallInfo fcinfo, RfOutcome outcome, const RfLease *lease)
{
	static const char *const names[] = {"granted", "replayed", "busy"};
	static RfAnswer form;
	Datum		values[3];
	bool		nulls[3] = {false};

	values[0] = CStringGetTextDatum(names[outcome]);
	values[1] = Int64GetDatum(lease->fence);
	nulls[1] = outcome == RF_BUSY;
	values[2] = Int64GetDatum(rf_lease_left_ms(lease, GetCurrentTimestamp()));
	return rf_answer(fcinfo, &form, values, nulls);
}

Datum
ringfence_acquire(PG_FUNCTION_ARGS)
{
	RfOutcome	outcome;
	RfLease		lease;
	RfGrant		grant;
	int64		ttl;

	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_check_not_null(fcinfo, 1, "holder");
	rf_check_not_null(fcinfo, 2, "time to live");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	rf_grant_set_holder(&grant, PG_GETARG_TEXT_PP(1));
	ttl = rf_lease_read_ttl(PG_GETARG_INTERVAL_P(2));
	outcome = acquire(&grant, ttl, read_floor(fcinfo, 3), &lease,
					  fcinfo->flinfo->fn_oid);
	return answer(fcinfo, outcome, &lease);
}

/* ---- reissue() ---------------------------------------------------------------- */

/* Asked again, after an answer was lost: the number has been raised already. */
static bool
is_raised(const RfLease *lease, const RfGrant *grant, int64 floor,
		  TimestampTz now)
{
	return rf_lease_is_live(lease, now) &&
		strcmp(lease->holder, grant->holder) == 0 &&
		lease->fence > Max(grant->fence, floor);
}

/*
 * For a lock whose data is in another database, which knows a greater number.
 * Null: the lock is not ours any more.
 */
Datum
ringfence_reissue(PG_FUNCTION_ARGS)
{
	TimestampTz now;
	RfLease		lease;
	RfGrant		grant;
	int64		floor;

	rf_lease_read_grant(fcinfo, &grant);
	floor = read_floor(fcinfo, 3);

	rf_lock(grant.hash, RF_EXCLUSIVE);
	rf_leases_lock(&grant);
	rf_leases_look(&grant, &lease);
	now = GetCurrentTimestamp();
	if (is_raised(&lease, &grant, floor, now))
		PG_RETURN_INT64(lease.fence);
	if (!rf_lease_is_of(&lease, &grant, now))
		PG_RETURN_NULL();
	claim_next(&grant, Max(floor, grant.fence), fcinfo->flinfo->fn_oid);
	rf_leases_store(&grant, lease.expires_at, &lease);
	PG_RETURN_INT64(grant.fence);
}
