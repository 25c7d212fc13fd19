/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * resource_trigger.c
 *		Resource protection: every row that is written belongs to a resource
 *		that this transaction has claimed.
 *
 * Rows are judged in the WHEN of AFTER triggers, by unclaimed.c: they are then
 * what is really in the table, and right ones cost no call.  Constraint
 * triggers, which CREATE OR REPLACE TRIGGER can't take away.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "armed.h"
#include "claims.h"
#include "column.h"
#include "errcodes.h"
#include "grant.h"
#include "named.h"
#include "plan.h"
#include "protection.h"
#include "refusal.h"
#include "template.h"
#include "trigger_call.h"
#include "unfenced.h"
#include "whole.h"

PG_FUNCTION_INFO_V1(ringfence_resource_statement);
PG_FUNCTION_INFO_V1(ringfence_resource_row);

/* What is kept from one wrong row of a statement to the next. */
typedef struct ResourceState
{
	RfTemplate *template;		/* NULL: observed, can't be read */
	AttrNumber	fence;			/* or invalid: none */
	int64		claim;			/* on the row's resource */
	StringInfoData name;		/* of the row's resource */
} ResourceState;

/* ---- Refusals ----------------------------------------------------------- */

static void
refuse_name(Relation rel, const char *problem)
{
	RfRefusal	refusal = {
		ERRCODE_RF_ARGUMENT, RF_MSG_ARGUMENT, NULL,
		"A resource is a text of 1 to 255 bytes without control characters.",
		InvalidAttrNumber, false
	};

	refusal.detail = psprintf("A row of table \"%s\" has no valid resource: %s",
							  rf_table_name(rel), problem);
	rf_refuse(rel, &refusal);
}

static void
refuse_null(Relation rel, const RfTemplateColumn *column)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Fill the columns that the resource is made of.", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("A row of table \"%s\" belongs to no resource:"
							  " column \"%s\" is NULL.", rf_table_name(rel),
							  column->name);
	refusal.attnum = column->attnum;
	rf_refuse(rel, &refusal);
}

static void
refuse_setup(Relation rel, const char *problem)
{
	RfRefusal	refusal = {
		ERRCODE_RF_SETUP, RF_MSG_SETUP, NULL,
		"Nothing can be judged, so nothing is let through.  Ask"
		" ringfence.audit() how to mend it.", InvalidAttrNumber, true
	};

	refusal.detail = problem;
	rf_refuse(rel, &refusal);
}

static void
refuse_other_fence(Relation rel, ResourceState *state, int64 fence)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Set the column to the claimed fence, as in"
		" SET fence = ringfence.fence(resource).", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("Table \"%s\", resource \"%s\": the row would"
							  " have fence " INT64_FORMAT ", this transaction"
							  " has claimed " INT64_FORMAT ".",
							  rf_table_name(rel), state->name.data,
							  fence, state->claim);
	refusal.attnum = state->fence;
	rf_refuse(rel, &refusal);
}

