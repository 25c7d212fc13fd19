/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * right_check.c
 *		check_is_right(): part of audit().
 */
#include "postgres.h"

#include "access/relation.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "claim_check.h"

PG_FUNCTION_INFO_V1(ringfence_check_is_right);

/*
 * check_is_right(table, template)
 *		NULL: there is no such table.
 */
Datum
ringfence_check_is_right(PG_FUNCTION_ARGS)
{
	const char *template = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	bool		is_right;

	if (rel == NULL)
		PG_RETURN_NULL();
	is_right = rf_claim_check_is_right(rel, template);
	relation_close(rel, AccessShareLock);
	PG_RETURN_BOOL(is_right);
}
