/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * right_trigger.c
 *		trigger_is_right(): part of audit().
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "column.h"
#include "compat.h"
#include "template.h"
#include "wanted.h"

PG_FUNCTION_INFO_V1(ringfence_trigger_is_right);

static List *
read_keys(ArrayType *array)
{
	Datum	   *names;
	bool	   *nulls;
	int			n;
	int			i;
	List	   *keys = NIL;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, &nulls, &n);
	for (i = 0; i < n; i++)
		if (!nulls[i])
			keys = lappend(keys, NameStr(*DatumGetName(names[i])));
	return keys;
}

/* From a row of the view.  False when it names no table. */
static bool
read_protection(HeapTupleHeader row, RfProtection *protection)
{
	bool		isnull;
	Datum		value;

	memset(protection, 0, sizeof(*protection));
	value = GetAttributeByName(row, "relid", &isnull);
	if (isnull)
		return false;
	protection->relid = DatumGetObjectId(value);
	value = GetAttributeByName(row, "each_row", &isnull);
	protection->partitioned = !isnull && DatumGetBool(value);
	value = GetAttributeByName(row, "fence", &isnull);
	if (!isnull)
		protection->fence = NameStr(*DatumGetName(value));
	value = GetAttributeByName(row, "resource", &isnull);
	if (!isnull)
		protection->resource = TextDatumGetCString(value);
	value = GetAttributeByName(row, "keys", &isnull);
	if (!isnull)
		protection->keys = read_keys(DatumGetArrayTypeP(value));
	return true;
}

/* Where a column has changed there is nothing to compare with. */
static bool
can_be_had(Relation rel, const RfProtection *protection)
{
	char	   *problem = NULL;
	RfTemplate *template;
	ListCell   *cell;

	if (protection->fence == NULL && protection->resource == NULL)
		return false;
	if (protection->fence != NULL &&
		rf_column_problem(rel, protection->fence) != NULL)
		return false;
	foreach(cell, protection->keys)
		if (rf_column_number(RelationGetDescr(rel), lfirst(cell)) ==
			InvalidAttrNumber)
			return false;
	if (protection->resource == NULL)
		return true;
	template = rf_template_parse(protection->resource, &problem);
	return template != NULL &&
		rf_template_bind(template, rel, CurrentMemoryContext) == NULL;
}

static const RfWanted *
find_wanted(const RfProtection *protection, const char *name)
{
	ListCell   *cell;

	foreach(cell, rf_wanted_triggers(protection))
	{
		const RfWanted *wanted = lfirst(cell);

		if (strcmp(wanted->name, name) == 0)
			return wanted;
	}
	return NULL;
}

/*
 * trigger_is_right(row of the view wanted_trigger)
 *		NULL: there is none, none is wanted, or it can't be told.
 */
Datum
ringfence_trigger_is_right(PG_FUNCTION_ARGS)
{
	HeapTupleHeader row = PG_ARGISNULL(0) ? NULL :
		PG_GETARG_HEAPTUPLEHEADER(0);
	RfProtection protection;
	Relation	rel;
	Datum		name;
	bool		no_name;
	const Trigger *trigger = NULL;
	const RfWanted *wanted = NULL;
	bool		is_right = false;

	if (row == NULL || !read_protection(row, &protection))
		PG_RETURN_NULL();
	rel = try_relation_open(protection.relid, AccessShareLock);
	if (rel == NULL)
		PG_RETURN_NULL();
	name = GetAttributeByName(row, "name", &no_name);
	if (!no_name)
		trigger = rf_find_trigger(rel, TextDatumGetCString(name));
	if (trigger != NULL && can_be_had(rel, &protection))
		wanted = find_wanted(&protection, trigger->tgname);
	if (wanted != NULL)
		is_right = rf_wanted_is(wanted, rel, trigger);
	relation_close(rel, AccessShareLock);
	if (wanted == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(is_right);
}
