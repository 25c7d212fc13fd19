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
#include "utils/rel.h"

#include "named.h"
#include "plan.h"
#include "unfenced.h"

bool
rf_names_column(TriggerData *call, AttrNumber attnum)
{
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						 call->tg_updatedcols);
}

void
rf_check_named(TriggerData *call, AttrNumber attnum)
{
	Relation	rel = call->tg_relation;

	if (!rf_names_column(call, attnum) ||
		!rf_plan_names_column(RelationGetRelid(rel), attnum))
		rf_refuse_unnamed(rel, attnum);
}
