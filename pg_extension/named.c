/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * named.c
 *		Does the statement name the fence column?
 *
 * One that does not leaves the fence as it is, and no comparison of old and
 * new can tell it from one that was written by the newest holder.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "commands/trigger.h"
#include "nodes/bitmapset.h"

#include "errcodes.h"
#include "named.h"
#include "plan.h"
#include "protection.h"
#include "refusal.h"

bool
rf_names_column(TriggerData *call, AttrNumber attnum)
{
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						 call->tg_updatedcols);
}

void
rf_refuse_unnamed(Relation rel, AttrNumber attnum)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Set the column to the fence of your grant, as in"
		" UPDATE ... SET fence = 42.", InvalidAttrNumber, true
	};

	refusal.detail = psprintf("The statement updates table \"%s\" and does"
							  " not name its fence column.",
							  rf_table_name(rel));
	refusal.attnum = attnum;
	rf_refuse(rel, &refusal);
}

void
rf_refuse_in_cascade(Relation rel)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"It could not be judged, being the first that this session does to"
		" a protected table.  Load the library before, with"
		" session_preload_libraries.", InvalidAttrNumber, true
	};

	refusal.detail = psprintf("A trigger wrote table \"%s\" during a cascade,"
							  " and is not the cascade.",
							  rf_table_name(rel));
	rf_refuse(rel, &refusal);
}

void
rf_check_named(TriggerData *call, AttrNumber attnum)
{
	Relation	rel = call->tg_relation;

	if (!rf_names_column(call, attnum) ||
		!rf_plan_names_column(RelationGetRelid(rel), attnum))
		rf_refuse_unnamed(rel, attnum);
}
