/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claim_check.h
 *		The CHECK of a table whose rows are all of one resource.
 */
#ifndef RF_CLAIM_CHECK_H
#define RF_CLAIM_CHECK_H

#include "postgres.h"
#include "utils/rel.h"

/* Has the table such a constraint, whatever it says, and does it hold? */
extern bool rf_claim_check_holds(Relation rel);

/* And is it the one that protect() makes for this template? */
extern bool rf_claim_check_is_right(Relation rel, const char *template);

/* Has it one of that name at all? */
extern bool rf_claim_check_exists(Relation rel);

/* The statements that make it and take it away. */
extern char *rf_claim_check_add(Oid relid, const char *template);
extern char *rf_claim_check_drop(Oid relid);

#endif							/* RF_CLAIM_CHECK_H */
