/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * Once: an operation whose outcome is unknown is sent again.  The first
 * attempt may have been committed, may have died, or may still be under way
 * and commit after the second one was sent.
 *
 * Must hold: once the client has been told that the operation is done, it has
 * been applied exactly once; before that, at most once.
 *
 *   SAME_TXN  receipt and effect commit together; 0: the receipt first, in a
 *             transaction of its own; 2: the effect first, the receipt after
 *   WAIT      a second attempt waits for an uncommitted receipt of the first
 *             (a unique index does); otherwise it only looks for committed ones
 *   PRUNE     receipts may be deleted while an attempt is still under way
 *   RECEIPT   there is a receipt at all
 */
#ifndef SAME_TXN
#define SAME_TXN 1
#endif
#ifndef WAIT
#define WAIT 1
#endif
#ifndef PRUNE
#define PRUNE 0
#endif
#ifndef RECEIPT
#define RECEIPT 1
#endif

#include "reached.pml"

#define ATTEMPTS 3

bit receipt = 0;                /* committed */
byte writing = 0;               /* attempt that has an uncommitted receipt */
byte applied = 0;               /* committed effects of the operation */
bit done = 0;                   /* what the client was told */
byte sent = 0;
byte over = 0;                  /* attempts answered, dead or given up on */

inline take_receipt(id)
{
	atomic {
		if
		:: receipt -> answer = 0
		:: !receipt && (!WAIT || writing == 0) -> writing = id; answer = 1
		fi
	}
}

/* One attempt at the server: it may die before any of its commits. */
proctype attempt(byte id)
{
	bit answer;

	if :: skip :: goto dead fi;     /* the request was lost */
	if
	:: RECEIPT && SAME_TXN != 2 -> take_receipt(id)
	:: RECEIPT && SAME_TXN == 2 -> answer = !receipt
	:: !RECEIPT -> answer = 1
	fi;
	if
	:: SAME_TXN == 1 ->
		if :: skip :: goto dead fi;
		atomic {
			if :: answer -> applied++; receipt = RECEIPT :: else fi;
			if :: writing == id -> writing = 0 :: else fi
		}
	:: SAME_TXN == 0 ->
		atomic {
			if :: answer -> receipt = 1 :: else fi;
			if :: writing == id -> writing = 0 :: else fi
		}
		if :: skip :: goto dead fi;
		if :: answer -> applied++ :: else fi
	:: SAME_TXN == 2 ->
		if :: answer -> applied++ :: else fi;
		if :: skip :: goto dead fi;
		receipt = 1
	fi;
	assert(applied <= 1);
	atomic {
		if
		:: done = 1; assert(applied == 1);
			REACHED(sent == ATTEMPTS && over == 2)
		:: skip                 /* the reply was lost */
		fi
	}
dead:
	atomic { if :: writing == id -> writing = 0 :: else fi; over++ }
}

/* Sends again as long as it has not heard, without waiting for the old one. */
proctype client()
{
	do
	:: atomic { !done && sent < ATTEMPTS -> sent++; run attempt(sent) }
	:: done || sent == ATTEMPTS -> break
	od
}

proctype pruning()
{
end:	do
	:: PRUNE -> receipt = 0
	od
}

init {
	atomic { run client(); run pruning() }
}
