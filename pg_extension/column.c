/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * column.c
 *		The fence column of a table: where it is, and which values it takes.
 *
 * A column is looked up by its name, again for each statement: a number kept
 * for longer would point to another column in some partition.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "column.h"
#include "errcodes.h"
#include "protection.h"
#include "refusal.h"
#include "settings.h"

AttrNumber
rf_column_number(TupleDesc desc, const char *name)
{
	int			i;

	for (i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att->attnum;
	}
	return InvalidAttrNumber;
}

char *
rf_column_problem(Relation rel, const char *name)
{
	AttrNumber	attnum = rf_column_number(RelationGetDescr(rel), name);
	Form_pg_attribute att;

	if (attnum == InvalidAttrNumber)
		return psprintf("Table \"%s\" has no column \"%s\".",
						rf_table_name(rel), name);
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	if (getBaseType(att->atttypid) != INT8OID)
		return psprintf("Column \"%s\" of table \"%s\" has type %s; a fence"
						" needs bigint.", name, rf_table_name(rel),
						format_type_be(att->atttypid));

	/* Computed after the triggers have run: they would judge the old value. */
	if (att->attgenerated != '\0')
		return psprintf("Column \"%s\" of table \"%s\" is generated.", name,
						rf_table_name(rel));
	return NULL;
}

AttrNumber
rf_fence_column(Relation rel, const char *name)
{
	RfRefusal	refusal = {
		ERRCODE_RF_SETUP, RF_MSG_SETUP, NULL,
		"Nothing can be judged, so nothing is let through.  Ask"
		" ringfence.audit() how to mend it.", InvalidAttrNumber, true
	};

	refusal.detail = rf_column_problem(rel, name);
	if (refusal.detail == NULL)
		return rf_column_number(RelationGetDescr(rel), name);
	rf_refuse(rel, &refusal);
	return InvalidAttrNumber;
}

RfFence
rf_fence_of(Relation rel, AttrNumber attnum, HeapTuple tuple)
{
	RfFence		fence;
	Datum		value = heap_getattr(tuple, attnum, RelationGetDescr(rel),
									 &fence.isnull);

	fence.value = fence.isnull ? 0 : DatumGetInt64(value);
	return fence;
}

static void
refuse_fence(Relation rel, AttrNumber attnum, const char *detail)
{
	RfRefusal	refusal = {
		ERRCODE_RF_ARGUMENT, RF_MSG_ARGUMENT, NULL,
		"Write the fence of your grant, as the lock service issued it.",
		InvalidAttrNumber, false
	};

	refusal.detail = detail;
	refusal.attnum = attnum;
	rf_refuse(rel, &refusal);
}

bool
rf_check_row_fence(Relation rel, AttrNumber attnum, RfFence fence)
{
	if (!fence.isnull && fence.value >= 1 && fence.value <= rf_max_fence)
		return true;
	if (fence.isnull)
		refuse_fence(rel, attnum, psprintf("Table \"%s\": the fence is NULL.",
										   rf_table_name(rel)));
	else
		refuse_fence(rel, attnum,
					 psprintf("Table \"%s\": the fence is " INT64_FORMAT
							  "; it must be from 1 to " INT64_FORMAT ".",
							  rf_table_name(rel), fence.value,
							  rf_max_fence));
	return false;
}

bool
rf_check_row_order(Relation rel, AttrNumber attnum, RfFence old, int64 fence)
{
	RfRefusal	refusal = {
		ERRCODE_RF_STALE, RF_MSG_STALE, NULL,
		"A newer holder has written this row.  Stop, and do not retry with"
		" this grant.", InvalidAttrNumber, false
	};

	if (old.isnull || fence >= old.value)
		return true;
	refusal.detail = psprintf("Table \"%s\": the row has fence " INT64_FORMAT
							  ", this write has fence " INT64_FORMAT ".",
							  rf_table_name(rel), old.value, fence);
	refusal.attnum = attnum;
	rf_refuse(rel, &refusal);
	return false;
}
