/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * old_snapshot.c
 *		Nobody may claim and then read the past.
 *
 * The lock is right about who may write; but a caller that goes on reading
 * from a snapshot older than its claim misses what the old holder wrote last.
 */
#include "old_snapshot.h"

#include "access/transam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "plan.h"
#include "recent.h"

RfHorizon *
rf_horizon_now(void)
{
	Snapshot	latest = GetLatestSnapshot();
	RfHorizon  *horizon;

	horizon = MemoryContextAlloc(TopTransactionContext,
								 offsetof(RfHorizon, running) +
								 latest->xcnt * sizeof(TransactionId));
	horizon->xmax = latest->xmax;
	horizon->n_running = latest->xcnt;
	if (latest->xcnt > 0)
		memcpy(horizon->running, latest->xip,
			   latest->xcnt * sizeof(TransactionId));
	return horizon;
}

static bool
was_running(const RfHorizon *horizon, TransactionId xid)
{
	uint32		i;

	for (i = 0; i < horizon->n_running; i++)
		if (TransactionIdEquals(horizon->running[i], xid))
			return true;
	return false;
}

/* Does the snapshot know of everything that had ended by then? */
static bool
covers(Snapshot snapshot, const RfHorizon *horizon)
{
	uint32		i;

	if (TransactionIdPrecedes(snapshot->xmax, horizon->xmax))
		return false;
	for (i = 0; i < snapshot->xcnt; i++)
		if (TransactionIdPrecedes(snapshot->xip[i], horizon->xmax) &&
			!was_running(horizon, snapshot->xip[i]))
			return false;
	return true;
}

/*
 * This transaction's own row is seen by what began after it: the resource has
 * been its own since, and to make it, it was asked about the work before.
 */
static bool
sees_row(Snapshot snapshot, const RfSeen *seen)
{
	if (!TransactionIdIsValid(seen->row_xmin))
		return true;
	if (TransactionIdIsCurrentTransactionId(seen->row_xmin))
		return seen->row_cmin < snapshot->curcid;
	return !XidInMVCCSnapshot(seen->row_xmin, snapshot);
}

static bool
knows(Snapshot snapshot, const RfSeen *seen)
{
	if (seen->horizon == NULL)
		return sees_row(snapshot, seen);
	return covers(snapshot, seen->horizon) ||
		(sees_row(snapshot, seen) &&
		 rf_recent_all_known(seen->resource_hash, snapshot));
}

/*
 * Does the plan call functions other than this guard?  One of them may be
 * STABLE, and such a function reads from its caller's snapshot.  Functions of
 * the system itself are not listed, and none of interest reads.
 */
static void
see_functions(PlannedStmt *stmt, Oid guard_function, bool *guard, bool *others)
{
	static Oid	last_function = InvalidOid;
	static uint32 last_hash;
	ListCell   *cell;

	if (guard_function != last_function)
	{
		last_hash = GetSysCacheHashValue1(PROCOID,
										  ObjectIdGetDatum(guard_function));
		last_function = guard_function;
	}
	*guard = *others = false;
	foreach(cell, stmt->invalItems)
	{
		PlanInvalItem *item = lfirst_node(PlanInvalItem, cell);

		if (item->cacheId != PROCOID)
			continue;
		if (item->hashValue == last_hash)
			*guard = true;
		else
			*others = true;
	}
}

/* The only kind of statement that reads nothing from its own snapshot. */
static bool
is_bare(PlannedStmt *stmt, Oid guard_function)
{
	bool		guard;
	bool		others;

	if (stmt->relationOids != NIL)
		return false;
	see_functions(stmt, guard_function, &guard, &others);
	return !others;
}

static bool
is_of_portal(PlannedStmt *stmt)
{
	return ActivePortal != NULL && list_member_ptr(ActivePortal->stmts, stmt);
}

/* Of a portal whose query was not seen to start. */
static bool
portal_hides_reads(Oid guard_function, bool is_nested)
{
	ListCell   *cell;

	if (ActivePortal == NULL)
		return false;
	foreach(cell, ActivePortal->stmts)
	{
		PlannedStmt *stmt = lfirst_node(PlannedStmt, cell);
		bool		guard;
		bool		others;

		see_functions(stmt, guard_function, &guard, &others);
		if (stmt->relationOids != NIL && (is_nested || !guard))
			return true;
	}
	return false;
}

/* Of any snapshot that this backend has. */
static bool
all_know(const RfSeen *seen)
{
	return seen->horizon == NULL &&
		TransactionIdPrecedes(seen->row_xmin, TransactionXmin);
}

/*
 * The statement that runs is the one that has loaded the library, or there is
 * none.  The guard may be called from a function in it, and then a snapshot is
 * out of sight.  This happens once in a session: to be strict costs little.
 */
static bool
unseen_reads_the_past(const RfSeen *seen, Oid guard_function)
{
	Portal		portal = ActivePortal;
	Snapshot	active = GetActiveSnapshot();

	if (portal != NULL && portal->queryDesc != NULL)
	{
		PlannedStmt *stmt = portal->queryDesc->plannedstmt;

		if (portal->queryDesc->snapshot == active)
			return !is_bare(stmt, guard_function) && !knows(active, seen);
		return !knows(active, seen) ||
			(stmt->relationOids != NIL &&
			 !knows(portal->queryDesc->snapshot, seen));
	}
	if (!knows(active, seen))
		return true;
	return portal_hides_reads(guard_function, false) && !all_know(seen);
}

/*
 * READ COMMITTED: each statement has a snapshot of its own.  A bare SELECT of
 * the guard reads nothing from its own, and the next statement looks afresh.
 * All others that run count, from the client's statement down to this; and the
 * active snapshot within a function, which may go on reading from it.
 */
static bool
statement_reads_the_past(const RfSeen *seen, Oid guard_function)
{
	Snapshot	active = GetActiveSnapshot();
	RfRunningQuery *query = rf_running;
	bool		is_direct;
	bool		portal_is_seen = false;

	if (query == NULL)
		return unseen_reads_the_past(seen, guard_function);
	is_direct = query->outer == NULL && is_of_portal(query->stmt) &&
		query->snapshot == active;
	if (!is_direct && !knows(active, seen))
		return true;
	for (; query != NULL; query = query->outer)
	{
		bool		is_read = query->snapshot == active ?
			!is_bare(query->stmt, guard_function) :
			query->stmt->relationOids != NIL;

		if (is_read && !knows(query->snapshot, seen))
			return true;
		portal_is_seen = portal_is_seen || is_of_portal(query->stmt);
	}
	return !portal_is_seen &&
		portal_hides_reads(guard_function, true) && !all_know(seen);
}

bool
rf_reads_the_past(const RfSeen *seen, Oid guard_function)
{
	if (IsolationUsesXactSnapshot())
		return !knows(GetTransactionSnapshot(), seen);
	return statement_reads_the_past(seen, guard_function);
}
