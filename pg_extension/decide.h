/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * decide.h
 *		The rule itself: one pure function, shared by guard and triggers.
 *
 * Includes nothing of PostgreSQL, so that tests and the simulation link the
 * very rule that the database runs.
 */
#ifndef RF_DECIDE_H
#define RF_DECIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum RfDecision
{
	RF_PASS,					/* equal, and the same holder */
	RF_ADVANCE,					/* greater: becomes the stored one */
	RF_REFUSE_COLLISION,		/* equal, but another holder */
	RF_REFUSE_STALE				/* lower */
} RfDecision;

/*
 * Greater is accepted, equal only from the same holder, lower never.  A holder
 * of NULL is the one without a name: it equals itself and nobody else.
 *
 * The usual rule (refuse lower) is not enough: a lock service that forgets
 * issues one number twice, and both would pass.
 */
static inline RfDecision
rf_decide(int64_t stored_fence, const char *stored_holder,
		  int64_t fence, const char *holder)
{
	if (fence > stored_fence)
		return RF_ADVANCE;
	if (fence < stored_fence)
		return RF_REFUSE_STALE;
	if (stored_holder == NULL || holder == NULL)
		return stored_holder == holder ? RF_PASS : RF_REFUSE_COLLISION;
	return strcmp(stored_holder, holder) == 0 ? RF_PASS : RF_REFUSE_COLLISION;
}

#endif							/* RF_DECIDE_H */
