/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * fence.c
 *		fence() and high_water(): what is claimed here, what is stored.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/snapmgr.h"

#include "checks.h"
#include "claims.h"
#include "errcodes.h"
#include "floor.h"
#include "grant.h"
#include "registry.h"

PG_FUNCTION_INFO_V1(ringfence_fence);
PG_FUNCTION_INFO_V1(ringfence_high_water);

/* The fence that this transaction has claimed. */
Datum
ringfence_fence(PG_FUNCTION_ARGS)
{
	RfGrant		grant;

	rf_check_not_null(fcinfo, 0, "resource");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	PG_RETURN_INT64(rf_claim_require(&grant)->fence);
}

static int64
look_at_floor(void)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	RfRow		row;

	rf_floor_look(snapshot, &row);
	UnregisterSnapshot(snapshot);
	return row.fence;
}

/*
 * The newest fence that is stored, but never below the floor: whoever draws
 * the next number from this is accepted.
 */
Datum
ringfence_high_water(PG_FUNCTION_ARGS)
{
	RfGrant		grant;
	RfRow		row;

	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	rf_registry_look(&grant, &row);
	PG_RETURN_INT64(Max(row.fence, look_at_floor()));
}
