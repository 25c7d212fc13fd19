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

static bool
sees_row(Snapshot snapshot, const RfSeen *seen)
{
	return !TransactionIdIsValid(seen->row_xmin) ||
		!XidInMVCCSnapshot(seen->row_xmin, snapshot);
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

static bool
reads_tables(Portal portal)
{
	ListCell   *cell;

	foreach(cell, portal->stmts)
	{
		if (lfirst_node(PlannedStmt, cell)->relationOids != NIL)
			return true;
	}
	return false;
}

/*
 * Does the portal's plan call functions other than this guard?  One of them
 * may be STABLE, and such a function reads from the portal's own snapshot.
 * Functions of the system itself are not listed, and none of interest reads.
 */
static bool
calls_others(Portal portal, Oid guard_function)
{
	static Oid	last_function = InvalidOid;
	static uint32 last_hash;
	ListCell   *cell;
	ListCell   *item;

	if (guard_function != last_function)
	{
		last_hash = GetSysCacheHashValue1(PROCOID,
										  ObjectIdGetDatum(guard_function));
		last_function = guard_function;
	}
	foreach(cell, portal->stmts)
	{
		foreach(item, lfirst_node(PlannedStmt, cell)->invalItems)
		{
			PlanInvalItem *inval = lfirst_node(PlanInvalItem, item);

			if (inval->cacheId == PROCOID && inval->hashValue != last_hash)
				return true;
		}
	}
	return false;
}

/*
 * The snapshot that the portal's statement itself reads from, or one that is
 * older.  A plain INSERT, UPDATE or DELETE does not keep it where it can be
 * found, so there the oldest of all has to do.
 */
static Snapshot
outer_snapshot(Portal portal)
{
	if (portal->queryDesc != NULL)
		return portal->queryDesc->snapshot;
	if (portal->holdSnapshot != NULL)
		return portal->holdSnapshot;
	return GetOldestSnapshot();
}

/*
 * READ COMMITTED: each statement has a snapshot of its own.  A bare SELECT of
 * the guard reads nothing from its own, and the next statement looks afresh.
 * Called from within a function, one cannot see what the inner statement
 * reads, so it is taken to read.
 */
static bool
statement_reads_the_past(const RfSeen *seen, Oid guard_function)
{
	Portal		portal = ActivePortal;
	Snapshot	active = GetActiveSnapshot();

	if (portal == NULL)
		return !knows(active, seen);
	if (portal->queryDesc != NULL && portal->queryDesc->snapshot == active)
		return (reads_tables(portal) ||
				calls_others(portal, guard_function)) && !knows(active, seen);
	if (!knows(active, seen))
		return true;
	return reads_tables(portal) && !knows(outer_snapshot(portal), seen);
}

bool
rf_reads_the_past(const RfSeen *seen, Oid guard_function)
{
	if (IsolationUsesXactSnapshot())
		return !knows(GetTransactionSnapshot(), seen);
	return statement_reads_the_past(seen, guard_function);
}
