/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plan.c
 *		What the running statement was planned to do to a table.
 *
 * The only file that looks at plans.  It keeps a stack of the queries that
 * run, because the server offers no way from a trigger to its statement.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"

#include "compat.h"
#include "plan.h"
#include "unfenced.h"

RfRunningQuery *rf_running = NULL;

/* Of the query that ran last, only to be compared: it may be gone. */
static QueryDesc *last_run = NULL;

/*
 * What could not be judged when it was asked, because the statement had begun
 * before this library was loaded: its end is seen, and it is judged there.
 */
typedef struct LateColumn
{
	Oid			relid;
	AttrNumber	attnum;
} LateColumn;

static List *late_columns = NIL;	/* in this transaction */

/*
 * Likewise a write during a cascade.  The server's own is the outermost query
 * that bears the mark: when one that was not seen to start ends with the mark
 * after the one that wrote, what wrote was some user's.
 */
static Oid	late_cascade = InvalidOid;	/* the table */
static bool late_own_end;		/* the writer's own end is still to come */

static void check_late_columns(PlannedStmt *stmt);
static void check_late_cascade(bool system);

static ExecutorRun_hook_type prev_ExecutorRun = NULL;
static ExecutorFinish_hook_type prev_ExecutorFinish = NULL;

static void
track_run(QueryDesc *query, ScanDirection direction, uint64 count
		  RF_RUN_ONCE_DECL)
{
	RfRunningQuery here;

	here.stmt = query->plannedstmt;
	here.snapshot = query->snapshot;
	here.system = InNoForceRLSOperation();
	here.outer = rf_running;
	rf_running = &here;
	PG_TRY();
	{
		if (prev_ExecutorRun != NULL)
			prev_ExecutorRun(query, direction, count RF_RUN_ONCE);
		else
			standard_ExecutorRun(query, direction, count RF_RUN_ONCE);
	}
	PG_FINALLY();
	{
		rf_running = here.outer;
	}
	PG_END_TRY();
	last_run = query;
}

/* AFTER triggers, and the rest of data-modifying WITH parts, run here. */
static void
track_finish(QueryDesc *query)
{
	RfRunningQuery here;

	here.stmt = query->plannedstmt;
	here.snapshot = query->snapshot;
	here.system = InNoForceRLSOperation();
	here.outer = rf_running;
	if (late_columns != NIL && last_run != query && !here.system)
		check_late_columns(query->plannedstmt);
	if (OidIsValid(late_cascade) && last_run != query)
		check_late_cascade(here.system);
	rf_running = &here;
	PG_TRY();
	{
		if (prev_ExecutorFinish != NULL)
			prev_ExecutorFinish(query);
		else
			standard_ExecutorFinish(query);
	}
	PG_FINALLY();
	{
		rf_running = here.outer;
	}
	PG_END_TRY();
}

static void
forget_late(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
	{
		late_columns = NIL;
		late_cascade = InvalidOid;
	}
}

void
rf_plan_init(void)
{
	RegisterXactCallback(forget_late, NULL);
	prev_ExecutorRun = ExecutorRun_hook;
	ExecutorRun_hook = track_run;
	prev_ExecutorFinish = ExecutorFinish_hook;
	ExecutorFinish_hook = track_finish;
}

bool
rf_in_cascade(Relation rel)
{
	if (!InNoForceRLSOperation())
		return false;

	/*
	 * The mark is inherited by whatever a trigger does while the cascade
	 * runs.  Only the query that brought the mark in is the server's own:
	 * one whose surrounding query already had it is some user's code.
	 */
	if (rf_running != NULL && rf_running->outer != NULL)
		return !rf_running->outer->system;

	/* Nothing surrounds it, or nothing that was seen to start. */
	late_cascade = RelationGetRelid(rel);
	late_own_end = rf_running == NULL;
	return true;
}

