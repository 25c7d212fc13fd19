/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Retirement: the registry row of an idle resource is deleted, after one
 * global floor was raised to its fence.  An absent row then means "at least
 * the floor": only a greater fence is accepted, whoever the holder.
 *
 * Three sections with numbers chosen by an adversary (any of 1 to 3, the same
 * one twice if it likes) claim and write in two transactions each; retire runs
 * twice, at any moments.  The guard looks in separate steps, as real code must.
 *
 * Must hold: no lost update; fences never go down in commit order; one number
 * never writes for two holders.
 *
 *   LOCK         retire takes the resource's lock, as an advance does
 *   FLOOR        retire raises the floor at all
 *   FLOOR_FIRST  the guard reads the floor before the row (otherwise after)
 *   FRESH        the guard looks after it has the lock, not before
 *   EQUAL        an absent row accepts a fence equal to the floor
 *   TOGETHER     floor and deletion commit as one transaction
 */
#ifndef LOCK
#define LOCK 1
#endif
#ifndef FLOOR
#define FLOOR 1
#endif
#ifndef FLOOR_FIRST
#define FLOOR_FIRST 0
#endif
#ifndef FRESH
#define FRESH 1
#endif
#ifndef EQUAL
#define EQUAL 0
#endif
#ifndef TOGETHER
#define TOGETHER 1
#endif

#include "reached.pml"

#define HOLDERS 3

byte row_fence = 0;             /* 0: no row */
byte row_holder = 0;
byte floor = 0;
byte locked_by = 0;             /* the resource's exclusive lock */

byte value = 0;                 /* the protected data */
byte committed = 0;
byte finished = 0;
byte last_fence = 0;            /* of the last committed write */
byte owner_of[4];               /* by fence: who has written with it */

inline unlock()
{
	locked_by = 0
}

/* What a transaction sees of registry and floor, in two steps. */
inline look()
{
	if
	:: FLOOR_FIRST -> saw_floor = floor;
		atomic { saw_fence = row_fence; saw_holder = row_holder }
	:: else ->
		atomic { saw_fence = row_fence; saw_holder = row_holder };
		saw_floor = floor
	fi
}

/* The rule, with the floor for an absent row. */
inline decide()
{
	if
	:: saw_fence == 0 ->
		accepted = (fence > saw_floor || (EQUAL && fence == saw_floor));
		passed = 0
	:: saw_fence > 0 && fence > saw_fence -> accepted = 1; passed = 0
	:: saw_fence > 0 && fence == saw_fence -> accepted = (saw_holder == id); passed = 1
	:: else -> accepted = 0
	fi
}

proctype section(byte id)
{
	byte fence, seen, saw_fence, saw_holder, saw_floor;
	bit accepted, passed, writing;

	if :: fence = 1 :: fence = 2 :: fence = 3 fi;
again:
	if :: !FRESH -> look() :: else fi;
	atomic { locked_by == 0 -> locked_by = id };
	if :: FRESH -> look() :: else fi;
	atomic {
		decide();
		saw_fence = 0; saw_holder = 0; saw_floor = 0;
		if :: !accepted -> unlock(); goto out :: else fi;
		/* an equal fence writes nothing, even if the row went meanwhile */
		if :: !passed -> row_fence = fence; row_holder = id :: else fi;
		if
		:: !writing -> seen = value; writing = 1; unlock(); goto again
		:: else
		fi;
		assert(fence >= last_fence);
		assert(owner_of[fence] == 0 || owner_of[fence] == id);
		last_fence = fence; owner_of[fence] = id;
		value = seen + 1; committed++;
		unlock()
	}
out:
	finished++
}

proctype retire()
{
	byte round, doomed;

	do
	:: round < 2 ->
		round++;
		if
		:: LOCK -> atomic { locked_by == 0 -> locked_by = HOLDERS + 1 }
		:: else
		fi;
		doomed = row_fence;
		if
		:: !TOGETHER ->
			atomic { if :: row_fence == doomed -> row_fence = 0 :: else fi };
			if :: skip :: goto dead fi;
			atomic { if :: floor < doomed -> floor = doomed :: else fi }
		:: else -> atomic {
			if
			:: row_fence == doomed ->
				row_fence = 0;
				if :: FLOOR && floor < doomed -> floor = doomed :: else fi
			:: else         /* moved on: not idle */
			fi
			}
		fi;
		doomed = 0;
		if :: LOCK -> unlock() :: else fi
	:: else -> break
	od;
dead:
	if :: LOCK && locked_by == HOLDERS + 1 -> unlock() :: else fi
}

init {
	atomic { run section(1); run section(2); run section(3); run retire() }
	finished == HOLDERS;
	REACHED(committed == HOLDERS && floor == 2);
	assert(value == committed)
}
