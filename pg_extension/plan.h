/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plan.h
 *		What the running statement was planned to do to a table.
 *
 * Trigger data tell which columns the statement names, but only for all its
 * parts taken together: one part that names the fence would speak for another
 * one that leaves it out.  The plan tells them apart.
 */
#ifndef RF_PLAN_H
#define RF_PLAN_H

#include "postgres.h"
#include "access/attnum.h"
#include "nodes/plannodes.h"
#include "utils/snapshot.h"

/* A query that the executor runs now; the innermost one comes first. */
typedef struct RfRunningQuery
{
	PlannedStmt *stmt;
	Snapshot	snapshot;
	bool		system;			/* in the security context of a foreign key */
	struct RfRunningQuery *outer;
} RfRunningQuery;

/* NULL also while the statement runs that has loaded the library. */
extern RfRunningQuery *rf_running;

/* Follow which query runs.  Once, when the library is loaded. */
extern void rf_plan_init(void);

/*
 * Does every part of the running statement that updates the table name the
 * column?  Also true when no plan can be seen yet: such a statement is judged,
 * and refused, where it ends.
 */
extern bool rf_plan_names_column(Oid relid, AttrNumber attnum);

/* Is the running statement the server's own, which keeps a foreign key true? */
extern bool rf_in_cascade(Relation rel);

#endif							/* RF_PLAN_H */
