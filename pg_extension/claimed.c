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
#include "utils/memutils.h"

#include "claims.h"
#include "errcodes.h"
#include "template.h"
#include "trigger_call.h"

PG_FUNCTION_INFO_V1(ringfence_claimed);

/*
 * Kept from one row to the next, within one statement.  The last claim stays
 * true that long: what a statement can see of its transaction's claims does
 * not go away before the statement does.
 */
typedef struct ClaimedState
{
	RfTemplate *template;
	Size		after_len;
	int64		claim;			/* on the last resource; 0: none yet */
	StringInfoData last;		/* its name */
	StringInfoData name;		/* the row's */
} ClaimedState;

static void
raise_argument(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail_internal("%s", detail)));
}

/* Only triggers that protect() makes call it; but anybody can. */
static RfTemplate *
bind_arguments(FunctionCallInfo fcinfo)
{
	char	   *problem = NULL;
	RfTemplate *template;
	int			i;

	if (PG_ARGISNULL(0) || get_fn_expr_variadic(fcinfo->flinfo))
		raise_argument("A template and its values are needed, one by one.");
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
		raise_argument(problem);
	return template;
}

static ClaimedState *
begin_rows(FunctionCallInfo fcinfo)
{
	MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	ClaimedState *state = palloc0(sizeof(ClaimedState));

	state->template = bind_arguments(fcinfo);
	state->after_len = strlen(state->template->after);
	initStringInfo(&state->last);
	initStringInfo(&state->name);
	MemoryContextSwitchTo(before);
	fcinfo->flinfo->fn_extra = state;
	return state;
}

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
	appendBinaryStringInfo(&state->name, template->after, state->after_len);
	return true;
}

/* claimed(template, value, ...): the fence, or 0 */
Datum
ringfence_claimed(PG_FUNCTION_ARGS)
{
	ClaimedState *state = fcinfo->flinfo->fn_extra;
	StringInfoData swap;

	if (state == NULL)
		state = begin_rows(fcinfo);
	if (!render_arguments(fcinfo, state))
		PG_RETURN_INT64(0);
	if (state->claim > 0 && state->name.len == state->last.len &&
		memcmp(state->name.data, state->last.data, state->name.len) == 0)
		PG_RETURN_INT64(state->claim);
	swap = state->last;
	state->last = state->name;
	state->name = swap;
	state->claim = rf_claimed_fence(state->last.data, state->last.len);
	PG_RETURN_INT64(state->claim);
}
