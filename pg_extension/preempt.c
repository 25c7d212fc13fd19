/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * preempt.c
 *		A newer grant ends the backends in its way instead of waiting.
 *
 * Who holds the lock shared has passed with the stored fence, so it is older.
 * Who holds it exclusively is advancing: the fence it is about to commit tells.
 * A prepared transaction has no backend to end.
 */
#include "preempt.h"

#include <signal.h>
#include <unistd.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "replication/syncrep.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "registry.h"
#include "resource_lock.h"
#include "stats.h"

/* How long to stay in the queue before looking again at who is in the way. */
#define SOON_MS		50			/* somebody is about to go, or to show itself */

typedef struct RfBlocker
{
	PGPROC	   *proc;
	int			pid;			/* 0: a prepared transaction */
	Oid			role;
	LocalTransactionId lxid;
	bool		advancing;
} RfBlocker;

typedef enum RfVerdict
{
	RF_LET_BE,					/* newer, or not ours to end */
	RF_NOT_YET_KNOWN,			/* about to show its fence */
	RF_OLDER
} RfVerdict;

/*
 * The locks that this process holds on the resource.  The caller has the
 * partition of the lock table, so they cannot be released meanwhile.
 */
static LOCKMASK
held_by(PGPROC *proc, const LOCKTAG *tag, int partition)
{
	PROCLOCK   *proclock;

	rf_foreach_proclock(proclock, proc, partition)
	{
		if (memcmp(&proclock->tag.myLock->tag, tag, sizeof(LOCKTAG)) == 0)
			return proclock->holdMask &
				(LOCKBIT_ON(RF_SHARED) | LOCKBIT_ON(RF_EXCLUSIVE));
	}
	return 0;
}

/* Everybody else who holds the lock, in the caller's memory. */
static int
find_blockers(const LOCKTAG *tag, RfBlocker *blockers)
{
	uint32		code = LockTagHashCode(tag);
	int			found = 0;
	uint32		i;

	LWLockAcquire(LockHashPartitionLock(code), LW_SHARED);
	for (i = 0; i < ProcGlobal->allProcCount; i++)
	{
		PGPROC	   *proc = &ProcGlobal->allProcs[i];
		LOCKMASK	held;

		if (proc == MyProc)
			continue;
		held = held_by(proc, tag, LockHashPartition(code));
		if (held == 0)
			continue;
		blockers[found].proc = proc;
		blockers[found].pid = proc->pid;
		blockers[found].role = proc->roleId;
		blockers[found].lxid = rf_proc_lxid(proc);
		blockers[found].advancing = (held & LOCKBIT_ON(RF_EXCLUSIVE)) != 0;
		found++;
	}
	LWLockRelease(LockHashPartitionLock(code));
	return found;
}

/* The rule of pg_terminate_backend(). */
static bool
may_terminate(Oid role)
{
	if ((!OidIsValid(role) || superuser_arg(role)) && !superuser())
		return false;
	return has_privs_of_role(GetUserId(), role) ||
		has_privs_of_role(GetUserId(), rf_role_signal_backend);
}

static RfVerdict
judge(const RfGrant *grant, const RfBlocker *blocker)
{
	int64		fence;
	int			writer;

	if (blocker->pid == 0 || !may_terminate(blocker->role))
		return RF_LET_BE;
	if (!blocker->advancing)
		return RF_OLDER;
	fence = rf_registry_uncommitted(grant, &writer);
	if (fence == 0 || writer != blocker->pid)
		return RF_NOT_YET_KNOWN;
	return fence < grant->fence ? RF_OLDER : RF_LET_BE;
}

/*
 * Only if the same transaction still holds the same lock: as long as we have
 * the partition it cannot let go and move on.  One that waits for a standby
 * has committed, and is let through.
 */
