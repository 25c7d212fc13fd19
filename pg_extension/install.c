/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * install.c
 *		Puts the triggers that protect a table in place, and takes them away.
 *
 * By SQL statements, so that the server's own rules about triggers hold:
 * clones on partitions, dependencies, locks.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "install.h"
#include "protection.h"
#include "template.h"

static const char *const trigger_names[] = {
	RF_TRIGGER_COLUMN, RF_TRIGGER_DELETE, RF_TRIGGER_KEY, RF_TRIGGER_SEAL,
	RF_TRIGGER_RESOURCE, RF_TRIGGER_INSERT, RF_TRIGGER_UPDATE,
	RF_TRIGGER_TRUNCATE
};

/* A trigger as it should be. */
typedef struct Wanted
{
	const char *name;
	const char *kind;			/* TRIGGER or CONSTRAINT TRIGGER */
	const char *event;			/* up to ON */
	const char *level;			/* after the table */
	const char *function;
	List	   *args;			/* texts */
} Wanted;

void
rf_execute(const char *sql)
{
	if (SPI_execute(sql, false, 0) < 0)
		elog(ERROR, "could not execute: %s", sql);
}

static char *
qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/* ---- What is there ------------------------------------------------------ */

static bool
has_args(const Trigger *trigger, List *args)
{
	int			i;

	if (trigger->tgnargs != list_length(args))
		return false;
	for (i = 0; i < trigger->tgnargs; i++)
		if (strcmp(trigger->tgargs[i], list_nth(args, i)) != 0)
			return false;
	return true;
}

/*
 * Is a trigger of that name there, and is it the one that is wanted?  Without
 * a wanted one, only the first is asked.
 */
static bool
is_there(Oid relid, const char *name, const Wanted *wanted)
{
	Relation	rel = table_open(relid, NoLock);
	TriggerDesc *all = rel->trigdesc;
	bool		found = false;
	int			i;

	for (i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *one = &all->triggers[i];

		if (strcmp(one->tgname, name) != 0)
			continue;
		found = wanted == NULL ||
			(strcmp(get_func_name(one->tgfoid), wanted->function) == 0 &&
			 has_args(one, wanted->args));
	}
	table_close(rel, NoLock);
	return found;
}

/* ---- One trigger -------------------------------------------------------- */

static void
drop_trigger(Oid relid, const char *name)
{
	rf_execute(psprintf("DROP TRIGGER %s ON %s", quote_identifier(name),
						qualified_name(relid)));
	CommandCounterIncrement();
}

static void
create_trigger(Oid relid, const Wanted *wanted)
{
	StringInfoData sql;
	ListCell   *cell;
	const char *comma = "";

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %s %s %s ON %s %s EXECUTE FUNCTION "
					 RF_SCHEMA ".%s(", wanted->kind,
					 quote_identifier(wanted->name), wanted->event,
					 qualified_name(relid), wanted->level, wanted->function);
	foreach(cell, wanted->args)
	{
		appendStringInfo(&sql, "%s%s", comma,
						 quote_literal_cstr((char *) lfirst(cell)));
		comma = ", ";
	}
	appendStringInfoChar(&sql, ')');
	rf_execute(sql.data);
	CommandCounterIncrement();
}

static void
want(Oid relid, const Wanted *wanted)
{
	if (is_there(relid, wanted->name, wanted))
		return;
	if (is_there(relid, wanted->name, NULL))
		drop_trigger(relid, wanted->name);
	create_trigger(relid, wanted);
}

static void
want_none(Oid relid, const char *name)
{
	if (is_there(relid, name, NULL))
		drop_trigger(relid, name);
}

/* ---- The triggers of a protection --------------------------------------- */

static void
want_statement(const RfProtection *protection)
{
	Wanted		wanted = {
		RF_TRIGGER_COLUMN, "TRIGGER", "BEFORE UPDATE", "FOR EACH STATEMENT",
		"column_statement", NIL
	};

	wanted.args = list_make1((char *) protection->fence);
	want(protection->relid, &wanted);
}

static void
want_row(const RfProtection *protection)
{
	Wanted		wanted = {
		RF_TRIGGER_COLUMN, "TRIGGER", "BEFORE UPDATE OR DELETE",
		"FOR EACH ROW", "column_row", NIL
	};

	wanted.args = lcons((char *) protection->fence,
						list_copy(protection->keys));
	want(protection->relid, &wanted);
}

