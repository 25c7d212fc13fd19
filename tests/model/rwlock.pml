/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Read/write locks: readers share, a writer is alone.  Two readers and two
 * writers, one acquisition each; the lock may be lost at any moment, so that a
 * writer that still believes in it writes late.  A writer changes x and y in one
 * transaction; a reader reads x, then y, in two statements.
 *
 * The guard knows nothing of modes: it has one rule.  The numbers decide what
 * it makes of readers:
 *
 *   NUMBERS 0  a reader gets a number of its own and only compares at the end:
 *              no newer grant may have been claimed
 *   NUMBERS 1  a reader gets a number of its own and claims it
 *   NUMBERS 2  readers that share the lock share one number and one holder
 *              (the group's), and claim it
 *   WRITE      readers may write, too
 *
 * Must hold: a reading that was confirmed by the guard at its end is not torn;
 * no lost update; while no lock was lost and no writer came, a reader is never
 * refused because of another reader; a writer's fence is above every number
 * given out before it.
 */
#ifndef NUMBERS
#define NUMBERS 2
#endif
#ifndef WRITE
#define WRITE 0
#endif

#include "rule.pml"

#define GROUP 10                /* holders 10 and up are groups of readers */

byte readers = 0;               /* Redis: how many share it */
byte writer = 0;                /* Redis: who has it alone */
byte group_fence = 0;
byte group_holder = 0;
byte counter = 0;
byte lost = 0;                  /* how often Redis lost the lock */
byte writers_so_far = 0;

byte x = 0;                     /* PostgreSQL */
byte y = 0;
byte committed = 0;             /* writers that were told "committed" */
byte read_together = 0;         /* readings that were confirmed */
byte finished = 0;

inline join()
{
	if
	:: NUMBERS == 2 && readers > 0 ->
		fence = group_fence; holder = group_holder
	:: else ->
		counter++; fence = counter; holder = id;
		if
		:: NUMBERS == 2 ->
			holder = GROUP + counter;
			group_fence = fence; group_holder = holder
		:: else
		fi
	fi;
	readers++
}

proctype reader(byte id)
{
	byte fence, holder, saw_x, saw_y, losses, writers;
	bit accepted;

	atomic {
		if :: writer != 0 -> goto out :: else fi;
		join();
		losses = lost; writers = writers_so_far
	}
	atomic {
		if
		:: NUMBERS == 0 -> accepted = 1
		:: else ->
			guard(fence, holder, accepted);
			if
			:: !accepted ->
				assert(losses != lost || writers != writers_so_far);
				goto leave
			:: else
			fi
		fi;
		saw_x = x
	}
	atomic {
		saw_y = y;
		/* at the end of its reading the reader asks once more */
		if
		:: NUMBERS == 0 -> accepted = (stored_fence < fence)
		:: else -> guard(fence, holder, accepted)
		fi;
		if
		:: accepted -> assert(saw_x == saw_y); read_together++
		:: else -> assert(losses != lost || writers != writers_so_far);
			goto leave
		fi
	}
	if
	:: WRITE -> atomic {
		guard(fence, holder, accepted);
		if :: accepted -> x = saw_x + 1; y = saw_x + 1; committed++ :: else fi
		}
	:: else
	fi;
leave:
	atomic {
		/* only what is still ours: Redis compares the members of the group */
		if :: losses == lost && readers > 0 -> readers-- :: else fi
	}
out:
	finished++
}

proctype writing(byte id)
{
	byte fence, seen, losses;
	bit accepted;

	atomic {
		if :: writer != 0 || readers > 0 -> goto out :: else fi;
		counter++; fence = counter; writer = id;
		assert(fence > stored_fence);
		writers_so_far++; losses = lost
	}
	atomic {
		guard(fence, id, accepted);
		if :: accepted -> seen = x :: else -> goto leave fi
	}
	atomic {
		guard(fence, id, accepted);
		if
		:: accepted -> x = seen + 1; y = seen + 1; committed++
		:: else
		fi
	}
leave:
	atomic { if :: writer == id && losses == lost -> writer = 0 :: else fi };
out:
	finished++
}

/* Redis loses the lock, whoever has it: run out, evicted, failed over. */
proctype world()
{
end1:	atomic { readers > 0 || writer != 0 -> readers = 0; writer = 0; lost++ };
end2:	atomic { readers > 0 || writer != 0 -> readers = 0; writer = 0; lost++ }
}

init {
	atomic {
		run reader(1); run reader(2); run writing(3); run writing(4);
		run world()
	}
	finished == 4;
	REACHED(read_together == 2 && committed == 2);
	assert(x == committed && y == committed)
}
