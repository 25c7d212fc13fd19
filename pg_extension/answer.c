/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * answer.c
 *		A row as the answer of a function, without asking for its form each time.
 *
 * To build it from the catalog takes longer than to look at a lease.  The form
 * is that of this library's version, whoever creates the extension again.
 */
#include "answer.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/memutils.h"

static TupleDesc
keep_form(FunctionCallInfo fcinfo)
{
	TupleDesc	found;
	TupleDesc	kept;
	MemoryContext before;

	if (get_call_result_type(fcinfo, NULL, &found) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	before = MemoryContextSwitchTo(TopMemoryContext);
	kept = CreateTupleDescCopy(found);
	MemoryContextSwitchTo(before);
	return BlessTupleDesc(kept);
}

Datum
rf_answer(FunctionCallInfo fcinfo, RfAnswer *answer, Datum *values,
		  bool *nulls)
{
	if (answer->form == NULL)
		answer->form = keep_form(fcinfo);
	return HeapTupleGetDatum(heap_form_tuple(answer->form, values, nulls));
}