static void
want_delete(const RfProtection *protection)
{
	Wanted		wanted = {
		RF_TRIGGER_DELETE, "TRIGGER", "BEFORE DELETE", "FOR EACH ROW",
		"column_row", NIL
	};

	wanted.args = list_make1((char *) protection->fence);
	want(protection->relid, &wanted);
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
static void
want_key(const RfProtection *protection)
{
	Wanted		wanted = {
		RF_TRIGGER_KEY, "CONSTRAINT TRIGGER", NULL,
		"NOT DEFERRABLE FOR EACH ROW", "column_key", NIL
	};

	if (protection->keys == NIL)
	{
		want_none(protection->relid, RF_TRIGGER_KEY);
		return;
	}
	wanted.event = psprintf("AFTER UPDATE OF %s",
							quoted_list(protection->keys));
	wanted.args = protection->keys;
	want(protection->relid, &wanted);
}

/* The number is the default of ringfence.max_fence: 2^53 - 1. */
static void
want_seal(const RfProtection *protection)
{
	const char *fence = quote_identifier(protection->fence);
	Wanted		wanted = {
		RF_TRIGGER_SEAL, "CONSTRAINT TRIGGER", "AFTER UPDATE", NULL,
		"column_seal", NIL
	};

	wanted.level =
		psprintf("NOT DEFERRABLE FOR EACH ROW WHEN (NEW.%s IS NULL"
				 " OR NEW.%s OPERATOR(pg_catalog.<) OLD.%s"
				 " OR NEW.%s OPERATOR(pg_catalog.<) 1::pg_catalog.int8"
				 " OR NEW.%s OPERATOR(pg_catalog.>)"
				 " 9007199254740991::pg_catalog.int8)",
				 fence, fence, fence, fence, fence);
	wanted.args = list_make1((char *) protection->fence);
	want(protection->relid, &wanted);
}

/* ---- Those of a resource ------------------------------------------------ */

static List *
resource_args(const RfProtection *protection)
{
	const char *fence = protection->fence ? protection->fence : "";

	return list_make2((char *) protection->resource, (char *) fence);
}

static void
want_resource_statement(const RfProtection *protection, Oid relid)
{
	Wanted		wanted = {
		RF_TRIGGER_RESOURCE, "TRIGGER", "BEFORE INSERT OR UPDATE OR DELETE",
		"FOR EACH STATEMENT", "resource_statement", NIL
	};

	wanted.args = resource_args(protection);
	want(relid, &wanted);
}

/* The claim on the resource of a row, which is NEW or OLD. */
static char *
claim_of(const RfProtection *protection, const char *row)
{
	char	   *problem;
	RfTemplate *template = rf_template_parse(protection->resource, &problem);
	StringInfoData sql;
	int			i;

	initStringInfo(&sql);
	appendStringInfo(&sql, RF_SCHEMA ".claimed(%s",
					 quote_literal_cstr(protection->resource));
	for (i = 0; i < template->ncolumns; i++)
		appendStringInfo(&sql, ", %s.%s", row,
						 quote_identifier(template->columns[i].name));
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/* True for a row as it must not become. */
static char *
wrong_new(const RfProtection *protection)
{
	char	   *claim = claim_of(protection, "NEW");
	const char *fence;

	if (protection->fence == NULL)
		return psprintf("%s OPERATOR(pg_catalog.=) 0::pg_catalog.int8", claim);
	fence = quote_identifier(protection->fence);
	return psprintf("NEW.%s IS NULL OR NEW.%s OPERATOR(pg_catalog.<)"
					" 1::pg_catalog.int8 OR NEW.%s OPERATOR(pg_catalog.<>) %s",
					fence, fence, fence, claim);
}

/* True for a row that must not be replaced or deleted. */
static char *
wrong_old(const RfProtection *protection)
{
	char	   *claim = claim_of(protection, "OLD");

	if (protection->fence == NULL)
		return psprintf("%s OPERATOR(pg_catalog.=) 0::pg_catalog.int8", claim);

	/* A claim is 1 or more; a row without a fence needs one as well. */
	return psprintf("GREATEST(OLD.%s, 1::pg_catalog.int8)"
					" OPERATOR(pg_catalog.>) %s",
					quote_identifier(protection->fence), claim);
}

static void
want_resource_row(const RfProtection *protection, const char *name,
				  const char *event, const char *wrong)
{
	Wanted		wanted = {
		NULL, "CONSTRAINT TRIGGER", NULL, NULL, "resource_row", NIL
	};

	wanted.name = name;
	wanted.event = event;
	wanted.level = psprintf("NOT DEFERRABLE FOR EACH ROW WHEN (%s)", wrong);
	wanted.args = resource_args(protection);
	want(protection->relid, &wanted);
}

static void
want_resource(const RfProtection *protection)
{
	char	   *wrong_row = wrong_new(protection);
	char	   *wrong_before = wrong_old(protection);

	want_resource_row(protection, RF_TRIGGER_INSERT, "AFTER INSERT",
					  wrong_row);
	want_resource_row(protection, RF_TRIGGER_UPDATE, "AFTER UPDATE",
					  psprintf("%s OR %s", wrong_before, wrong_row));
	want_resource_row(protection, RF_TRIGGER_DELETE, "AFTER DELETE",
					  wrong_before);
}

static void
want_truncate(const RfProtection *protection, Oid relid)
{
	Wanted		wanted = {
		RF_TRIGGER_TRUNCATE, "TRIGGER", "BEFORE TRUNCATE",
		"FOR EACH STATEMENT", "truncate_statement", NIL
	};
	const char *resource = protection->resource ? protection->resource : "";

	wanted.args = list_make1((char *) resource);
	want(relid, &wanted);
}

/*
 * Triggers on rows are cloned to partitions by the server, those on statements
 * are not: each table needs its own.
 */
static void
want_on_every_table(const RfProtection *protection)
{
	ListCell   *cell;

	foreach(cell, protection->tables)
	{
		if (protection->resource != NULL)
			want_resource_statement(protection, lfirst_oid(cell));
		want_truncate(protection, lfirst_oid(cell));
	}
}

static bool
needs_row_trigger(const RfProtection *protection)
{
	/* Before 14 the plan doesn't tell which columns each part names. */
	return protection->partitioned || PG_VERSION_NUM < 140000;
}

static void
want_column_only(const RfProtection *protection)
{
	want_seal(protection);
	if (needs_row_trigger(protection))
	{
		want_row(protection);
		return;
	}
	want_statement(protection);
	want_delete(protection);
	want_key(protection);
}

/* Another kind of protection has triggers of the same names: clear them. */
static void
clear_other_kind(const RfProtection *protection)
{
	Oid			relid = protection->relid;
	bool		resource = protection->resource != NULL;

	if (is_there(relid, RF_TRIGGER_RESOURCE, NULL) != resource ||
		is_there(relid, RF_TRIGGER_COLUMN, NULL) == resource)
		rf_remove_triggers(protection->tables);
}

/* ---- Switched on, whatever the session replicates ----------------------- */

/* Ours that do not fire always; the list is of names. */
static List *
find_switched_off(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	TriggerDesc *all = rel->trigdesc;
	List	   *names = NIL;
	int			i;
	int			k;

	for (i = 0; all != NULL && i < all->numtriggers; i++)
		for (k = 0; k < lengthof(trigger_names); k++)
			if (strcmp(all->triggers[i].tgname, trigger_names[k]) == 0 &&
				all->triggers[i].tgenabled != TRIGGER_FIRES_ALWAYS)
				names = lappend(names, (char *) trigger_names[k]);
	table_close(rel, NoLock);
	return names;
}

/* Only after the table is closed: the server refuses to alter one in use. */
static void
switch_on(Oid relid)
{
	List	   *names = find_switched_off(relid);
	ListCell   *cell;

	foreach(cell, names)
	{
		rf_execute(psprintf("ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %s",
							qualified_name(relid),
							quote_identifier(lfirst(cell))));
		CommandCounterIncrement();
	}
}

void
rf_install_triggers(const RfProtection *protection)
{
	ListCell   *cell;

	clear_other_kind(protection);
	if (protection->resource != NULL)
		want_resource(protection);
	else
		want_column_only(protection);
	want_on_every_table(protection);
	foreach(cell, protection->tables)
		switch_on(lfirst_oid(cell));
}

void
rf_remove_triggers(List *tables)
{
	ListCell   *cell;
	int			k;

	foreach(cell, tables)
		for (k = 0; k < lengthof(trigger_names); k++)
			want_none(lfirst_oid(cell), trigger_names[k]);
}
