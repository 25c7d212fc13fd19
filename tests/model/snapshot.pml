/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Old snapshots: the guard is right, but the caller may be about to read the
 * past.  A holder's later writes change data and leave the registry row as it
 * is, so the row can't tell whether a snapshot is fresh enough.
 *
 * Two grants, two transactions each: claim-and-write, then write again under
 * the same grant.  A transaction takes its snapshot before its guard (REPEATABLE
 * READ, or a statement that calls the guard in its WHERE), and reads from it
 * after the guard.  What is written goes to another row than what is read, so
 * that no write-write conflict helps.  A third, unfenced table may commit at
 * any time.
 *
 * Must hold: no lost update: a committed transaction has seen every
 * protected transaction committed before it.
 *
 *   RULE  0  none
 *         1  refuse when the guard had to wait
 *         2  the registry row must be visible in the snapshot
 *         3  equal: the row must be visible; advance: nothing at all may have
 *            committed since the snapshot
 *         4  as 3, but an advance also passes when the row is visible and so
 *            is all that was noted: work under the stored grant is noted at its
 *            end, before its lock goes, and an advance clears the notes
 *   NOTE     1: noted before the lock goes; 0: some time after that
 *   LATE_SNAPSHOT  the snapshot is taken after the guard (READ COMMITTED, guard
 *            as a statement of its own)
 */
#ifndef RULE
#define RULE 3
#endif
#ifndef NOTE
#define NOTE 1
#endif
#ifndef LATE_SNAPSHOT
#define LATE_SNAPSHOT 0
#endif

#include "reached.pml"

byte stored_fence = 0;
byte stored_holder = 0;
byte row_commit = 0;            /* commit that wrote the registry row */
byte noted = 0;                 /* the newest commit that was noted */
byte commits = 0;               /* all commits so far: a snapshot is one of these */
byte protected_commits = 0;     /* of them, those of protected transactions */
byte seen_at[12];               /* protected commits visible in snapshot n */

/* The resource's lock: any number of equal grants, or one that advances. */
byte sharing = 0;
byte advancing = 0;
byte finished = 0;

inline record_commit(protected)
{
	atomic {
	commits++;
	if :: protected -> protected_commits++ :: else fi;
	seen_at[commits] = protected_commits
	}
}

/* 40001: the transaction is rolled back; a retry takes a new snapshot. */
inline check_snapshot()
{
	if
	:: RULE == 0 || LATE_SNAPSHOT -> old = 0
	:: RULE == 1 -> old = waited
	:: RULE == 2 -> old = (row_commit > snapshot)
	:: RULE == 3 && advance -> old = (commits != snapshot)
	:: RULE >= 3 && !advance -> old = (row_commit > snapshot)
	:: RULE == 4 && advance ->
		old = (commits != snapshot &&
		       (row_commit > snapshot || noted > snapshot))
	fi
}

proctype holder(byte fence)
{
	byte snapshot, mine, todo = 2, tries = 3;
	bit waited, advance, old;

again:
	if :: todo == 0 || tries == 0 -> goto out :: else fi;
	tries--;
	snapshot = commits;
	atomic {
		/* look without a lock, to choose the mode */
		if
		:: stored_fence > fence -> goto out
		:: stored_fence < fence -> advance = 1
		:: else -> advance = 0
		fi;
		waited = (advance && (sharing || advancing)) || advancing
	}
	if
	:: atomic { advance && sharing == 0 && advancing == 0 -> advancing = fence }
	:: atomic { !advance && advancing == 0 -> sharing++ }
	fi;
	atomic {
		if :: stored_fence > fence -> goto leave :: else fi;
		check_snapshot();
		if :: old -> goto leave :: else fi;
		if :: LATE_SNAPSHOT -> snapshot = commits :: else fi
	}
	/* reads from its snapshot, computes, writes, commits */
	atomic {
		assert(seen_at[snapshot] == protected_commits);
		record_commit(1);
		if
		:: advance ->
			stored_fence = fence; stored_holder = fence;
			row_commit = commits; noted = 0
		:: else -> mine = commits;
			if :: NOTE -> noted = mine :: else fi
		fi;
		todo--;
		REACHED(fence == 2 && todo == 0 && protected_commits == 4)
	}
leave:
	atomic {
		if :: advance -> advancing = 0 :: else -> sharing-- fi;
		old = 0; waited = 0; advance = 0
	}
	atomic {
		if :: !NOTE && mine > noted -> noted = mine :: else fi;
		mine = 0;
		if :: stored_fence > fence -> goto out :: else -> goto again fi
	}
out:
	finished++
}

proctype bystander()
{
	record_commit(0);
	record_commit(0)
}

init {
	atomic { run holder(1); run holder(2); run bystander() }
}
