/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wanted.c
 *		The triggers that a protection consists of.
 *
 * As SQL, so that the server's own rules about triggers hold.  What is there
 * is compared with the same SQL, by same_trigger.c.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "protection.h"
#include "template.h"
#include "wanted.h"
#include "whole.h"

char *
rf_qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

char *
rf_wanted_sql(const RfWanted *wanted, Oid relid)
{
	StringInfoData sql;
	ListCell   *cell;
	const char *comma = "";

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %s %s %s ON %s %s EXECUTE FUNCTION "
					 RF_SCHEMA ".%s(", wanted->kind,
					 quote_identifier(wanted->name), wanted->event,
					 rf_qualified_name(relid), wanted->level,
					 wanted->function);
	foreach(cell, wanted->args)
	{
		appendStringInfo(&sql, "%s%s", comma,
						 quote_literal_cstr((char *) lfirst(cell)));
		comma = ", ";
	}
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

static List *
add(List *all, const RfWanted *wanted)
{
	RfWanted   *copy = palloc(sizeof(RfWanted));

	*copy = *wanted;
	return lappend(all, copy);
}

/* ---- Those of a fence column -------------------------------------------- */

static List *
want_statement(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_COLUMN, "TRIGGER", "BEFORE UPDATE", "FOR EACH STATEMENT",
		"column_statement", NIL, false
	};

	wanted.args = list_make1((char *) protection->fence);
	return add(all, &wanted);
}

static List *
want_row(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_COLUMN, "TRIGGER", "BEFORE UPDATE OR DELETE",
		"FOR EACH ROW", "column_row", NIL, false
	};

	wanted.args = lcons((char *) protection->fence,
						list_copy(protection->keys));
	return add(all, &wanted);
}

static List *
want_delete(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_DELETE, "TRIGGER", "BEFORE DELETE", "FOR EACH ROW",
		"column_row", NIL, false
	};

	wanted.args = list_make1((char *) protection->fence);
	return add(all, &wanted);
}

static char *
quoted_list(List *names)
{
	StringInfoData list;
	ListCell   *cell;

	initStringInfo(&list);
	foreach(cell, names)
		appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ",
						 quote_identifier(lfirst(cell)));
	return list.data;
}

/* The names are arguments only so that a change of the key is noticed. */
static List *
want_key(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_KEY, "CONSTRAINT TRIGGER", NULL,
		"NOT DEFERRABLE FOR EACH ROW", "column_key", NIL, false
	};

	if (protection->keys == NIL)
		return all;
	wanted.event = psprintf("AFTER UPDATE OF %s",
							quoted_list(protection->keys));
	wanted.args = protection->keys;
	return add(all, &wanted);
}

static List *
want_seal(List *all, const RfProtection *protection)
{
	const char *fence = quote_identifier(protection->fence);
	RfWanted	wanted = {
		RF_TRIGGER_SEAL, "CONSTRAINT TRIGGER", "AFTER UPDATE", NULL,
		"column_seal", NIL, false
	};

	wanted.level = psprintf("NOT DEFERRABLE FOR EACH ROW WHEN ("
							RF_SCHEMA ".lowered(OLD.%s, NEW.%s))",
							fence, fence);
	wanted.args = list_make1((char *) protection->fence);
	return add(all, &wanted);
}

/* On partitions rows move, which their statement does not show. */
static bool
needs_row_trigger(const RfProtection *protection)
{
	return protection->partitioned || !RF_PLAN_TELLS_COLUMNS;
}

bool
rf_wants_claim_check(const RfProtection *protection)
{
	return protection->resource != NULL && protection->fence == NULL &&
		!needs_row_trigger(protection) &&
		rf_whole_resource(protection->resource) != NULL;
}

static List *
want_column(List *all, const RfProtection *protection)
{
	all = want_seal(all, protection);
	if (needs_row_trigger(protection))
		return want_row(all, protection);
	all = want_statement(all, protection);
	all = want_delete(all, protection);
	return want_key(all, protection);
}

/* ---- Those of a resource ------------------------------------------------ */

static List *
resource_args(const RfProtection *protection)
{
	const char *fence = protection->fence ? protection->fence : "";

	return list_make2((char *) protection->resource, (char *) fence);
}

static List *
want_resource_statement(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_RESOURCE, "TRIGGER", "BEFORE INSERT OR UPDATE OR DELETE",
		"FOR EACH STATEMENT", "resource_statement", NIL, true
	};

	wanted.args = resource_args(protection);
	return add(all, &wanted);
}

static void
add_fence(StringInfo sql, const RfProtection *protection, const char *row)
{
	if (protection->fence != NULL)
		appendStringInfo(sql, ", %s.%s", row,
						 quote_identifier(protection->fence));
}

static void
add_values(StringInfo sql, const RfProtection *protection, const char *row)
{
	char	   *problem;
	RfTemplate *template = rf_template_parse(protection->resource, &problem);
	int			i;

	for (i = 0; i < template->ncolumns; i++)
		appendStringInfo(sql, ", %s.%s", row,
						 quote_identifier(template->columns[i].name));
}

/* True for a row that is wrong: OLD, NEW, or (then is the second) both. */
static char *
wrong_row(const RfProtection *protection, const char *function,
		  const char *row, const char *then)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, RF_SCHEMA ".%s(%s",
					 protection->fence != NULL ? function : "unclaimed",
					 quote_literal_cstr(protection->resource));
	add_fence(&sql, protection, row);
	if (then != NULL)
		add_fence(&sql, protection, then);
	add_values(&sql, protection, row);
	if (then != NULL)
		add_values(&sql, protection, then);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

static List *
want_resource_row(List *all, const RfProtection *protection, const char *name,
				  const char *event, const char *wrong)
{
	RfWanted	wanted = {
		NULL, "CONSTRAINT TRIGGER", NULL, NULL, "resource_row", NIL, false
	};

	wanted.name = name;
	wanted.event = event;
	wanted.level = psprintf("NOT DEFERRABLE FOR EACH ROW WHEN (%s)", wrong);
	wanted.args = resource_args(protection);
	return add(all, &wanted);
}

static List *
want_new_rows(List *all, const RfProtection *protection)
{
	all = want_resource_row(all, protection, RF_TRIGGER_INSERT, "AFTER INSERT",
							wrong_row(protection, "unfenced", "NEW", NULL));
	return want_resource_row(all, protection, RF_TRIGGER_UPDATE,
							 "AFTER UPDATE",
							 wrong_row(protection, "unfenced_update", "OLD",
									   "NEW"));
}

static List *
want_resource(List *all, const RfProtection *protection)
{
	if (!rf_wants_claim_check(protection))
		all = want_new_rows(all, protection);
	all = want_resource_row(all, protection, RF_TRIGGER_DELETE, "AFTER DELETE",
							wrong_row(protection, "outdated", "OLD", NULL));
	return want_resource_statement(all, protection);
}

/* ---- All ---------------------------------------------------------------- */

static List *
want_truncate(List *all, const RfProtection *protection)
{
	RfWanted	wanted = {
		RF_TRIGGER_TRUNCATE, "TRIGGER", "BEFORE TRUNCATE",
		"FOR EACH STATEMENT", "truncate_statement", NIL, true
	};
	const char *resource = protection->resource ? protection->resource : "";

	wanted.args = list_make1((char *) resource);
	return add(all, &wanted);
}

List *
rf_wanted_triggers(const RfProtection *protection)
{
	List	   *all = protection->resource != NULL ?
		want_resource(NIL, protection) : want_column(NIL, protection);

	return want_truncate(all, protection);
}
