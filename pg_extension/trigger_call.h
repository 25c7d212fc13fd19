/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * trigger_call.h
 *		How our trigger functions may be called.
 */
#ifndef RF_TRIGGER_CALL_H
#define RF_TRIGGER_CALL_H

#include "postgres.h"
#include "commands/trigger.h"
#include "fmgr.h"

static inline void
rf_check_called(bool in_the_right_way)
{
	if (!in_the_right_way)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger function called in a wrong way"),
				 errhint("Let ringfence.protect() create the triggers.")));
}

/*
 * The call's data, or an error when it is not made by a trigger of this level
 * (ROW or STATEMENT) with at least so many arguments.
 */
static inline TriggerData *
rf_trigger_call(FunctionCallInfo fcinfo, bool for_row, int nargs)
{
	TriggerData *call = (TriggerData *) fcinfo->context;

	rf_check_called(CALLED_AS_TRIGGER(fcinfo) &&
					for_row == (TRIGGER_FIRED_FOR_ROW(call->tg_event) != 0) &&
					call->tg_trigger->tgnargs >= nargs);
	return call;
}

/*
 * A change that comes from elsewhere: logical replication, or a restore.  Its
 * claims and statements are not here, so all that can be done is compare.
 */
static inline bool
rf_is_replica(void)
{
	return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

#endif							/* RF_TRIGGER_CALL_H */
