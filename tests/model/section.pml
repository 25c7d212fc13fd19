/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Three holders run one critical section each: take the lock, claim, read,
 * compute, write.  The lock may run out at any moment; with FORGETS, Redis may
 * twice lose the lock and rewind its counter (fail-over to a lagging replica,
 * FLUSHALL, eviction, restart without data).
 *
 * Must hold: every section that was told "committed" is visible in the value
 * at the end.  Each adds one, so value equals their number: no lost update.
 *
 *   BIND          an equal fence passes only from the same holder (rule.pml)
 *   CLAIM         a section presents its grant before it reads
 *   FORGETS       Redis may forget
 *   REACQUIRE     a section refused at its write takes the lock again, with a
 *                 new number, and writes what it had computed
 */
#ifndef CLAIM
#define CLAIM 1
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#ifndef REACQUIRE
#define REACQUIRE 0
#endif

#include "rule.pml"

#define HOLDERS 3
#define MAX_FENCE 6

byte lock_holder = 0;           /* Redis: 0 is free */
byte counter = 0;               /* Redis */
byte amnesias = 0;
byte value = 0;                 /* PostgreSQL: the protected data */
byte committed = 0;
byte finished = 0;

inline take_lock(id, fence)
{
	if
	:: lock_holder == 0 && counter < MAX_FENCE ->
		counter++; fence = counter; lock_holder = id
	:: else -> goto out
	fi
}

proctype section(byte id)
{
	byte fence, seen;
	bit accepted, again;

	atomic { take_lock(id, fence) };
	if
	:: CLAIM ->
		atomic {
			guard(fence, id, accepted);
			if
			:: accepted -> seen = value
			:: else -> goto out
			fi
		}
	:: else -> seen = value
	fi;
write:
	atomic {
		guard(fence, id, accepted);
		if
		:: accepted -> value = seen + 1; committed++
		:: !accepted && REACQUIRE && !again ->
			again = 1; take_lock(id, fence); goto write
		:: else
		fi
	}
out:
	atomic { if :: lock_holder == id -> lock_holder = 0 :: else fi };
	finished++
}

proctype world()
{
	do
	:: atomic { lock_holder != 0 -> lock_holder = 0 }
	:: atomic {
		FORGETS && amnesias < 2 ->
		amnesias++; lock_holder = 0;
		if :: counter > 0 -> counter-- :: counter = 0 fi
	}
	:: finished == HOLDERS -> break
	od
}

init {
	atomic { run section(1); run section(2); run section(3); run world() }
	finished == HOLDERS;
	REACHED(committed == HOLDERS && amnesias == 2);
	assert(value == committed)
}
