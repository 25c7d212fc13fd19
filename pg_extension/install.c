/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * install.c
 *		Puts what protects a table in place, and takes it away: triggers, and
 *		for some a CHECK.
 *
 * By SQL statements, so that the server's own rules about triggers hold:
 * clones on partitions, dependencies, locks.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "claim_check.h"
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

static bool
has_partitions(const RfProtection *protection)
{
	return get_rel_relkind(protection->relid) == RELKIND_PARTITIONED_TABLE;
}

/*
 * TimescaleDB inserts nothing into a chunk that has a trigger for INSERT
 * statements: there, those that judge rows are on their own.
 */
static bool
belongs(const RfProtection *protection, const RfWanted *wanted, Oid relid)
{
	return relid == protection->relid || has_partitions(protection) ||
		strcmp(wanted->name, RF_TRIGGER_RESOURCE) != 0;
}

/* The server keeps a partition's clones like the trigger of the root. */
static bool
is_right_everywhere(const RfProtection *protection, const RfWanted *wanted)
{
	ListCell   *cell;

	if (has_partitions(protection))
		return is_right(protection->relid, wanted);
	foreach(cell, protection->tables)
		if (belongs(protection, wanted, lfirst_oid(cell)) &&
			!is_right(lfirst_oid(cell), wanted))
			return false;
	return true;
}

static void
make_anew(Oid relid, const RfWanted *wanted)
{
	want_none(relid, wanted->name);
	execute(rf_wanted_sql(wanted, relid));
}

static void
want_on_each(const RfProtection *protection, const RfWanted *wanted)
{
	ListCell   *cell;

	foreach(cell, protection->tables)
		if (belongs(protection, wanted, lfirst_oid(cell)) &&
			!is_right(lfirst_oid(cell), wanted))
			make_anew(lfirst_oid(cell), wanted);
}

/* ---- The CHECK ---------------------------------------------------------- */

static bool
has_check(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		found = rf_claim_check_exists(rel);

	table_close(rel, NoLock);
	return found;
}

static bool
check_is_right(const RfProtection *protection)
{
	Relation	rel = table_open(protection->relid, NoLock);
	bool		right = rf_claim_check_is_right(rel, protection->resource);

	table_close(rel, NoLock);
	return right;
}

static void
want_no_check(Oid relid)
{
	if (has_check(relid))
		execute(rf_claim_check_drop(relid));
}

static void
want_check(const RfProtection *protection)
{
	if (check_is_right(protection))
		return;
	want_no_check(protection->relid);
	execute(rf_claim_check_add(protection->relid, protection->resource));
}

/* ---- All of them -------------------------------------------------------- */

/*
 * Triggers on rows are cloned to partitions by the server, and to a
 * hypertable's chunks by TimescaleDB; those on statements are not: each table
 * needs its own.
 */
static void
want_all(const RfProtection *protection)
{
	ListCell   *cell;

	foreach(cell, rf_wanted_triggers(protection))
	{
		const RfWanted *wanted = lfirst(cell);

		if (wanted->everywhere)
			want_on_each(protection, wanted);
		else if (!is_right_everywhere(protection, wanted))
			make_anew(protection->relid, wanted);
	}
}

static bool
is_wanted(const RfProtection *protection, const char *name)
{
	ListCell   *cell;

	foreach(cell, rf_wanted_triggers(protection))
		if (strcmp(((const RfWanted *) lfirst(cell))->name, name) == 0)
			return true;
	return false;
}

/* What another kind of protection has, or one of a key that is gone. */
static void
clear_others(const RfProtection *protection)
{
	ListCell   *cell;
	int			k;

	for (k = 0; k < lengthof(trigger_names); k++)
	{
		if (is_wanted(protection, trigger_names[k]))
			continue;
		foreach(cell, protection->tables)
			want_none(lfirst_oid(cell), trigger_names[k]);
	}
	if (rf_wants_claim_check(protection))
		return;
	foreach(cell, protection->tables)
		want_no_check(lfirst_oid(cell));
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

/*
 * Only after the table is closed: the server refuses to alter one in use.  A
 * chunk can't be altered by itself, but is altered with its hypertable.
 */
static void
switch_on(const RfProtection *protection, Oid relid)
{
	bool		alone = has_partitions(protection);
	ListCell   *cell;

	foreach(cell, find_switched_off(relid))
		execute(psprintf("ALTER TABLE %s%s ENABLE ALWAYS TRIGGER %s",
						 alone ? "ONLY " : "",
						 rf_qualified_name(alone ? relid : protection->relid),
						 quote_identifier(lfirst(cell))));
}

void
rf_install_protection(const RfProtection *protection)
{
	ListCell   *cell;

	clear_others(protection);
	want_all(protection);
	if (rf_wants_claim_check(protection))
		want_check(protection);
	foreach(cell, protection->tables)
		switch_on(protection, lfirst_oid(cell));
}

bool
rf_is_installed(const RfProtection *protection)
{
	ListCell   *cell;

	foreach(cell, rf_wanted_triggers(protection))
		if (!is_right_everywhere(protection, lfirst(cell)))
			return false;
	return !rf_wants_claim_check(protection) || check_is_right(protection);
}

void
rf_remove_protection(List *tables)
{
	ListCell   *cell;
	int			k;

	foreach(cell, tables)
	{
		for (k = 0; k < lengthof(trigger_names); k++)
			want_none(lfirst_oid(cell), trigger_names[k]);
		want_no_check(lfirst_oid(cell));
	}
}
