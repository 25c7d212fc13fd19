/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * renew.c
 *		renew(), release() and force_release(): what becomes of a lease.
 *
 * All of them only ever touch a lease that still lives and is the one that
 * was meant: nothing is re-created, and nothing of another is given back.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "answer.h"
#include "checks.h"
#include "compat.h"
#include "errcodes.h"
#include "grant.h"
#include "leases.h"
#include "wake.h"

PG_FUNCTION_INFO_V1(ringfence_renew);
PG_FUNCTION_INFO_V1(ringfence_release);
PG_FUNCTION_INFO_V1(ringfence_force_release);

/* The lease, locked, and the time at which it is judged. */
static TimestampTz
look_alone(const RfGrant *grant, RfLease *lease)
{
	rf_leases_lock(grant);
	rf_leases_look(grant, lease);
	return GetCurrentTimestamp();
}

/* (done, taken): when it isn't ours, is it another's or just gone? */
static Datum
answer(FunctionCallInfo fcinfo, RfAnswer *form, bool done, bool taken)
{
	Datum		values[2];
	bool		nulls[2] = {false};

	values[0] = BoolGetDatum(done);
	values[1] = BoolGetDatum(taken);
	return rf_answer(fcinfo, form, values, nulls);
}

/* A late copy of an older request must not take time back. */
Datum
ringfence_renew(PG_FUNCTION_ARGS)
{
	static RfAnswer form;
	TimestampTz now;
	RfLease		lease;
	RfGrant		grant;
	int64		ttl;

	rf_lease_read_grant(fcinfo, &grant);
	rf_check_not_null(fcinfo, 3, "time to live");
	ttl = rf_lease_read_ttl(PG_GETARG_INTERVAL_P(3));
	now = look_alone(&grant, &lease);
	if (!rf_lease_is_of(&lease, &grant, now))
		return answer(fcinfo, &form, false, rf_lease_is_live(&lease, now));
	if (now + ttl > lease.expires_at)
		rf_leases_store(&grant, now + ttl, &lease);
	return answer(fcinfo, &form, true, false);
}

static void
end_lease(const RfGrant *grant, RfLease *lease)
{
	rf_leases_store(grant, DT_NOBEGIN, lease);
	rf_wake(grant);
}

Datum
ringfence_release(PG_FUNCTION_ARGS)
{
	static RfAnswer form;
	TimestampTz now;
	RfLease		lease;
	RfGrant		grant;

	rf_lease_read_grant(fcinfo, &grant);
	now = look_alone(&grant, &lease);
	if (!rf_lease_is_of(&lease, &grant, now))
		return answer(fcinfo, &form, false, rf_lease_is_live(&lease, now));
	end_lease(&grant, &lease);
	return answer(fcinfo, &form, true, false);
}

/* Whoever has it under this fence.  The database still knows its claim. */
Datum
ringfence_force_release(PG_FUNCTION_ARGS)
{
	const text *reason;
	TimestampTz now;
	RfLease		lease;
	RfGrant		grant;

	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_check_not_null(fcinfo, 1, "fence");
	rf_check_not_null(fcinfo, 2, "reason");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	grant.fence = PG_GETARG_INT64(1);
	rf_check_fence(grant.fence);
	reason = PG_GETARG_TEXT_PP(2);
	rf_check_name("reason", VARDATA_ANY(reason), VARSIZE_ANY_EXHDR(reason));

	now = look_alone(&grant, &lease);
	if (!rf_lease_is_live(&lease, now) || lease.fence != grant.fence)
		PG_RETURN_BOOL(false);
	grant.holder = lease.holder;
	end_lease(&grant, &lease);
	ereport(LOG,
			(errmsg("lock is taken from its holder"),
			 errdetail("Resource \"%.*s\", fence %lld of holder \"%s\", by "
					   "role \"%s\": %s",
					   grant.name_len, grant.name, (long long) grant.fence,
					   grant.holder, GetUserNameFromId(GetUserId(), false),
					   text_to_cstring(reason))));
	PG_RETURN_BOOL(true);
}