static bool
merge_names_column(ModifyTable *part, int i, AttrNumber attnum)
{
	ListCell   *cell;

	foreach(cell, rf_merge_updates(part, i))
		if (!list_member_int((List *) lfirst(cell), attnum))
			return false;
	return true;
}

/* The part's i-th result table: is the column named in what updates it? */
static bool
target_names_column(ModifyTable *part, int i, AttrNumber attnum)
{
	if (!RF_PLAN_TELLS_COLUMNS)
		return true;
	switch (part->operation)
	{
		case CMD_UPDATE:
			return list_member_int(rf_update_columns(part, i), attnum);
		case CMD_INSERT:
			return part->onConflictAction != ONCONFLICT_UPDATE ||
				list_member_int(rf_conflict_columns(part), attnum);
		default:
			return merge_names_column(part, i, attnum);
	}
}

static bool
part_names_column(PlannedStmt *stmt, Plan *plan, Oid relid, AttrNumber attnum)
{
	ModifyTable *part;
	int			i;

	/* An extension may put a node of its own on top, as TimescaleDB does. */
	while (plan != NULL && IsA(plan, CustomScan) &&
		   ((CustomScan *) plan)->custom_plans != NIL)
		plan = linitial(((CustomScan *) plan)->custom_plans);
	if (plan == NULL || !IsA(plan, ModifyTable))
		return true;
	part = (ModifyTable *) plan;
	for (i = 0; i < list_length(part->resultRelations); i++)
	{
		Index		rti = list_nth_int(part->resultRelations, i);

		if (rt_fetch(rti, stmt->rtable)->relid == relid &&
			!target_names_column(part, i, attnum))
			return false;
	}
	return true;
}

/* A part that writes is the top of the plan or the top of a WITH query. */
static bool
stmt_names_column(PlannedStmt *stmt, Oid relid, AttrNumber attnum)
{
	ListCell   *cell;

	if (!part_names_column(stmt, stmt->planTree, relid, attnum))
		return false;
	foreach(cell, stmt->subplans)
	{
		if (!part_names_column(stmt, (Plan *) lfirst(cell), relid, attnum))
			return false;
	}
	return true;
}

static void
judge_later(Oid relid, AttrNumber attnum)
{
	MemoryContext before = MemoryContextSwitchTo(TopTransactionContext);
	LateColumn *late = palloc(sizeof(LateColumn));

	late->relid = relid;
	late->attnum = attnum;
	late_columns = lappend(late_columns, late);
	MemoryContextSwitchTo(before);
}

/* Before the statement's end, so that nothing of it stays. */
static void
check_late_columns(PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, late_columns)
	{
		LateColumn *late = lfirst(cell);
		Relation	rel;

		if (stmt_names_column(stmt, late->relid, late->attnum))
			continue;
		rel = table_open(late->relid, NoLock);
		rf_refuse_unnamed(rel, late->attnum);
		table_close(rel, NoLock);
	}
}

/* A query has ended that was not seen to start. */
static void
check_late_cascade(bool system)
{
	Oid			relid = late_cascade;
	Relation	rel;

	if (system && late_own_end)
	{
		late_own_end = false;
		return;
	}
	late_cascade = InvalidOid;
	if (!system)
		return;
	rel = table_open(relid, NoLock);
	rf_refuse_in_cascade(rel);
	table_close(rel, NoLock);
}

bool
rf_plan_names_column(Oid relid, AttrNumber attnum)
{
	ListCell   *cell;

	if (rf_running != NULL)
		return stmt_names_column(rf_running->stmt, relid, attnum);

	/*
	 * The statement that runs is the one that loaded this library, so its
	 * start was not seen.  The client's own statement is known all the same;
	 * should this be another one, called from there, its end will be seen.
	 */
	if (ActivePortal != NULL)
		foreach(cell, ActivePortal->stmts)
			if (!stmt_names_column(lfirst_node(PlannedStmt, cell), relid,
								   attnum))
				return false;
	judge_later(relid, attnum);
	return true;
}
