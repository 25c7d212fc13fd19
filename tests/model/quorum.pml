/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * A fence from three independent masters.  Two clients acquire at the same
 * time; the lock on any node may run out at any moment, any request or reply
 * may be lost.
 *
 * Step 1 takes the lock on a majority, where each node counts up by itself;
 * the fence is the largest number.  Step 2 raises the counter to the fence on
 * a majority of nodes.
 *
 * Must hold: a granted fence is unique, and above every fence whose grant was
 * complete before this acquisition began.
 *
 *   RAISE         step 2 takes place
 *   CHECK_HOLDER  step 2 counts a node only if the lock there is still ours
 *   OWN_MAX       a node that issued the largest number itself counts for
 *                 step 2 without being asked again
 *   FORGET        a node may lose lock and counter once
 */
#ifndef RAISE
#define RAISE 1
#endif
#ifndef CHECK_HOLDER
#define CHECK_HOLDER 1
#endif
#ifndef OWN_MAX
#define OWN_MAX 1
#endif
#ifndef FORGET
#define FORGET 0
#endif

#include "reached.pml"

#define NODES 3
#define MAJORITY 2

byte lock_of[NODES];
byte counter[NODES];
byte granted_to[20];            /* by fence */
byte newest = 0;
bit forgot = 0;

inline take(n)
{
	atomic {
		if
		:: lock_of[n] == 0 ->
			lock_of[n] = id; counter[n]++;
			if
			:: issued[n] = counter[n]; votes++;
				if :: issued[n] > fence -> fence = issued[n] :: else fi
			:: skip         /* the reply was lost */
			fi
		:: skip                 /* held by another, or unreachable */
		fi;
		n++
	}
}

inline raise(n)
{
	atomic {
		if
		:: OWN_MAX && issued[n] == fence -> votes++
		:: !(OWN_MAX && issued[n] == fence) && issued[n] &&
		   (!CHECK_HOLDER || lock_of[n] == id) ->
			if :: counter[n] < fence -> counter[n] = fence :: else fi;
			if :: votes++ :: skip fi
		:: !(OWN_MAX && issued[n] == fence)     /* refused or unreachable */
		fi;
		issued[n] = 0;          /* not looked at again: fewer states */
		n++
	}
}

proctype client(byte id)
{
	byte n, fence, votes, older;
	byte issued[NODES];

	older = newest;
	do
	:: n < NODES -> take(n)
	:: else -> break
	od;
	atomic { if :: votes < MAJORITY -> goto out :: else -> n = 0 fi }

	if
	:: RAISE ->
		votes = 0;
		do
		:: n < NODES -> raise(n)
		:: else -> break
		od
	:: else
	fi;

	atomic {
		if :: votes < MAJORITY -> goto out :: else fi;
		assert(granted_to[fence] == 0);
		assert(fence > older);
		granted_to[fence] = id;
		REACHED(newest > 0);
		if :: fence > newest -> newest = fence :: else fi
	}
out:
	skip                    /* locks that are left over run out: world() */
}

proctype world()
{
end:	do
	:: atomic { lock_of[0] -> lock_of[0] = 0 }
	:: atomic { lock_of[1] -> lock_of[1] = 0 }
	:: atomic { lock_of[2] -> lock_of[2] = 0 }
	:: atomic { FORGET && !forgot -> forgot = 1; lock_of[0] = 0; counter[0] = 0 }
	:: atomic { FORGET && !forgot -> forgot = 1; lock_of[1] = 0; counter[1] = 0 }
	:: atomic { FORGET && !forgot -> forgot = 1; lock_of[2] = 0; counter[2] = 0 }
	od
}

init {
	atomic {
		if :: counter[0] = 3 :: counter[0] = 0 fi;
		if :: counter[1] = 4 :: counter[1] = 0 fi;
		counter[2] = 2;
		run client(1); run client(2); run world()
	}
}