static bool
terminate(const LOCKTAG *tag, const RfBlocker *blocker)
{
	uint32		code = LockTagHashCode(tag);
	PGPROC	   *proc = blocker->proc;
	LOCKMASK	held;
	bool		sent = false;

	LWLockAcquire(LockHashPartitionLock(code), LW_SHARED);
	held = held_by(proc, tag, LockHashPartition(code));
	if (held != 0 && proc->pid == blocker->pid &&
		rf_proc_lxid(proc) == blocker->lxid &&
		((held & LOCKBIT_ON(RF_EXCLUSIVE)) != 0) == blocker->advancing &&
		proc->syncRepState == SYNC_REP_NOT_WAITING)
	{
#ifdef HAVE_SETSID
		sent = kill(-blocker->pid, SIGTERM) == 0;
#else
		sent = kill(blocker->pid, SIGTERM) == 0;
#endif
	}
	LWLockRelease(LockHashPartitionLock(code));
	return sent;
}

/*
 * End what is older.  Returns whether the way will be free soon, or more will
 * be known.
 */
static bool
clear_the_way(const RfGrant *grant)
{
	RfBlocker  *blockers;
	LOCKTAG		tag;
	RfRow		row;
	bool		soon = false;
	int			n;
	int			i;

	rf_lock_tag(&tag, grant->hash);
	blockers = palloc(ProcGlobal->allProcCount * sizeof(RfBlocker));
	n = find_blockers(&tag, blockers);

	/* After they were found: what they hold now, they took before this. */
	rf_registry_look(grant, &row);
	for (i = 0; i < n && row.fence < grant->fence; i++)
	{
		RfVerdict	verdict = judge(grant, &blockers[i]);

		if (verdict == RF_OLDER && terminate(&tag, &blockers[i]))
		{
			rf_count(RF_COUNT_PREEMPTED);
			ereport(LOG,
					(errmsg("terminating process %d for a newer fence",
							blockers[i].pid),
					 errdetail("Resource \"%.*s\": fence %lld is being "
							   "claimed.",
							   grant->name_len, grant->name,
							   (long long) grant->fence)));
		}
		if (verdict != RF_LET_BE)
			soon = true;
	}
	pfree(blockers);
	return soon || n == 0;
}

/*
 * Wait in the queue for so long, in a subtransaction, since giving up is an
 * error there.  False when the time was over.  LockTimeout is set directly: as
 * a setting it would be undone at a time of its own.
 */
static bool
lock_within(const RfGrant *grant, int timeout_ms, bool is_last)
{
	MemoryContext memory = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			saved_timeout = LockTimeout;
	volatile bool locked = false;
	ErrorData  *error;

	BeginInternalSubTransaction(NULL);
	LockTimeout = timeout_ms;
	PG_TRY();
	{
		rf_lock(grant->hash, RF_EXCLUSIVE);
		LockTimeout = saved_timeout;
		ReleaseCurrentSubTransaction();
		locked = true;
	}
	PG_CATCH();
	{
		LockTimeout = saved_timeout;
		MemoryContextSwitchTo(memory);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(memory);
		CurrentResourceOwner = owner;
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE || is_last)
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(memory);
	CurrentResourceOwner = owner;
	return locked;
}

/*
 * A subtransaction leaves its locks to the transaction around it; rf_unlock()
 * gives back what belongs to the running statement.
 */
static void
take_over(const RfGrant *grant)
{
	ResourceOwner owner = CurrentResourceOwner;

	rf_lock(grant->hash, RF_EXCLUSIVE);
	CurrentResourceOwner = CurTransactionResourceOwner;
	rf_unlock(grant->hash, RF_EXCLUSIVE);
	CurrentResourceOwner = owner;
}

/*
 * Long enough for the deadlock detector to run, when nothing is expected to
 * change soon; and never beyond the session's own lock_timeout.
 */
void
rf_lock_preempting(const RfGrant *grant)
{
	TimestampTz start = GetCurrentTimestamp();
	int			limit = LockTimeout;

	while (!rf_try_lock(grant->hash, RF_EXCLUSIVE))
	{
		int			slice = clear_the_way(grant) ? SOON_MS :
			Max(1000, 2 * DeadlockTimeout);
		bool		is_last = false;

		if (limit > 0)
		{
			long		left = limit -
				TimestampDifferenceMilliseconds(start, GetCurrentTimestamp());

			is_last = left <= slice;
			slice = is_last ? Max(1, left) : slice;
		}
		if (lock_within(grant, slice, is_last))
		{
			take_over(grant);
			return;
		}
	}
}
