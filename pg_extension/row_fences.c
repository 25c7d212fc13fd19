/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * row_fences.c
 *		Which resources the rows of a table belong to, and their fences.
 *
 * For audit(), which compares them with the registry.  By a scan of the table
 * and not by a query: a query's planning runs what the table's owner has put
 * into its indexes, with the rights of whoever audits.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "column.h"
#include "compat.h"
#include "template.h"

PG_FUNCTION_INFO_V1(ringfence_row_fences);

typedef struct FenceScan
{
	AttrNumber	fence;
	RfTemplate *template;
	StringInfoData name;
	Tuplestorestate *store;
	TupleDesc	desc;			/* of the result */
	MemoryContext per_row;
} FenceScan;

/* A row without a resource or a fence says nothing about the registry. */
static void
put_row(FenceScan *scan, Relation rel, TupleTableSlot *slot)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	RfFence		fence = rf_fence_of(rel, scan->fence, tuple);
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (fence.isnull ||
		rf_template_render(scan->template, RelationGetDescr(rel), tuple,
						   &scan->name) != NULL)
		return;
	values[0] = PointerGetDatum(cstring_to_text_with_len(scan->name.data,
														 scan->name.len));
	values[1] = Int64GetDatum(fence.value);
	tuplestore_putvalues(scan->store, scan->desc, values, nulls);
}

/*
 * With the snapshot of the query, which reads the registry as well: with a
 * later one, whoever claims and writes meanwhile would look like a hole.
 */
static void
scan_rows(FenceScan *scan, Relation rel)
{
	Snapshot	snapshot = RegisterSnapshot(GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc rows = rf_table_beginscan(rel, snapshot);

	while (table_scan_getnextslot(rows, ForwardScanDirection, slot))
	{
		MemoryContext before = MemoryContextSwitchTo(scan->per_row);

		CHECK_FOR_INTERRUPTS();
		put_row(scan, rel, slot);
		MemoryContextSwitchTo(before);
		MemoryContextReset(scan->per_row);
	}
	table_endscan(rows);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
}

/* What has no rows of its own, or no such columns any more, has none. */
static void
scan_table(FenceScan *scan, Oid relid, const char *fence, const char *source)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	char	   *problem = NULL;

	if (rel->rd_rel->relkind == RELKIND_RELATION)
	{
		scan->template = rf_template_parse(source, &problem);
		if (scan->template != NULL)
			problem = rf_template_bind(scan->template, rel,
									   CurrentMemoryContext);
		if (problem == NULL)
			problem = rf_column_problem(rel, fence);
		scan->fence = rf_column_number(RelationGetDescr(rel), fence);
		if (problem == NULL)
			scan_rows(scan, rel);
	}
	relation_close(rel, NoLock);
}

static void
begin_result(FunctionCallInfo fcinfo, FenceScan *scan)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext before;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		!(result->allowedModes & SFRM_Materialize) ||
		get_call_result_type(fcinfo, NULL, &scan->desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "called where no set of rows is taken");
	before = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	scan->desc = CreateTupleDescCopy(scan->desc);
	scan->store = tuplestore_begin_heap(false, false, work_mem);
	MemoryContextSwitchTo(before);
	result->returnMode = SFRM_Materialize;
	result->setResult = scan->store;
	result->setDesc = scan->desc;
}

/* row_fences(table oid, fence_column name, resource text), strict */
Datum
ringfence_row_fences(PG_FUNCTION_ARGS)
{
	char	   *fence = NameStr(*PG_GETARG_NAME(1));
	char	   *source = text_to_cstring(PG_GETARG_TEXT_PP(2));
	FenceScan	scan;
	ListCell   *cell;
	Relation	root;
	List	   *tables;

	begin_result(fcinfo, &scan);
	/* Dropped since the caller has seen its name: no rows. */
	root = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	if (root == NULL)
		return (Datum) 0;
	tables = find_all_inheritors(RelationGetRelid(root), AccessShareLock, NULL);
	relation_close(root, NoLock);
	initStringInfo(&scan.name);
	scan.per_row = AllocSetContextCreate(CurrentMemoryContext,
										 "ringfence row",
										 ALLOCSET_DEFAULT_SIZES);
	foreach(cell, tables)
		scan_table(&scan, lfirst_oid(cell), fence, source);
	MemoryContextDelete(scan.per_row);
	return (Datum) 0;
}
