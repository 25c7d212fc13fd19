/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wanted.h
 *		What a protection consists of: triggers, and sometimes a CHECK.
 */
#ifndef RF_WANTED_H
#define RF_WANTED_H

#include "postgres.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

typedef struct RfProtection
{
	Oid			relid;
	bool		partitioned;
	List	   *tables;			/* relid first, then all partitions */
	List	   *keys;			/* names of key columns that must not change */
	const char *fence;			/* column, or NULL */
	const char *resource;		/* template, which can be read, or NULL */
	const char *mode;
} RfProtection;

/* A trigger as it should be, in the parts of CREATE TRIGGER. */
typedef struct RfWanted
{
	const char *name;
	const char *kind;			/* TRIGGER or CONSTRAINT TRIGGER */
	const char *event;			/* up to ON */
	const char *level;			/* after the table */
	const char *function;
	List	   *args;			/* texts */
	bool		everywhere;		/* each partition needs its own */
} RfWanted;

/* All of them, a list of RfWanted. */
extern List *rf_wanted_triggers(const RfProtection *protection);

/*
 * Does a CHECK (claim_check.h) judge the new rows, in place of triggers?  Where
 * all are of one resource, and no fence of theirs has to be compared.
 */
extern bool rf_wants_claim_check(const RfProtection *protection);

/* The statement that creates it on that table. */
extern char *rf_wanted_sql(const RfWanted *wanted, Oid relid);

/*
 * Is the table's trigger the one that is wanted, to its WHEN?  The columns
 * that the protection names must be there, with types that they may have.
 */
extern bool rf_wanted_is(const RfWanted *wanted, Relation rel,
						 const Trigger *trigger);

/* The table's trigger of that name, or NULL.  It lasts as long as rel is open. */
extern const Trigger *rf_find_trigger(Relation rel, const char *name);

/* Schema and name, as SQL takes them. */
extern char *rf_qualified_name(Oid relid);

#endif							/* RF_WANTED_H */
