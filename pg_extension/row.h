/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * row.h
 *		What a row of the registry says.
 */
#ifndef RF_ROW_H
#define RF_ROW_H

#include "postgres.h"

#include "access/htup.h"
#include "storage/itemptr.h"
#include "utils/timestamp.h"

#include "grant.h"

enum
{
	RF_ROW_RESOURCE = 1,
	RF_ROW_FENCE,
	RF_ROW_HOLDER,
	RF_ROW_CLAIMED_AT,
	RF_ROW_COLUMNS = RF_ROW_CLAIMED_AT
};

/*
 * A resource's row.  Without one, tid is invalid and fence is 0, which is below
 * every fence; or, when resources have been retired, the floor that they left.
 */
typedef struct RfRow
{
	int64		fence;
	const char *holder;			/* NULL, or holder_space */
	TimestampTz claimed_at;
	TransactionId xmin;			/* who wrote this version */
	CommandId	cmin;			/* and at which command, if we did */
	ItemPointerData tid;
	bool		is_retired;		/* the fence is the floor */
	char		holder_space[RF_HOLDER_MAX + 2];
} RfRow;

/* As if there were no row. */
extern void rf_row_clear(RfRow *row);

/* Who wrote this version. */
extern void rf_row_stamp(RfRow *row, HeapTuple tuple);

/* Fill in what this version says; the result is whose row it is. */
extern const text *rf_row_read(RfRow *row, HeapTuple tuple);

#endif							/* RF_ROW_H */
