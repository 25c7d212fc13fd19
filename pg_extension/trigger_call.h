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

/* When a function may be called: its level and time, and a set of events. */
#define RF_BEFORE_ROW		(TRIGGER_EVENT_BEFORE | TRIGGER_EVENT_ROW)
#define RF_AFTER_ROW		(TRIGGER_EVENT_AFTER | TRIGGER_EVENT_ROW)
#define RF_BEFORE_STATEMENT	TRIGGER_EVENT_BEFORE

#define RF_ON_INSERT		(1 << TRIGGER_EVENT_INSERT)
#define RF_ON_UPDATE		(1 << TRIGGER_EVENT_UPDATE)
#define RF_ON_DELETE		(1 << TRIGGER_EVENT_DELETE)
#define RF_ON_TRUNCATE		(1 << TRIGGER_EVENT_TRUNCATE)
#define RF_ON_WRITE			(RF_ON_INSERT | RF_ON_UPDATE | RF_ON_DELETE)

/*
 * The call's data, or an error when it is not made by a trigger of this kind
 * with at least so many arguments.  A row that the event does not have would
 * be read otherwise.
 */
static inline TriggerData *
rf_trigger_call(FunctionCallInfo fcinfo, uint32 level_and_time, int events,
				int nargs)
{
	TriggerData *call = (TriggerData *) fcinfo->context;

	rf_check_called(CALLED_AS_TRIGGER(fcinfo) &&
					(call->tg_event &
					 (TRIGGER_EVENT_ROW | TRIGGER_EVENT_TIMINGMASK)) ==
					level_and_time &&
					(events & (1 << (call->tg_event &
									 TRIGGER_EVENT_OPMASK))) != 0 &&
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
