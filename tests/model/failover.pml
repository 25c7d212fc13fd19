/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * The database forgets: it fails over to a standby that lagged, or is restored
 * from a backup.  The state goes back to an earlier moment, registry and data
 * together, and Redis remembers all.
 *
 * Sections as in section.pml, claim first, equal only from the same holder.
 * What was committed and lost with the old server is nobody's fault here: the
 * count of committed sections goes back as well.
 *
 * Must hold: no update is lost of those that the new server has, and none is
 * computed from what it never had.
 *
 *   FIND  a write in mid-section passes only if the stored claim is its own;
 *         otherwise it may advance, as a first claim does
 */
#ifndef FIND
#define FIND 1
#endif

#include "rule.pml"

#define HOLDERS 3

byte lock_holder = 0;
byte counter = 0;
byte value = 0;
byte committed = 0;
byte finished = 0;

bit kept = 0, failed_over = 0;  /* what the standby has */
byte kept_fence, kept_holder, kept_value, kept_committed;

proctype section(byte id)
{
	byte fence, seen;
	bit accepted;

	atomic {
		if
		:: lock_holder == 0 -> counter++; fence = counter; lock_holder = id
		:: else -> goto out
		fi
	}
	atomic {
		guard(fence, id, accepted);
		if :: accepted -> seen = value :: else -> goto out fi
	}
	atomic {
		if
		:: FIND -> accepted = (stored_fence == fence && stored_holder == id)
		:: else -> guard(fence, id, accepted)
		fi;
		if
		:: accepted ->
			value = seen + 1; committed++;
			REACHED(failed_over && committed == HOLDERS - 1)
		:: else
		fi
	}
out:
	atomic { if :: lock_holder == id -> lock_holder = 0 :: else fi; finished++ }
}

proctype world()
{
	do
	:: atomic { lock_holder != 0 -> lock_holder = 0 }
	:: atomic {
		!kept -> kept = 1;
		kept_fence = stored_fence; kept_holder = stored_holder;
		kept_value = value; kept_committed = committed
	}
	:: atomic {
		kept && !failed_over -> failed_over = 1;
		stored_fence = kept_fence; stored_holder = kept_holder;
		value = kept_value; committed = kept_committed
	}
	:: finished == HOLDERS -> break
	od
}

init {
	atomic { run section(1); run section(2); run section(3); run world() }
	finished == HOLDERS;
	assert(value == committed)
}
