/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * unclaimed.c
 *		unclaimed(), unfenced(), outdated() and unfenced_update(): is a row
 *		wrong?  For the WHEN of triggers.
 *
 * Asked for every row that is written, so that only rows that are wrong cost
 * the call of a trigger.  One call for each WHEN, and nothing beside it: the
 * server reads and prepares a WHEN anew for each statement, node by node.
 * Their names are in no grant: whoever may write to a table must be able to
 * run the WHEN of its triggers, and what they tell, one's own claims, is no
 * secret.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "checks.h"
#include "claims.h"
#include "template.h"

PG_FUNCTION_INFO_V1(ringfence_unclaimed);
PG_FUNCTION_INFO_V1(ringfence_unfenced);
PG_FUNCTION_INFO_V1(ringfence_outdated);
PG_FUNCTION_INFO_V1(ringfence_unfenced_update);

/* What a call is about: an old row, a new one, or one and then the other. */
#define MOST_ROWS	2

/* A column's value in the last row whose resource was claimed. */
typedef struct LastValue
{
	int16		typlen;
	bool		typbyval;
	Datum		value;			/* by value, or into the copy */
	Size		size;
	char	   *copy;
	Size		room;			/* for it */
} LastValue;

/*
 * Kept from one call to the next, within one statement.  The last claim stays
 * true that long: what a statement can see of its transaction's claims does
 * not go away before the statement does.
 */
typedef struct CallState
{
	RfTemplate *template;
	int			first;			/* of the arguments that are values */
	int			nrows;			/* that they are of, one after the other */
	MemoryContext context;
	StringInfoData name;		/* of the row's resource */
	int64		claims[MOST_ROWS];	/* on the last ones; 0: none yet */
	LastValue	last[FLEXIBLE_ARRAY_MEMBER];	/* for each value */
} CallState;

/* ---- The arguments ------------------------------------------------------ */

/* The other row's are printed like the first one's, so are of its types. */
static char *
bind_value(FunctionCallInfo fcinfo, CallState *state, int value)
{
	int			column = value % state->template->ncolumns;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo,
										   state->first + value);

	get_typlenbyval(type, &state->last[value].typlen,
					&state->last[value].typbyval);
	if (value == column)
		return rf_template_bind_type(&state->template->columns[column], type,
									 state->context);
	if (type != get_fn_expr_argtype(fcinfo->flinfo, state->first + column))
		return "A column has values of two types.";
	return NULL;
}

static char *
bind_values(FunctionCallInfo fcinfo, CallState *state, int nrows)
{
	int			nvalues = PG_NARGS() - state->first;
	int			ncolumns = state->template->ncolumns;
	char	   *problem = NULL;
	int			i;

	state->nrows = ncolumns == 0 ? 1 : nvalues / ncolumns;
	if (nvalues != state->nrows * ncolumns || state->nrows == 0 ||
		state->nrows > nrows)
		return "The template has another number of columns.";
	for (i = 0; problem == NULL && i < nvalues; i++)
		problem = OidIsValid(get_fn_expr_argtype(fcinfo->flinfo,
												 state->first + i)) ?
			bind_value(fcinfo, state, i) : "The type of a value is not known.";
	return problem;
}

/* Only triggers that protect() makes call these; but anybody can. */
static void
bind_arguments(FunctionCallInfo fcinfo, CallState *state, int nrows)
{
	char	   *problem = NULL;

	if (PG_ARGISNULL(0) || get_fn_expr_variadic(fcinfo->flinfo))
		rf_raise_argument("A template and its values are needed, one by one.");
	state->template = rf_template_parse(text_to_cstring(PG_GETARG_TEXT_PP(0)),
										&problem);
	if (state->template != NULL)
		problem = bind_values(fcinfo, state, nrows);
	if (problem != NULL)
		rf_raise_argument(problem);
}

/* first: of the arguments that are values; of no more than so many rows. */
static CallState *
begin_call(FunctionCallInfo fcinfo, int first, int nrows)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	MemoryContext before;
	CallState  *state = fcinfo->flinfo->fn_extra;

	if (state != NULL)
		return state;
	before = MemoryContextSwitchTo(context);
	state = palloc0(offsetof(CallState, last) + PG_NARGS() * sizeof(LastValue));
	state->context = context;
	state->first = first;
	bind_arguments(fcinfo, state, nrows);
	initStringInfo(&state->name);
	MemoryContextSwitchTo(before);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

/* ---- The last row's values ---------------------------------------------- */

/*
 * Byte by byte: rows of one resource mostly have them, and to compare them is
 * far cheaper than to print them.
 */
static inline bool
is_same(const LastValue *last, Datum value)
{
	if (last->typbyval)
		return value == last->value;
	return datumGetSize(value, false, last->typlen) == last->size &&
		memcmp(DatumGetPointer(value), last->copy, last->size) == 0;
}

