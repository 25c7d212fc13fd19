/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * guard.h
 *		The claim of a grant, for those who have its lock already.
 */
#ifndef RF_GUARD_H
#define RF_GUARD_H

#include "postgres.h"

#include "storage/lock.h"

#include "decide.h"
#include "grant.h"
#include "registry.h"

/*
 * Under the resource's lock, in that mode: look again, decide, store what is
 * newer and remember the claim.  RF_ADVANCE means that the mode was too weak, or
 * that somebody wrote by hand: once more.  guard_function is the function that
 * the user has called; a statement that calls nothing else reads nothing.
 */
extern RfDecision rf_claim_locked(const RfGrant *grant, LOCKMODE mode,
								  RfRow *row, Oid guard_function);

/* The same for who has looked already, under that lock. */
extern RfDecision rf_claim_seen(const RfGrant *grant, LOCKMODE mode,
								const RfRow *row, Oid guard_function);

#endif							/* RF_GUARD_H */
