/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * guard.c
 *		guard() and try_guard(): look, lock, look again, decide, advance.
 *
 * What holds: once a claim has committed, no transaction with an older grant
 * commits a write for that resource.  So transactions of one grant run side
 * by side, a newer claim excludes them, and the hold lasts to the commit.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "checks.h"
#include "claims.h"
#include "decide.h"
#include "errcodes.h"
#include "grant.h"
#include "guard.h"
#include "lease.h"
#include "old_snapshot.h"
#include "preempt.h"
#include "registry.h"
#include "resource_lock.h"
#include "stats.h"

PG_FUNCTION_INFO_V1(ringfence_guard);
PG_FUNCTION_INFO_V1(ringfence_try_guard);

enum
{
	ARG_RESOURCE,
	ARG_FENCE,
	ARG_HOLDER,
	ARG_LEASE,
	ARG_PREEMPT
};

/* How the grant is to be claimed. */
typedef struct RfManner
{
	Oid			guard_function;
	TimestampTz lease_end;		/* 0: none */
	bool		preempt;
} RfManner;

static void
read_grant(FunctionCallInfo fcinfo, RfGrant *grant)
{
	rf_check_not_null(fcinfo, ARG_RESOURCE, "resource");
	rf_check_not_null(fcinfo, ARG_FENCE, "fence");
	rf_grant_set_resource(grant, PG_GETARG_TEXT_PP(ARG_RESOURCE));
	grant->fence = PG_GETARG_INT64(ARG_FENCE);
	rf_check_fence(grant->fence);
	grant->holder = NULL;
	if (!PG_ARGISNULL(ARG_HOLDER))
		rf_grant_set_holder(grant, PG_GETARG_TEXT_PP(ARG_HOLDER));
}

static void
read_manner(FunctionCallInfo fcinfo, RfManner *manner)
{
	rf_check_not_null(fcinfo, ARG_PREEMPT, "argument preempt");
	manner->guard_function = fcinfo->flinfo->fn_oid;
	manner->preempt = PG_GETARG_BOOL(ARG_PREEMPT);
	manner->lease_end = PG_ARGISNULL(ARG_LEASE) ? 0 :
		rf_lease_end(PG_GETARG_INTERVAL_P(ARG_LEASE));
}

static const char *
show_holder(const char *holder)
{
	return holder == NULL ? "without a name" : psprintf("\"%s\"", holder);
}

static void
raise_retired(RfDecision decision, const RfGrant *grant, const RfRow *row)
{
	bool		is_stale = decision == RF_REFUSE_STALE;

	ereport(ERROR,
			(errcode(is_stale ? ERRCODE_RF_STALE : ERRCODE_RF_COLLISION),
			 errmsg(is_stale ? RF_MSG_STALE : RF_MSG_COLLISION),
			 errdetail("Resource \"%.*s\" is not known or has been retired: "
					   "fence %lld of holder %s is not above the floor %lld.",
					   grant->name_len, grant->name,
					   (long long) grant->fence,
					   show_holder(grant->holder),
					   (long long) row->fence),
			 errhint("Acquire the resource anew, with a fence above the "
					 "floor.")));
}

static void
raise_refusal(RfDecision decision, const RfGrant *grant, const RfRow *row)
{
	if (row->is_retired)
		raise_retired(decision, grant, row);
	if (decision == RF_REFUSE_STALE)
		ereport(ERROR,
				(errcode(ERRCODE_RF_STALE),
				 errmsg(RF_MSG_STALE),
				 errdetail("Resource \"%.*s\": fence %lld of holder %s is "
						   "below the stored fence %lld of holder %s.",
						   grant->name_len, grant->name,
						   (long long) grant->fence,
						   show_holder(grant->holder),
						   (long long) row->fence,
						   show_holder(row->holder)),
				 errhint("A newer holder has claimed the resource. Give up "
						 "what was computed from it; do not retry.")));
	ereport(ERROR,
			(errcode(ERRCODE_RF_COLLISION),
			 errmsg(RF_MSG_COLLISION),
			 errdetail("Resource \"%.*s\": fence %lld of holder %s is already "
					   "stored for holder %s.",
					   grant->name_len, grant->name,
					   (long long) grant->fence,
					   show_holder(grant->holder),
					   show_holder(row->holder)),
			 errhint("The fence was issued twice. Give up what was computed "
					 "from the resource; do not retry.")));
}

static void
raise_reads_the_past(const RfGrant *grant)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to a snapshot older than "
					"the claim"),
			 errdetail("Resource \"%.*s\": fence %lld was accepted, but this "
					   "statement could read what was there before.",
					   grant->name_len, grant->name,
					   (long long) grant->fence),
			 errhint("Retry the transaction, with the guard as its first "
					 "statement.")));
}

static bool
same_holder(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

/*
 * This transaction holds the lock since its claim, so nothing can have
 * changed: a repeated call costs next to nothing.
 */
static bool
is_claimed(const RfGrant *grant, Oid guard_function)
{
	const RfClaim *claim = rf_claim_find(grant);

	if (claim == NULL || claim->fence != grant->fence ||
		!same_holder(claim->holder, grant->holder) ||
		!rf_lock_is_held(grant->hash))
		return false;
	if (rf_reads_the_past(&claim->seen, guard_function))
		raise_reads_the_past(grant);
	return true;
}

/* Only a newer fence is written; an unchanged one leaves no trace. */
static bool
advance(const RfGrant *grant, const RfRow *row)
{
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("Resource \"%.*s\": a newer fence cannot be stored "
						   "in a read-only transaction.",
						   grant->name_len, grant->name)));
	if (!rf_registry_store(grant, row))
		return false;
	/* Forgotten in a crash, the old holder would be let in again. */
	ForceSyncCommit();
	rf_count(RF_COUNT_ADVANCES);
	return true;
}

