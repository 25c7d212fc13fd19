/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claimed.c
 *		claimed(): this transaction's claim on a row's resource, for the WHEN
 *		of triggers.
 *
 * Asked for every row that is written, so that only rows that are wrong cost
 * the call of a trigger.  Its name is in no grant: whoever may write to a
 * table must be able to run the WHEN of its triggers, and what it tells, one's
 * own claims, is no secret.
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
#include "trigger_call.h"

PG_FUNCTION_INFO_V1(ringfence_claimed);

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
 * Kept from one row to the next, within one statement.  The last claim stays
 * true that long: what a statement can see of its transaction's claims does
 * not go away before the statement does.
 */
typedef struct ClaimedState
{
	RfTemplate *template;
	MemoryContext context;
	int64		claim;			/* on the last resource; 0: none yet */
	StringInfoData name;		/* the row's */
	LastValue	last[FLEXIBLE_ARRAY_MEMBER];
} ClaimedState;

/* Only triggers that protect() makes call it; but anybody can. */
static RfTemplate *
bind_arguments(FunctionCallInfo fcinfo)
{
	char	   *problem = NULL;
	RfTemplate *template;
	int			i;

	if (PG_ARGISNULL(0) || get_fn_expr_variadic(fcinfo->flinfo))
		rf_raise_argument("A template and its values are needed, one by one.");
	template = rf_template_parse(text_to_cstring(PG_GETARG_TEXT_PP(0)),
								 &problem);
	if (template != NULL && template->ncolumns != PG_NARGS() - 1)
		problem = "The template has another number of columns.";
	for (i = 0; problem == NULL && i < template->ncolumns; i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i + 1);

		problem = OidIsValid(type) ?
			rf_template_bind_type(&template->columns[i], type,
								  fcinfo->flinfo->fn_mcxt) :
			"The type of a value is not known.";
	}
	if (problem != NULL)
		rf_raise_argument(problem);
	return template;
}

static ClaimedState *
begin_rows(FunctionCallInfo fcinfo)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	MemoryContext before = MemoryContextSwitchTo(context);
	ClaimedState *state = palloc0(offsetof(ClaimedState, last) +
								  PG_NARGS() * sizeof(LastValue));
	int			i;

	state->template = bind_arguments(fcinfo);
	state->context = context;
	initStringInfo(&state->name);
	for (i = 0; i < state->template->ncolumns; i++)
		get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, i + 1),
						&state->last[i].typlen, &state->last[i].typbyval);
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

static inline bool
has_last_values(FunctionCallInfo fcinfo, const ClaimedState *state)
{
	int			i;

	if (state->claim == 0)
		return false;
	for (i = 0; i < state->template->ncolumns; i++)
		if (PG_ARGISNULL(i + 1) ||
			!is_same(&state->last[i], PG_GETARG_DATUM(i + 1)))
			return false;
	return true;
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

/* ---- claimed() ---------------------------------------------------------- */

/* False: a value is NULL, and the row has no resource. */
static bool
render_arguments(FunctionCallInfo fcinfo, ClaimedState *state)
{
	RfTemplate *template = state->template;
	int			i;

	resetStringInfo(&state->name);
	for (i = 0; i < template->ncolumns; i++)
	{
		if (PG_ARGISNULL(i + 1))
			return false;
		rf_template_append(&template->columns[i], PG_GETARG_DATUM(i + 1),
						   &state->name);
	}
	appendStringInfoString(&state->name, template->after);
	return true;
}

/* claimed(template, value, ...): the fence, or 0 */
Datum
ringfence_claimed(PG_FUNCTION_ARGS)
{
	ClaimedState *state = fcinfo->flinfo->fn_extra;
	int64		claim;
	int			i;

	if (state == NULL)
		state = begin_rows(fcinfo);
	if (has_last_values(fcinfo, state))
		PG_RETURN_INT64(state->claim);
	state->claim = 0;
	if (!render_arguments(fcinfo, state))
		PG_RETURN_INT64(0);
	claim = rf_claimed_fence(state->name.data, state->name.len);
	if (claim > 0)				/* and so the values are no longer than a name */
		for (i = 0; i < state->template->ncolumns; i++)
			keep_value(&state->last[i], PG_GETARG_DATUM(i + 1),
					   state->context);
	state->claim = claim;
	PG_RETURN_INT64(claim);
}
