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
#include "utils/builtins.h"
#include "utils/rel.h"

#include "install.h"
#include "protection.h"

static const char *const trigger_names[] = {
	RF_TRIGGER_COLUMN, RF_TRIGGER_DELETE, RF_TRIGGER_KEY, RF_TRIGGER_SEAL,
	RF_TRIGGER_RESOURCE, RF_TRIGGER_INSERT, RF_TRIGGER_UPDATE,
	RF_TRIGGER_TRUNCATE
};

static void
execute(const char *sql)
{
	if (SPI_execute(sql, false, 0) < 0)
		elog(ERROR, "could not execute: %s", sql);
	CommandCounterIncrement();
}

/* ---- One trigger -------------------------------------------------------- */

static bool
is_there(Oid relid, const char *name)
{
	Relation	rel = table_open(relid, NoLock);
	bool		found = rf_find_trigger(rel, name) != NULL;

	table_close(rel, NoLock);
	return found;
}

static bool
is_right(Oid relid, const RfWanted *wanted)
{
	Relation	rel = table_open(relid, NoLock);
	const Trigger *trigger = rf_find_trigger(rel, wanted->name);
	bool		right = trigger != NULL && rf_wanted_is(wanted, rel, trigger);

	table_close(rel, NoLock);
	return right;
}

static void
want_none(Oid relid, const char *name)
{
	if (is_there(relid, name))
		execute(psprintf("DROP TRIGGER %s ON %s", quote_identifier(name),
						 rf_qualified_name(relid)));
}

static void
want(Oid relid, const RfWanted *wanted)
{
	if (is_right(relid, wanted))
		return;
	want_none(relid, wanted->name);
	execute(rf_wanted_sql(wanted, relid));
}

/* ---- All of them -------------------------------------------------------- */

/*
 * Triggers on rows are cloned to partitions by the server, those on statements
 * are not: each table needs its own.
 */
static void
want_all(const RfProtection *protection)
{
	ListCell   *cell;
	ListCell   *table;

	foreach(cell, rf_wanted_triggers(protection))
	{
		const RfWanted *wanted = lfirst(cell);

		if (wanted->everywhere)
			foreach(table, protection->tables)
				want(lfirst_oid(table), wanted);
		else
			want(protection->relid, wanted);
	}
}

/*
 * Another kind of protection has triggers of the same names: clear them.  And
 * a key that is gone has none.
 */
static void
clear_others(const RfProtection *protection)
{
	Oid			relid = protection->relid;
	bool		resource = protection->resource != NULL;

	if (is_there(relid, RF_TRIGGER_RESOURCE) != resource ||
		is_there(relid, RF_TRIGGER_COLUMN) == resource)
		rf_remove_triggers(protection->tables);
	if (protection->keys == NIL)
		want_none(relid, RF_TRIGGER_KEY);
}

/* ---- Switched on, whatever the session replicates ----------------------- */

/* Ours that do not fire always; the list is of names. */
static List *
find_switched_off(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	List	   *names = NIL;
	int			k;

	for (k = 0; k < lengthof(trigger_names); k++)
	{
		const Trigger *trigger = rf_find_trigger(rel, trigger_names[k]);

		if (trigger != NULL && trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
			names = lappend(names, (char *) trigger_names[k]);
	}
	table_close(rel, NoLock);
	return names;
}

/* Only after the table is closed: the server refuses to alter one in use. */
static void
switch_on(Oid relid)
{
	ListCell   *cell;

	foreach(cell, find_switched_off(relid))
		execute(psprintf("ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %s",
						 rf_qualified_name(relid),
						 quote_identifier(lfirst(cell))));
}

void
rf_install_triggers(const RfProtection *protection)
{
	ListCell   *cell;

	clear_others(protection);
	want_all(protection);
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
