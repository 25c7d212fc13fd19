/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * require_claim.c
 *		require_claim(): what the CHECK of a table asks whose rows are all of
 *		one resource.
 *
 * The answer is the same for every row of a statement, so the server is told
 * it once: it simplifies a CHECK when the first row meets it, and keeps that
 * as long as the statement.  The claim stands longer.  What is left for a row
 * is to look at a constant.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/builtins.h"

#include "armed.h"
#include "checks.h"
#include "claims.h"
#include "protection.h"
#include "trigger_call.h"
#include "unfenced.h"
#include "whole.h"

PG_FUNCTION_INFO_V1(ringfence_require_claim);
PG_FUNCTION_INFO_V1(ringfence_require_claim_support);

/* ---- Row by row, as long as nothing is claimed -------------------------- */

/*
 * CREATE TABLE ... (LIKE ...) copies a CHECK, and a restore may make it before
 * it loads the rows; neither with our triggers.  Such a table is not protected.
 */
static bool
is_protected(Relation rel)
{
	return rf_is_armed(rel, RF_TRIGGER_RESOURCE) ||
		rf_is_armed(rel, RF_TRIGGER_DELETE) ||
		rf_is_armed(rel, RF_TRIGGER_TRUNCATE);
}

static void
refuse_where_protected(Oid relid, const char *resource)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		rf_raise_argument(psprintf("There is no table with OID %u.", relid));
	if (is_protected(rel))
		rf_refuse_unclaimed(rel, resource);
	relation_close(rel, AccessShareLock);
}

/* require_claim(template, table): true, or the refusal */
Datum
ringfence_require_claim(PG_FUNCTION_ARGS)
{
	const char *resource;

	rf_check_not_null(fcinfo, 0, "template");
	rf_check_not_null(fcinfo, 1, "table");
	resource = rf_whole_resource(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	if (resource == NULL)
		rf_raise_argument("A template without columns is needed.");
	if (!rf_is_replica() && rf_claimed_fence(resource, strlen(resource)) == 0)
		refuse_where_protected(PG_GETARG_OID(1), resource);
	PG_RETURN_BOOL(true);
}

/* ---- Once for the statement, where it is claimed ------------------------ */

static bool
names_its_own_table(Node *arg)
{
	return IsA(arg, Var) &&
		castNode(Var, arg)->varattno == TableOidAttributeNumber;
}

/*
 * Only in a CHECK, which is simplified without a planner, and whose argument
 * shows that it is a table's own: what a planner makes, or what a domain
 * checks, may be kept for transactions to come.
 */
static bool
is_known(SupportRequestSimplify *request)
{
	Node	   *template = linitial(request->fcall->args);

	return request->root == NULL && IsA(template, Const) &&
		!castNode(Const, template)->constisnull &&
		names_its_own_table(lsecond(request->fcall->args)) &&
		rf_whole_is_claimed(TextDatumGetCString(castNode(Const,
														 template)->constvalue));
}

/* Support function of require_claim(). */
Datum
ringfence_require_claim_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify) &&
		is_known((SupportRequestSimplify *) request))
		PG_RETURN_POINTER(makeBoolConst(true, false));
	PG_RETURN_POINTER(NULL);
}
