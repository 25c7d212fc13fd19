/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * column_trigger.c
 *		Column protection: every update writes the row's fence, which never
 *		goes back.
 *
 * A plain table has a trigger for each statement, which asks whether the fence
 * is named, and the seal, an AFTER trigger whose WHEN lets it run only for rows
 * that are wrong.  Rows that are right cost one comparison, and the seal sees
 * what all other triggers have made of the row.  On a partitioned table a
 * BEFORE trigger looks at each row as well: a row that moves to another
 * partition is never seen by an AFTER UPDATE trigger, and is judged when it
 * leaves.  So each row is judged once, whoever refuses it or tells of it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "armed.h"
#include "column.h"
#include "errcodes.h"
#include "named.h"
#include "plan.h"
#include "protection.h"
#include "refusal.h"
#include "settings.h"
#include "trigger_call.h"

PG_FUNCTION_INFO_V1(ringfence_column_statement);
PG_FUNCTION_INFO_V1(ringfence_column_row);
PG_FUNCTION_INFO_V1(ringfence_column_key);
PG_FUNCTION_INFO_V1(ringfence_column_seal);
PG_FUNCTION_INFO_V1(ringfence_lowered);

/* What a row trigger remembers from one row of a statement to the next. */
typedef struct ColumnState
{
	AttrNumber	attnum;			/* the fence; invalid: observed without one */
	int			nkeys;			/* key columns that the statement names */
	AttrNumber	keys[FLEXIBLE_ARRAY_MEMBER];
} ColumnState;

/*
 * The row that BEFORE UPDATE saw last.  When that update moves the row to
 * another partition, the server calls BEFORE DELETE next, for the same row in
 * the same command.
 */
static struct
{
	TransactionId xid;			/* of the subtransaction */
	CommandId	command;
	Oid			relid;
	ItemPointerData tid;
	AttrNumber	attnum;			/* the fence; invalid: not to be judged */
	RfFence		fence;			/* as it would be */
} moving;

/* ---- What can be wrong with a row --------------------------------------- */

static void
check_row(Relation rel, AttrNumber attnum, RfFence old, RfFence new)
{
	if (rf_check_row_fence(rel, attnum, new))
		rf_check_row_order(rel, attnum, old, new.value);
}

/* Only what another database, or an older dump, can't have got right. */
static void
check_replicated_row(Relation rel, AttrNumber attnum, RfFence old,
					 RfFence new)
{
	if (!old.isnull)
		rf_check_row_order(rel, attnum, old, new.isnull ? 0 : new.value);
}

static void
refuse_key(Relation rel, AttrNumber attnum)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Protect the table with a resource as well, and claim it: then keys"
		" can change.", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("The primary key of a row of table \"%s\" would"
							  " change, and leave the old key free for a late"
							  " INSERT.", rf_table_name(rel));
	refusal.attnum = attnum;
	rf_refuse(rel, &refusal);
}

static void
check_key_column(TriggerData *call, AttrNumber attnum)
{
	TupleDesc	desc = RelationGetDescr(call->tg_relation);
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	bool		old_null;
	bool		new_null;
	Datum		old = heap_getattr(call->tg_trigtuple, attnum, desc,
								   &old_null);
	Datum		new = heap_getattr(call->tg_newtuple, attnum, desc,
								   &new_null);

	if (old_null != new_null ||
		(!old_null &&
		 !datum_image_eq(old, new, att->attbyval, att->attlen)))
		refuse_key(call->tg_relation, attnum);
}

static void
refuse_delete(Relation rel)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Protect the table with a resource as well, and claim it before the"
		" DELETE; or mark rows as deleted with an UPDATE.", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("DELETE from table \"%s\" carries no fence.",
							  rf_table_name(rel));
	rf_refuse(rel, &refusal);
}

/* ---- Rows that move to another partition -------------------------------- */

static void
remember_move(TriggerData *call, AttrNumber attnum)
{
	Relation	rel = call->tg_relation;

	moving.xid = GetCurrentTransactionId();
	moving.command = GetCurrentCommandId(false);
	moving.relid = RelationGetRelid(rel);
	moving.tid = call->tg_trigtuple->t_self;
	moving.attnum = attnum;
	if (attnum != InvalidAttrNumber)
		moving.fence = rf_fence_of(rel, attnum, call->tg_newtuple);
}

static bool
is_move(Relation rel, HeapTuple old)
{
	return moving.relid == RelationGetRelid(rel) &&
		moving.xid == GetCurrentTransactionId() &&
		moving.command == GetCurrentCommandId(false) &&
		ItemPointerEquals(&moving.tid, &old->t_self);
}

/* No seal will see it. */
static void
judge_move(Relation rel, HeapTuple tuple)
{
	RfFence		old;

	if (moving.attnum == InvalidAttrNumber)
		return;
	old = rf_fence_of(rel, moving.attnum, tuple);
	if (rf_is_replica())
		check_replicated_row(rel, moving.attnum, old, moving.fence);
	else
		check_row(rel, moving.attnum, old, moving.fence);
}

/* ---- Triggers ----------------------------------------------------------- */

/* BEFORE UPDATE, for each statement.  Argument: fence column. */
Datum
ringfence_column_statement(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_BEFORE_STATEMENT,
										RF_ON_UPDATE, 1);
	Relation	rel = call->tg_relation;
	AttrNumber	attnum;

	if (rf_is_replica() || rf_in_cascade(rel))
		return PointerGetDatum(NULL);
	attnum = rf_fence_column(rel, call->tg_trigger->tgargs[0]);
	if (attnum == InvalidAttrNumber)
		return PointerGetDatum(NULL);
	rf_check_named(call, attnum);
	rf_check_armed(rel, RF_TRIGGER_SEAL);
	return PointerGetDatum(NULL);
}

