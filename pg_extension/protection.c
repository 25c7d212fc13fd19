/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * protection.c
 *		Reads the record of what should be protected.
 *
 * Only asked when a write is about to be refused: the triggers carry in their
 * arguments all that they need to judge a write.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "protection.h"

/* Columns of ringfence.protection. */
#define ANUM_TABLE_SCHEMA	1
#define ANUM_TABLE_NAME		2
#define ANUM_MODE			7

char *
rf_table_name(Relation rel)
{
	return psprintf("%s.%s", get_namespace_name(RelationGetNamespace(rel)),
					RelationGetRelationName(rel));
}

Oid
rf_root_table(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			root;

	if (!rel->rd_rel->relispartition && !has_superclass(relid))
		return relid;
	root = llast_oid(get_partition_ancestors(relid));

	/* A child that is no partition may be on its own. */
	return rel->rd_rel->relispartition || rf_protection_exists(root) ?
		root : relid;
}

/* The column "mode" of the record's row about the table, or NULL. */
static char *
read_mode(Relation record, const char *schema, const char *table)
{
	ScanKeyData key[2];
	NameData	names[2];
	Snapshot	snapshot;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *mode = NULL;

	namestrcpy(&names[0], schema);
	namestrcpy(&names[1], table);
	ScanKeyInit(&key[0], ANUM_TABLE_SCHEMA, BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(&names[0]));
	ScanKeyInit(&key[1], ANUM_TABLE_NAME, BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(&names[1]));

	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = systable_beginscan(record, rf_primary_key(record), true,
							  snapshot, 2, key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, ANUM_MODE,
										 RelationGetDescr(record), &isnull);

		if (!isnull)
			mode = TextDatumGetCString(value);
	}
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return mode;
}

/* Without a record there is nobody who asked for anything. */
static char *
find_mode(Oid relid)
{
	Oid			schema = get_namespace_oid(RF_SCHEMA, true);
	Oid			recordid = OidIsValid(schema) ?
		get_relname_relid("protection", schema) : InvalidOid;
	Relation	record;
	char	   *mode;

	if (!OidIsValid(recordid))
		return NULL;
	record = table_open(recordid, AccessShareLock);
	mode = read_mode(record, get_namespace_name(get_rel_namespace(relid)),
					 get_rel_name(relid));
	table_close(record, AccessShareLock);
	return mode;
}

bool
rf_protection_exists(Oid relid)
{
	return find_mode(relid) != NULL;
}

bool
rf_protection_observes(Oid relid)
{
	char	   *mode = find_mode(relid);

	return mode != NULL && strcmp(mode, "observe") == 0;
}
