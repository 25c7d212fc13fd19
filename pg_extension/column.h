/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * column.h
 *		The fence column of a table: where it is, and which values it takes.
 */
#ifndef RF_COLUMN_H
#define RF_COLUMN_H

#include "postgres.h"
#include "access/attnum.h"
#include "access/htup.h"
#include "utils/rel.h"

typedef struct RfFence
{
	int64		value;
	bool		isnull;
} RfFence;

/* Column number by name, or InvalidAttrNumber.  System columns don't count. */
extern AttrNumber rf_column_number(TupleDesc desc, const char *name);

/* Why the column can't carry a fence (palloc'd), or NULL if it can. */
extern char *rf_column_problem(Relation rel, const char *name);

/*
 * Number of the fence column.  Refuses the write when the table has changed
 * so that there is none; InvalidAttrNumber is for observe mode alone.
 */
extern AttrNumber rf_fence_column(Relation rel, const char *name);

extern RfFence rf_fence_of(Relation rel, AttrNumber attnum, HeapTuple tuple);

/* Refuse a fence that is no fence.  False in observe mode alone. */
extern bool rf_check_row_fence(Relation rel, AttrNumber attnum, RfFence fence);

/* Refuse to replace a newer fence.  False in observe mode alone. */
extern bool rf_check_row_order(Relation rel, AttrNumber attnum, RfFence old,
							   int64 fence);

#endif							/* RF_COLUMN_H */
