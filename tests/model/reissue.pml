/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Stale at birth: Redis forgot its counter and issues a number that the
 * database has long passed.  The holder may have its number raised above the
 * stored one and claim again, once, as long as Redis says the lock is its own.
 *
 * Must hold:
 *   no lost update (as in section.pml);
 *   a lock that lives is never taken from its holder by another's reissue;
 *   healing takes one round: a raised number is above the stored one that was
 *   the reason for it.
 *
 *   LATE     a section refused at its write may raise its number, too
 *   COMPARE  reissue compares the lock's value with the holder's first
 *   FLOOR    reissue is told the stored fence (otherwise it only counts on)
 */
#ifndef LATE
#define LATE 0
#endif
#ifndef COMPARE
#define COMPARE 1
#endif
#ifndef FLOOR
#define FLOOR 1
#endif

#include "rule.pml"

#define HOLDERS 3
#define MAX_FENCE 7

byte lock_holder = 0;           /* Redis: the lock's value is holder, fence */
byte lock_fence = 0;
byte counter = 0;
byte amnesias = 0;
byte value = 0;
byte committed = 0;
byte finished = 0;

/* floor is what the refusal told; stored_fence may have moved on since. */
inline reissue(id, fence, floor, raised)
{
	if
	:: counter < MAX_FENCE && floor < MAX_FENCE &&
	   (!COMPARE || (lock_holder == id && lock_fence == fence)) ->
		assert(lock_holder == id || lock_holder == 0);
		if :: FLOOR && counter < floor -> counter = floor :: else fi;
		counter++;
		fence = counter; lock_holder = id; lock_fence = fence;
		assert(fence > floor);
		raised = 1
	:: else -> raised = 0
	fi
}

proctype section(byte id)
{
	byte fence, seen, floor;
	bit accepted, raised, once;

	atomic {
		if
		:: lock_holder == 0 && counter < MAX_FENCE ->
			counter++; fence = counter;
			lock_holder = id; lock_fence = fence
		:: else -> goto out
		fi
	}
claim:
	atomic {
		guard(fence, id, accepted);
		if :: accepted -> seen = value; goto write :: else fi;
		floor = stored_fence
	}
	if :: once -> goto out :: else once = 1 fi;
	atomic { reissue(id, fence, floor, raised) };
	if :: raised -> goto claim :: else -> goto out fi;
write:
	atomic {
		guard(fence, id, accepted);
		if
		:: accepted -> value = seen + 1; committed++; goto out
		:: else -> floor = stored_fence
		fi
	}
	if
	:: LATE && !once ->
		once = 1;
		atomic { reissue(id, fence, floor, raised) };
		if :: raised -> goto write :: else fi
	:: else
	fi;
out:
	atomic {
		if
		:: lock_holder == id && lock_fence == fence -> lock_holder = 0
		:: else
		fi;
		finished++
	}
}

proctype world()
{
	do
	:: atomic { lock_holder != 0 -> lock_holder = 0 }
	:: atomic {
		amnesias < 2 ->
		amnesias++;
		if :: lock_holder = 0 :: skip fi;
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
