/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * truncate_trigger.c
 *		TRUNCATE writes every row at once and shows none of them.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"

#include "errcodes.h"
#include "protection.h"
#include "refusal.h"
#include "trigger_call.h"
#include "whole.h"

PG_FUNCTION_INFO_V1(ringfence_truncate_statement);

/* BEFORE TRUNCATE.  Argument: template, or an empty text. */
Datum
ringfence_truncate_statement(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_BEFORE_STATEMENT,
										RF_ON_TRUNCATE, 1);
	Relation	rel = call->tg_relation;
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Only a table whose resource is one for all rows can be truncated,"
		" after ringfence.guard() for it.", InvalidAttrNumber, true
	};

	if (rf_is_replica() || rf_whole_is_claimed(call->tg_trigger->tgargs[0]))
		return PointerGetDatum(NULL);
	refusal.detail = psprintf("TRUNCATE of table \"%s\" carries no fence.",
							  rf_table_name(rel));
	rf_refuse(rel, &refusal);
	return PointerGetDatum(NULL);
}