static void
refuse_stale(Relation rel, ResourceState *state, int64 fence)
{
	RfRefusal	refusal = {
		ERRCODE_RF_STALE, RF_MSG_STALE, NULL,
		"A newer holder has written this row.  Stop, and do not retry with"
		" this grant.", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("Table \"%s\", resource \"%s\": the row has fence "
							  INT64_FORMAT ", this transaction has claimed "
							  INT64_FORMAT ".", rf_table_name(rel),
							  state->name.data, fence,
							  state->claim);
	refusal.attnum = state->fence;
	rf_refuse(rel, &refusal);
}

/* ---- Which resource, and is it claimed? --------------------------------- */

/* True, and the claim in the state, or a refusal. */
static bool
find_claim(ResourceState *state, Relation rel, HeapTuple tuple)
{
	const RfTemplateColumn *null_column;
	StringInfo	name = &state->name;
	char	   *problem;

	null_column = rf_template_render(state->template, RelationGetDescr(rel),
									 tuple, name);
	if (null_column != NULL)
	{
		refuse_null(rel, null_column);
		return false;
	}
	state->claim = rf_claimed_fence(name->data, name->len);
	if (state->claim > 0)
		return true;

	/* What was claimed is a valid name; only the others need a look. */
	problem = rf_resource_problem(name->data, name->len);
	if (problem != NULL)
		refuse_name(rel, problem);
	else
		rf_refuse_unclaimed(rel, name->data);
	return false;
}

/*
 * A row that is replaced or deleted: not by someone who came before.  False
 * when it was refused and let through.
 */
static bool
check_old(ResourceState *state, Relation rel, HeapTuple tuple)
{
	RfFence		fence;

	if (!find_claim(state, rel, tuple))
		return false;
	if (state->fence == InvalidAttrNumber)
		return true;
	fence = rf_fence_of(rel, state->fence, tuple);
	if (fence.isnull || fence.value <= state->claim)
		return true;
	refuse_stale(rel, state, fence.value);
	return false;
}

/* A row as it will be: its fence is the claim's. */
static void
check_new(ResourceState *state, Relation rel, HeapTuple tuple)
{
	RfFence		fence;

	if (!find_claim(state, rel, tuple) || state->fence == InvalidAttrNumber)
		return;
	fence = rf_fence_of(rel, state->fence, tuple);
	if (rf_check_row_fence(rel, state->fence, fence) &&
		fence.value != state->claim)
		refuse_other_fence(rel, state, fence.value);
}

/* ---- Triggers ----------------------------------------------------------- */

static RfTemplate *
read_template(Relation rel, const char *source, MemoryContext context)
{
	char	   *problem = NULL;
	RfTemplate *template = rf_template_parse(source, &problem);

	if (template != NULL)
		problem = rf_template_bind(template, rel, context);
	if (problem == NULL)
		return template;
	refuse_setup(rel, problem);
	return NULL;
}

static ResourceState *
begin_rows(FunctionCallInfo fcinfo, TriggerData *call)
{
	Relation	rel = call->tg_relation;
	char	  **args = call->tg_trigger->tgargs;
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	MemoryContext before = MemoryContextSwitchTo(context);
	ResourceState *state = palloc0(sizeof(ResourceState));

	initStringInfo(&state->name);
	state->template = read_template(rel, args[0], context);
	if (args[1][0] != '\0')
		state->fence = rf_fence_column(rel, args[1]);
	MemoryContextSwitchTo(before);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

/* Claims are made where the write was; here only fences can be compared. */
static void
check_replicated(ResourceState *state, TriggerData *call)
{
	Relation	rel = call->tg_relation;
	RfFence		old;
	RfFence		new;

	if (state->fence == InvalidAttrNumber ||
		!TRIGGER_FIRED_BY_UPDATE(call->tg_event))
		return;
	old = rf_fence_of(rel, state->fence, call->tg_trigtuple);
	new = rf_fence_of(rel, state->fence, call->tg_newtuple);
	rf_check_row_order(rel, state->fence, old, new.value);
}

/*
 * AFTER INSERT, UPDATE or DELETE, for each row that is wrong: the trigger's
 * WHEN has found that.  Arguments: template, and the fence column or an empty
 * text.
 */
Datum
ringfence_resource_row(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_AFTER_ROW, RF_ON_WRITE,
										2);
	Relation	rel = call->tg_relation;
	ResourceState *state = fcinfo->flinfo->fn_extra;

	if (state == NULL)
		state = begin_rows(fcinfo, call);
	if (rf_is_replica())
		check_replicated(state, call);
	else if (state->template == NULL)
		 /* observed, and can't be judged */ ;
	else if (TRIGGER_FIRED_BY_INSERT(call->tg_event))
		check_new(state, rel, call->tg_trigtuple);
	else if (check_old(state, rel, call->tg_trigtuple) &&
			 TRIGGER_FIRED_BY_UPDATE(call->tg_event))
		check_new(state, rel, call->tg_newtuple);
	return PointerGetDatum(NULL);
}

static const char *
row_trigger(TriggerEvent event)
{
	if (TRIGGER_FIRED_BY_INSERT(event))
		return RF_TRIGGER_INSERT;
	return TRIGGER_FIRED_BY_UPDATE(event) ? RF_TRIGGER_UPDATE :
		RF_TRIGGER_DELETE;
}

/* What a CHECK judges has no trigger on rows. */
static void
check_judged(TriggerData *call)
{
	Relation	rel = call->tg_relation;
	char	  **args = call->tg_trigger->tgargs;
	const char *trigger = row_trigger(call->tg_event);

	if (args[1][0] == '\0' && !TRIGGER_FIRED_BY_DELETE(call->tg_event) &&
		rf_whole_resource(args[0]) != NULL)
		rf_check_whole_armed(rel, trigger);
	else
		rf_check_armed(rel, trigger);
}

/*
 * BEFORE INSERT, UPDATE or DELETE, for each statement.  Arguments as above.
 * Sees to it that rows are judged, and by the columns that were meant.
 */
Datum
ringfence_resource_statement(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_BEFORE_STATEMENT,
										RF_ON_WRITE, 2);
	Relation	rel = call->tg_relation;
	char	  **args = call->tg_trigger->tgargs;
	AttrNumber	fence = InvalidAttrNumber;

	if (rf_is_replica())
		return PointerGetDatum(NULL);
	read_template(rel, args[0], CurrentMemoryContext);
	if (args[1][0] != '\0')
		fence = rf_fence_column(rel, args[1]);
	if (fence != InvalidAttrNumber &&
		TRIGGER_FIRED_BY_UPDATE(call->tg_event) && !rf_in_cascade(rel))
		rf_check_named(call, fence);
	check_judged(call);
	return PointerGetDatum(NULL);
}