static void
keep_value(LastValue *last, Datum value, MemoryContext context)
{
	if (last->typbyval)
	{
		last->value = value;
		return;
	}
	last->size = datumGetSize(value, false, last->typlen);
	if (last->size > last->room)
	{
		if (last->copy != NULL)
			pfree(last->copy);
		last->room = 0;
		last->copy = MemoryContextAlloc(context, last->size);
		last->room = last->size;
	}
	memcpy(last->copy, DatumGetPointer(value), last->size);
}

/* ---- The claim on a row ------------------------------------------------- */

static inline bool
has_last_values(FunctionCallInfo fcinfo, const CallState *state, int row)
{
	int			ncolumns = state->template->ncolumns;
	int			value = row * ncolumns;
	int			end = value + ncolumns;

	if (state->claims[row] == 0)
		return false;
	for (; value < end; value++)
		if (PG_ARGISNULL(state->first + value) ||
			!is_same(&state->last[value],
					 PG_GETARG_DATUM(state->first + value)))
			return false;
	return true;
}

/* False: a value is NULL, and the row has no resource. */
static bool
render_row(FunctionCallInfo fcinfo, CallState *state, int row)
{
	RfTemplate *template = state->template;
	int			arg = state->first + row * template->ncolumns;
	int			i;

	resetStringInfo(&state->name);
	for (i = 0; i < template->ncolumns; i++)
	{
		if (PG_ARGISNULL(arg + i))
			return false;
		rf_template_append(&template->columns[i], PG_GETARG_DATUM(arg + i),
						   &state->name);
	}
	appendStringInfoString(&state->name, template->after);
	return true;
}

static void
keep_row(FunctionCallInfo fcinfo, CallState *state, int row)
{
	int			value = row * state->template->ncolumns;
	int			end = value + state->template->ncolumns;

	for (; value < end; value++)
		keep_value(&state->last[value],
				   PG_GETARG_DATUM(state->first + value), state->context);
}

/* On the resource of that row, or 0. */
static int64
claim_on(FunctionCallInfo fcinfo, CallState *state, int row)
{
	int64		claim;

	if (row >= state->nrows)	/* no columns: all rows are of one resource */
		row = 0;
	if (has_last_values(fcinfo, state, row))
		return state->claims[row];
	state->claims[row] = 0;
	if (!render_row(fcinfo, state, row))
		return 0;
	claim = rf_claimed_fence(state->name.data, state->name.len);
	if (claim > 0)				/* and so the values are no longer than a name */
		keep_row(fcinfo, state, row);
	state->claims[row] = claim;
	return claim;
}

/* ---- Is it wrong? ------------------------------------------------------- */

/* A row as it must not become: its fence is the claim's. */
static inline bool
is_unfenced(FunctionCallInfo fcinfo, int fence, int64 claim)
{
	return PG_ARGISNULL(fence) || PG_GETARG_INT64(fence) < 1 ||
		PG_GETARG_INT64(fence) != claim;
}

/* One that must not be replaced or deleted; without a fence it needs a claim. */
static inline bool
is_outdated(FunctionCallInfo fcinfo, int fence, int64 claim)
{
	return claim == 0 ||
		(!PG_ARGISNULL(fence) && PG_GETARG_INT64(fence) > claim);
}

/* unclaimed(template, value, ..., value of the other row, ...) */
Datum
ringfence_unclaimed(PG_FUNCTION_ARGS)
{
	CallState  *state = begin_call(fcinfo, 1, 2);
	int			row;

	for (row = 0; row < state->nrows; row++)
		if (claim_on(fcinfo, state, row) == 0)
			PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(false);
}

/* unfenced(template, fence, value, ...) */
Datum
ringfence_unfenced(PG_FUNCTION_ARGS)
{
	CallState  *state = begin_call(fcinfo, 2, 1);

	PG_RETURN_BOOL(is_unfenced(fcinfo, 1, claim_on(fcinfo, state, 0)));
}

/* outdated(template, fence, value, ...) */
Datum
ringfence_outdated(PG_FUNCTION_ARGS)
{
	CallState  *state = begin_call(fcinfo, 2, 1);

	PG_RETURN_BOOL(is_outdated(fcinfo, 1, claim_on(fcinfo, state, 0)));
}

/*
 * unfenced_update(template, fence that was, fence that is, value that was, ...,
 *				   value that is, ...)
 */
Datum
ringfence_unfenced_update(PG_FUNCTION_ARGS)
{
	CallState  *state = begin_call(fcinfo, 3, 2);

	PG_RETURN_BOOL(is_outdated(fcinfo, 1, claim_on(fcinfo, state, 0)) ||
				   is_unfenced(fcinfo, 2, claim_on(fcinfo, state, 1)));
}
