/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claim_check.c
 *		The CHECK of a table whose rows are all of one resource.
 *
 * It judges what INSERT and UPDATE leave behind, in place of two triggers: the
 * server queues nothing for a CHECK, does not fetch the row's old version, and
 * keeps the answer when it is the same for each row (require_claim.c).
 *
 * NOT VALID: the rows that are there need no claim, and a dump makes it after
 * it has loaded them.
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"

#include "claim_check.h"
#include "compat.h"
#include "protection.h"
#include "wanted.h"

static const ConstrCheck *
find_check(Relation rel)
{
	TupleConstr *all = RelationGetDescr(rel)->constr;
	int			i;

	for (i = 0; all != NULL && i < all->num_check; i++)
		if (strcmp(all->check[i].ccname, RF_CHECK_CLAIM) == 0)
			return &all->check[i];
	return NULL;
}

bool
rf_claim_check_exists(Relation rel)
{
	return find_check(rel) != NULL;
}

bool
rf_claim_check_holds(Relation rel)
{
	const ConstrCheck *check = find_check(rel);

	return check != NULL && rf_is_enforced(check);
}

/* ---- As it should be ---------------------------------------------------- */

char *
rf_claim_check_add(Oid relid, const char *template)
{
	return psprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK ("
					RF_SCHEMA ".require_claim(%s, tableoid)) NOT VALID",
					rf_qualified_name(relid),
					quote_identifier(RF_CHECK_CLAIM),
					quote_literal_cstr(template));
}

char *
rf_claim_check_drop(Oid relid)
{
	return psprintf("ALTER TABLE %s DROP CONSTRAINT %s",
					rf_qualified_name(relid),
					quote_identifier(RF_CHECK_CLAIM));
}

/* As ALTER TABLE does. */
static Node *
analyze_check(Relation rel, Node *raw)
{
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *item;
	Node	   *check;

	item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL,
										 false, true);
	addNSItemToQuery(pstate, item, true, true, true);
	check = transformExpr(pstate, raw, EXPR_KIND_CHECK_CONSTRAINT);
	check = coerce_to_boolean(pstate, check, "CHECK");
	assign_expr_collations(pstate, check);
	free_parsestate(pstate);
	return check;
}

static Node *
wanted_check(Relation rel, const char *template)
{
	List	   *parsed = pg_parse_query(rf_claim_check_add(RelationGetRelid(rel),
														   template));
	AlterTableStmt *stmt = castNode(AlterTableStmt,
									linitial_node(RawStmt, parsed)->stmt);
	AlterTableCmd *command = linitial_node(AlterTableCmd, stmt->cmds);

	return analyze_check(rel, castNode(Constraint, command->def)->raw_expr);
}

bool
rf_claim_check_is_right(Relation rel, const char *template)
{
	const ConstrCheck *check = find_check(rel);

	return check != NULL && rf_is_enforced(check) &&
		equal(wanted_check(rel, template), stringToNode(check->ccbin));
}
