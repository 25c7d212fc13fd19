/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * answer.h
 *		A row as the answer of a function, without asking for its form each time.
 */
#ifndef RF_ANSWER_H
#define RF_ANSWER_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

/* Define one as static for each function. */
typedef struct RfAnswer
{
	TupleDesc	form;			/* NULL: not asked for yet */
} RfAnswer;

extern Datum rf_answer(FunctionCallInfo fcinfo, RfAnswer *answer,
					   Datum *values, bool *nulls);

#endif							/* RF_ANSWER_H */