/*
 * Share is for those who passed with the stored fence: so an advancing
 * transaction can be told from all others by its lock.
 */
static void
downgrade(const RfGrant *grant)
{
	rf_lock(grant->hash, RF_SHARED);
	rf_unlock(grant->hash, RF_EXCLUSIVE);
}

RfDecision
rf_claim_seen(const RfGrant *grant, LOCKMODE mode, const RfRow *row,
			  Oid guard_function)
{
	RfSeen		seen = {InvalidTransactionId, InvalidCommandId, NULL, 0};
	RfDecision	decision;

	decision = rf_decide(row->fence, row->holder, grant->fence, grant->holder);
	if (decision == RF_ADVANCE && mode != RF_EXCLUSIVE)
		return RF_ADVANCE;
	if (decision != RF_ADVANCE && decision != RF_PASS)
		return decision;

	seen.resource_hash = grant->hash;
	seen.row_xmin = row->xmin;
	seen.row_cmin = row->cmin;
	if (decision == RF_ADVANCE || TransactionIdIsCurrentTransactionId(row->xmin))
		seen.horizon = rf_horizon_now();
	if (rf_reads_the_past(&seen, guard_function))
		raise_reads_the_past(grant);
	if (decision == RF_ADVANCE && !advance(grant, row))
		return RF_ADVANCE;
	if (decision == RF_PASS && mode == RF_EXCLUSIVE)
		downgrade(grant);
	rf_claim_remember(grant, &seen);
	return RF_PASS;
}

RfDecision
rf_claim_locked(const RfGrant *grant, LOCKMODE mode, RfRow *row,
				Oid guard_function)
{
	rf_registry_look(grant, row);
	return rf_claim_seen(grant, mode, row, guard_function);
}

static void
lock_resource(const RfGrant *grant, LOCKMODE mode, bool preempt)
{
	if (mode == RF_EXCLUSIVE && preempt)
		rf_lock_preempting(grant);
	else
		rf_lock(grant->hash, mode);
}

/*
 * The grant that this backend saw last, most likely still the stored one: the
 * lock first, if it can be had at once, and one look instead of two.  Anything
 * else than a pass is found out the usual way.
 */
static bool
claim_as_before(const RfGrant *grant, RfRow *row, Oid guard_function)
{
	if (!rf_registry_was(grant) || !rf_try_lock(grant->hash, RF_SHARED))
		return false;
	if (rf_claim_locked(grant, RF_SHARED, row, guard_function) == RF_PASS)
		return true;
	rf_unlock(grant->hash, RF_SHARED);
	return false;
}

/*
 * The mode of the lock is chosen by an unlocked look: raising it later is how
 * two claims deadlock.  Stored fences only rise, so a refusal by that look is
 * final and need not wait.
 */
static RfDecision
claim(const RfGrant *grant, const RfManner *manner, RfRow *row)
{
	RfDecision	decision;
	LOCKMODE	mode;

	if (claim_as_before(grant, row, manner->guard_function))
		return RF_PASS;
	rf_registry_look(grant, row);
	decision = rf_decide(row->fence, row->holder, grant->fence, grant->holder);
	while (decision == RF_ADVANCE || decision == RF_PASS)
	{
		CHECK_FOR_INTERRUPTS();
		mode = decision == RF_PASS ? RF_SHARED : RF_EXCLUSIVE;
		lock_resource(grant, mode, manner->preempt);
		decision = rf_claim_locked(grant, mode, row, manner->guard_function);
		if (decision == RF_PASS)
			return RF_PASS;
		rf_unlock(grant->hash, mode);
	}
	return decision;
}

/*
 * The lease counts from before the wait.  A repeated claim costs next to
 * nothing, and may shorten it; a refused one leaves it as it was.
 */
static RfDecision
claim_for(const RfGrant *grant, const RfManner *manner, RfRow *row)
{
	TimestampTz previous = 0;
	RfDecision	decision;

	if (manner->lease_end != 0)
		previous = rf_lease_limit(manner->lease_end);
	if (is_claimed(grant, manner->guard_function))
		return RF_PASS;
	decision = claim(grant, manner, row);
	if (decision != RF_PASS && manner->lease_end != 0)
		rf_lease_restore(previous);
	return decision;
}

static RfDecision
judge(FunctionCallInfo fcinfo, RfGrant *grant, RfRow *row)
{
	RfManner	manner;
	RfDecision	decision;

	rf_check_server();
	read_grant(fcinfo, grant);
	read_manner(fcinfo, &manner);
	rf_count(RF_COUNT_CHECKS);
	decision = claim_for(grant, &manner, row);
	if (decision == RF_REFUSE_STALE)
		rf_count(RF_COUNT_STALE);
	else if (decision == RF_REFUSE_COLLISION)
		rf_count(RF_COUNT_COLLISION);
	return decision;
}

Datum
ringfence_guard(PG_FUNCTION_ARGS)
{
	RfGrant		grant;
	RfRow		row;
	RfDecision	decision = judge(fcinfo, &grant, &row);

	if (decision != RF_PASS)
		raise_refusal(decision, &grant, &row);
	PG_RETURN_BOOL(true);
}

/* So that UPDATE ... WHERE ringfence.try_guard(...) touches no row. */
Datum
ringfence_try_guard(PG_FUNCTION_ARGS)
{
	RfGrant		grant;
	RfRow		row;

	PG_RETURN_BOOL(judge(fcinfo, &grant, &row) == RF_PASS);
}