/*
 * A key that is not found by its name can't be kept: whoever renamed it has to
 * say so.  Invalid when that was refused and let through.
 */
static AttrNumber
key_column(Relation rel, const char *name)
{
	AttrNumber	key = rf_column_number(RelationGetDescr(rel), name);
	RfRefusal	refusal = {
		ERRCODE_RF_SETUP, RF_MSG_SETUP, NULL,
		"The key can't be kept, so nothing is let through.  Ask"
		" ringfence.audit() how to mend it.", InvalidAttrNumber, true
	};

	if (key != InvalidAttrNumber)
		return key;
	refusal.detail = psprintf("Table \"%s\" has no column \"%s\", which was in"
							  " its primary key.", rf_table_name(rel), name);
	rf_refuse(rel, &refusal);
	return InvalidAttrNumber;
}

/*
 * What the statement does to the table is found out at its first row.  The
 * answer is kept with the call, which lives exactly as long as the statement.
 */
static ColumnState *
begin_rows(FunctionCallInfo fcinfo, TriggerData *call)
{
	Relation	rel = call->tg_relation;
	char	  **args = call->tg_trigger->tgargs;
	int			nargs = call->tg_trigger->tgnargs;
	ColumnState *state;
	int			i;

	state = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
								   offsetof(ColumnState, keys) +
								   nargs * sizeof(AttrNumber));
	state->attnum = rf_fence_column(rel, args[0]);
	fcinfo->flinfo->fn_extra = state;
	if (state->attnum == InvalidAttrNumber || rf_is_replica())
		return state;
	rf_check_named(call, state->attnum);
	rf_check_armed(rel, RF_TRIGGER_SEAL);
	for (i = 1; i < nargs; i++)
	{
		AttrNumber	key = key_column(rel, args[i]);

		if (key != InvalidAttrNumber && rf_names_column(call, key))
			state->keys[state->nkeys++] = key;
	}
	return state;
}

/* Returns the fence column that is to be judged, if the row moves. */
static AttrNumber
judge_update(FunctionCallInfo fcinfo, TriggerData *call)
{
	ColumnState *state = fcinfo->flinfo->fn_extra;
	int			i;

	if (state == NULL)
		state = begin_rows(fcinfo, call);
	if (state->attnum != InvalidAttrNumber && !rf_is_replica())
		for (i = 0; i < state->nkeys; i++)
			check_key_column(call, state->keys[i]);
	return state->attnum;
}

/*
 * BEFORE UPDATE or DELETE, for each row.  Arguments: fence column, columns of
 * the primary key that must not change.
 */
Datum
ringfence_column_row(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_BEFORE_ROW,
										RF_ON_UPDATE | RF_ON_DELETE, 1);
	Relation	rel = call->tg_relation;
	HeapTuple	old = call->tg_trigtuple;

	if (TRIGGER_FIRED_BY_UPDATE(call->tg_event))
	{
		AttrNumber	judged = InvalidAttrNumber;

		if (!rf_in_cascade(rel))
			judged = judge_update(fcinfo, call);
		if (rel->rd_rel->relispartition)
			remember_move(call, judged);
		return PointerGetDatum(call->tg_newtuple);
	}
	if (is_move(rel, old))
		judge_move(rel, old);
	else if (!rf_is_replica() && !rf_in_cascade(rel))
		refuse_delete(rel);
	return PointerGetDatum(old);
}

/* AFTER UPDATE OF the primary key's columns, for each row. */
Datum
ringfence_column_key(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_AFTER_ROW, RF_ON_UPDATE,
										0);
	int			i;

	if (!rf_is_replica())
		for (i = 0; i < call->tg_trigger->tgnattr; i++)
			check_key_column(call, call->tg_trigger->tgattr[i]);
	return PointerGetDatum(NULL);
}

/*
 * lowered(fence that was, fence that is): for the WHEN of the seal.  One call,
 * as in unclaimed.c.
 */
Datum
ringfence_lowered(PG_FUNCTION_ARGS)
{
	int64		was = PG_ARGISNULL(0) ? 1 : PG_GETARG_INT64(0);
	int64		is = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);

	PG_RETURN_BOOL(is < 1 || is < was || is > rf_max_fence);
}

/*
 * AFTER UPDATE, for each row whose fence is wrong: the trigger's WHEN has
 * found that.  Argument: fence column.
 */
Datum
ringfence_column_seal(PG_FUNCTION_ARGS)
{
	TriggerData *call = rf_trigger_call(fcinfo, RF_AFTER_ROW, RF_ON_UPDATE,
										1);
	Relation	rel = call->tg_relation;
	AttrNumber	attnum;
	RfFence		old;
	RfFence		new;

	attnum = rf_fence_column(rel, call->tg_trigger->tgargs[0]);
	if (attnum == InvalidAttrNumber)
		return PointerGetDatum(NULL);
	old = rf_fence_of(rel, attnum, call->tg_trigtuple);
	new = rf_fence_of(rel, attnum, call->tg_newtuple);
	if (rf_is_replica())
		check_replicated_row(rel, attnum, old, new);

	/*
	 * A cascade leaves the fence alone, and the row may have had none yet: it
	 * did not go back.
	 */
	else if (rf_names_column(call, attnum) || old.isnull != new.isnull ||
			 old.value != new.value)
		check_row(rel, attnum, old, new);
	return PointerGetDatum(NULL);
}
