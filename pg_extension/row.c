/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * row.c
 *		What a row of the registry says.
 */
#include "row.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "compat.h"

void
rf_row_clear(RfRow *row)
{
	row->fence = 0;
	row->holder = NULL;
	row->claimed_at = 0;
	row->is_retired = false;
	row->xmin = InvalidTransactionId;
	row->cmin = InvalidCommandId;
	ItemPointerSetInvalid(&row->tid);
}

void
rf_row_stamp(RfRow *row, HeapTuple tuple)
{
	row->xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	if (TransactionIdIsCurrentTransactionId(row->xmin))
		row->cmin = HeapTupleHeaderGetCmin(tuple->t_data);
}

/*
 * The columns that CREATE EXTENSION made, so that a row can be read without
 * opening its table.
 */
static TupleDesc
columns(void)
{
	static TupleDesc desc = NULL;
	MemoryContext before;
	TupleDesc	made;

	if (desc != NULL)
		return desc;
	before = MemoryContextSwitchTo(TopMemoryContext);
	made = CreateTemplateTupleDesc(RF_ROW_COLUMNS);
	TupleDescInitEntry(made, RF_ROW_RESOURCE, "resource", TEXTOID, -1, 0);
	TupleDescInitEntry(made, RF_ROW_FENCE, "fence", INT8OID, -1, 0);
	TupleDescInitEntry(made, RF_ROW_HOLDER, "holder", TEXTOID, -1, 0);
	TupleDescInitEntry(made, RF_ROW_CLAIMED_AT, "claimed_at", TIMESTAMPTZOID,
					   -1, 0);
	MemoryContextSwitchTo(before);
	desc = made;
	return desc;
}

static void
read_holder(RfRow *row, const text *holder)
{
	int			len = VARSIZE_ANY_EXHDR(holder);

	/* Too long could only be made by hand, and then equals nobody. */
	len = Min(len, RF_HOLDER_MAX + 1);
	memcpy(row->holder_space, VARDATA_ANY(holder), len);
	row->holder_space[len] = '\0';
	row->holder = row->holder_space;
}

const text *
rf_row_read(RfRow *row, HeapTuple tuple)
{
	Datum		values[RF_ROW_COLUMNS];
	bool		nulls[RF_ROW_COLUMNS];

	heap_deform_tuple(tuple, columns(), values, nulls);
	rf_row_clear(row);
	if (!nulls[RF_ROW_FENCE - 1])
		row->fence = DatumGetInt64(values[RF_ROW_FENCE - 1]);
	if (!nulls[RF_ROW_HOLDER - 1])
		read_holder(row, DatumGetTextPP(values[RF_ROW_HOLDER - 1]));
	if (!nulls[RF_ROW_CLAIMED_AT - 1])
		row->claimed_at = DatumGetTimestampTz(values[RF_ROW_CLAIMED_AT - 1]);
	rf_row_stamp(row, tuple);
	row->tid = tuple->t_self;
	return DatumGetTextPP(values[RF_ROW_RESOURCE - 1]);
}
