/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * reset.c
 *		reset(): the administrator sets a resource's fence, up or down.
 *
 * Down means that grants which were refused are accepted again, so it is for
 * the administrator alone, waits for all who work on the resource, and is
 * logged.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "checks.h"
#include "claims.h"
#include "errcodes.h"
#include "grant.h"
#include "registry.h"
#include "resource_lock.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(ringfence_reset);

static void
check_fence(int64 fence)
{
	if (fence != 0)
		rf_check_fence(fence);
}

static void
check_unclaimed(const RfGrant *grant)
{
	if (rf_claim_find(grant) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("Resource \"%.*s\" is claimed by this transaction.",
						   grant->name_len, grant->name)));
}

/* What is stored from now on; nobody has the empty name, so only above it. */
static void
store(RfGrant *grant, RfRow *row)
{
	bool		done;

	grant->holder = "";
	do
	{
		rf_registry_look(grant, row);
		if (grant->fence > 0)
			done = rf_registry_store(grant, row);
		else
			done = !ItemPointerIsValid(&row->tid) || rf_registry_remove(row);
	} while (!done);
	ForceSyncCommit();
}

Datum
ringfence_reset(PG_FUNCTION_ARGS)
{
	RfGrant		grant;
	RfRow		row;

	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_check_not_null(fcinfo, 1, "fence");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	grant.fence = PG_GETARG_INT64(1);
	check_fence(grant.fence);
	check_unclaimed(&grant);

	rf_lock(grant.hash, RF_EXCLUSIVE);
	store(&grant, &row);
	ereport(LOG,
			(errmsg("fence of a resource is reset"),
			 errdetail("Resource \"%.*s\": from %lld to %lld by role \"%s\".",
					   grant.name_len, grant.name, (long long) row.fence,
					   (long long) grant.fence,
					   GetUserNameFromId(GetUserId(), false))));
	PG_RETURN_INT64(row.fence);
}
