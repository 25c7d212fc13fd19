/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stats.c
 *		What has been judged, counted.
 *
 * When the library is preloaded every backend slot of the server has its own
 * counters in shared memory, which outlive the backend; without that, a
 * backend knows only of itself.
 */
#include "stats.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(ringfence_stats);

pg_atomic_uint64 *rf_counters = NULL;

typedef pg_atomic_uint64 RfSlot[RF_COUNTERS];

static RfSlot own;				/* without shared memory */
static RfSlot *shared = NULL;	/* one for each backend slot */

Size
rf_stats_size(void)
{
	return mul_size(rf_max_backends(), sizeof(RfSlot));
}

void
rf_stats_start(void *memory, bool found)
{
	int			i;
	int			j;

	shared = memory;
	if (found)
		return;
	for (i = 0; i < rf_max_backends(); i++)
		for (j = 0; j < RF_COUNTERS; j++)
			pg_atomic_init_u64(&shared[i][j], 0);
}

void
rf_stats_bind(void)
{
	int			slot = MyProc - ProcGlobal->allProcs;
	int			i;

	if (shared != NULL && slot < rf_max_backends())
	{
		rf_counters = shared[slot];
		return;
	}
	for (i = 0; i < RF_COUNTERS; i++)
		pg_atomic_init_u64(&own[i], 0);
	rf_counters = own;
}

static uint64
total(RfCounter counter)
{
	uint64		sum = 0;
	int			i;

	if (shared == NULL)
		return pg_atomic_read_u64(&rf_counters[counter]);
	for (i = 0; i < rf_max_backends(); i++)
		sum += pg_atomic_read_u64(&shared[i][counter]);
	return sum;
}

Datum
ringfence_stats(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[RF_COUNTERS + 1];
	bool		nulls[RF_COUNTERS + 1] = {false};
	int			i;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (rf_counters == NULL)
		rf_stats_bind();
	if (shared == NULL)
		ereport(NOTICE,
				(errmsg("counters are those of this session alone"),
				 errhint("Add ringfence to shared_preload_libraries to count "
						 "across sessions.")));
	values[0] = BoolGetDatum(shared != NULL);
	for (i = 0; i < RF_COUNTERS; i++)
		values[i + 1] = Int64GetDatum((int64) total(i));
	values[RF_COUNT_WAIT_USEC + 1] =
		Float8GetDatum((double) total(RF_COUNT_WAIT_USEC) / 1000);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
