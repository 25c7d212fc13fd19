/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * checks.c
 *		What every function asks before it begins.
 */
#include "checks.h"

#include "access/xact.h"
#include "access/xlog.h"

#include "errcodes.h"

/*
 * A standby answers from the past, and a parallel worker can take neither
 * lock nor snapshot.
 */
void
rf_check_server(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("This server is in recovery, so it cannot know the "
						   "newest fence."),
				 errhint("Connect to the primary.")));
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("A fence cannot be judged in a parallel operation."),
				 errhint("Do not mark functions that call ringfence as "
						 "PARALLEL SAFE or RESTRICTED.")));
}

void
rf_check_not_null(FunctionCallInfo fcinfo, int arg, const char *what)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The %s is null.", what)));
}

void
rf_raise_argument(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail_internal("%s", detail)));
}
