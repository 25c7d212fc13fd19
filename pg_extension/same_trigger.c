/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * same_trigger.c
 *		Is a trigger that is there the one that is wanted?
 *
 * What is wanted is read by the server's own parser, and compared with what
 * the server has kept: nothing here depends on how a version prints a trigger.
 */
#include "postgres.h"

#include "catalog/pg_trigger.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_clause.h"
#include "parser/parse_collate.h"
#include "parser/parse_relation.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"

#include "column.h"
#include "compat.h"
#include "protection.h"
#include "wanted.h"

const Trigger *
rf_find_trigger(Relation rel, const char *name)
{
	TriggerDesc *all = rel->trigdesc;
	int			i;

	for (i = 0; all != NULL && i < all->numtriggers; i++)
		if (strcmp(all->triggers[i].tgname, name) == 0)
			return &all->triggers[i];
	return NULL;
}

static bool
same_function(const Trigger *trigger, const char *function)
{
	char	   *name = get_func_name(trigger->tgfoid);
	Oid			schema = get_func_namespace(trigger->tgfoid);

	return name != NULL && strcmp(name, function) == 0 &&
		strcmp(get_namespace_name(schema), RF_SCHEMA) == 0;
}

static bool
same_args(const Trigger *trigger, List *args)
{
	int			i;

	if (trigger->tgnargs != list_length(args))
		return false;
	for (i = 0; i < trigger->tgnargs; i++)
		if (strcmp(trigger->tgargs[i], list_nth(args, i)) != 0)
			return false;
	return true;
}

/* Before or after, row or statement, which events, at once or later. */
static bool
same_time(const Trigger *trigger, const CreateTrigStmt *stmt)
{
	int			type = (stmt->row ? TRIGGER_TYPE_ROW : 0) | stmt->timing |
		stmt->events;

	return trigger->tgtype == type &&
		OidIsValid(trigger->tgconstraint) == stmt->isconstraint &&
		trigger->tgdeferrable == stmt->deferrable &&
		trigger->tginitdeferred == stmt->initdeferred &&
		trigger->tgoldtable == NULL && trigger->tgnewtable == NULL;
}

static bool
same_columns(Relation rel, const Trigger *trigger, List *columns)
{
	int			i;

	if (trigger->tgnattr != list_length(columns))
		return false;
	for (i = 0; i < trigger->tgnattr; i++)
		if (rf_column_number(RelationGetDescr(rel),
							 strVal(list_nth(columns, i))) !=
			trigger->tgattr[i])
			return false;
	return true;
}

static void
add_row(ParseState *pstate, Relation rel, const char *name)
{
	ParseNamespaceItem *item;

	item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock,
										 makeAlias(name, NIL), false, false);
	addNSItemToQuery(pstate, item, false, true, true);
}

/* As CREATE TRIGGER does. */
static Node *
analyze_when(Relation rel, Node *when)
{
	ParseState *pstate = make_parsestate(NULL);

	add_row(pstate, rel, "old");
	add_row(pstate, rel, "new");
	when = transformWhereClause(pstate, when, EXPR_KIND_TRIGGER_WHEN, "WHEN");
	assign_expr_collations(pstate, when);
	free_parsestate(pstate);
	return when;
}

static bool
same_when(Relation rel, const Trigger *trigger, Node *when)
{
	if (when == NULL || trigger->tgqual == NULL)
		return when == NULL && trigger->tgqual == NULL;
	return equal(analyze_when(rel, when), stringToNode(trigger->tgqual));
}

bool
rf_wanted_is(const RfWanted *wanted, Relation rel, const Trigger *trigger)
{
	List	   *parsed = pg_parse_query(rf_wanted_sql(wanted,
													  RelationGetRelid(rel)));
	CreateTrigStmt *stmt = castNode(CreateTrigStmt,
									linitial_node(RawStmt, parsed)->stmt);

	return same_function(trigger, wanted->function) &&
		same_args(trigger, wanted->args) && same_time(trigger, stmt) &&
		same_columns(rel, trigger, stmt->columns) &&
		same_when(rel, trigger, stmt->whenClause);
}
