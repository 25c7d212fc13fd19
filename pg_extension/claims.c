/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claims.c
 *		What this transaction has claimed, across savepoints.
 *
 * A stack in order of time, which is also the order of nested
 * subtransactions: what a rolled back one claimed lies on top.  Buckets lead
 * from a resource to its newest claim.
 */
#include "claims.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "errcodes.h"
#include "recent.h"
#include "resource_lock.h"

#define FIRST_SIZE	32			/* a power of two, as all sizes */

static RfClaim *claims = NULL;
static int *buckets = NULL;
static int	n_claims = 0;
static int	size = 0;			/* of both arrays */

static int *
bucket_of(uint64 hash)
{
	return &buckets[hash & (uint64) (size - 1)];
}

static void
push_into_bucket(int i)
{
	int		   *bucket = bucket_of(claims[i].hash);

	claims[i].next = *bucket;
	*bucket = i;
}

/* Last in, first out: the top of the stack is first in its bucket. */
static void
pop(void)
{
	n_claims--;
	*bucket_of(claims[n_claims].hash) = claims[n_claims].next;
}

static void
make_room(void)
{
	int			new_size = size == 0 ? FIRST_SIZE : size * 2;
	int		   *new_buckets;
	int			i;

	if (n_claims < size)
		return;
	new_buckets = MemoryContextAllocHuge(TopMemoryContext,
										 new_size * sizeof(int));
	if (claims == NULL)
		claims = MemoryContextAllocHuge(TopMemoryContext,
										new_size * sizeof(RfClaim));
	else
		claims = repalloc_huge(claims, new_size * sizeof(RfClaim));
	if (buckets != NULL)
		pfree(buckets);
	buckets = new_buckets;
	size = new_size;
	for (i = 0; i < size; i++)
		buckets[i] = -1;
	for (i = 0; i < n_claims; i++)
		push_into_bucket(i);
}

static const RfClaim *
find(uint64 hash, const char *resource, Size len)
{
	int			i;

	if (n_claims == 0)
		return NULL;
	for (i = *bucket_of(hash); i >= 0; i = claims[i].next)
		if (claims[i].hash == hash && claims[i].resource_len == len &&
			memcmp(claims[i].resource, resource, len) == 0)
			return &claims[i];
	return NULL;
}

int64
rf_claimed_fence(const char *resource, Size len)
{
	const RfClaim *claim;

	if (n_claims == 0)
		return 0;
	claim = find(rf_resource_hash(resource, len), resource, len);
	return claim == NULL ? 0 : claim->fence;
}

const RfClaim *
rf_claim_find(const RfGrant *grant)
{
	return find(grant->hash, grant->name, grant->name_len);
}

const RfClaim *
rf_claim_require(const RfGrant *grant)
{
	const RfClaim *claim = rf_claim_find(grant);

	if (claim == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_RF_UNCLAIMED),
				 errmsg(RF_MSG_UNCLAIMED),
				 errdetail("Resource \"%.*s\".",
						   grant->name_len, grant->name),
				 errhint("Call ringfence.guard() first in this "
						 "transaction.")));
	return claim;
}

void
rf_claim_remember(const RfGrant *grant, const RfSeen *seen)
{
	int			holder_size = grant->holder ? strlen(grant->holder) + 1 : 0;
	char	   *text;
	RfClaim    *claim;

	make_room();
	text = MemoryContextAlloc(TopTransactionContext,
							  grant->name_len + holder_size);
	memcpy(text, grant->name, grant->name_len);
	if (holder_size > 0)
		memcpy(text + grant->name_len, grant->holder, holder_size);

	claim = &claims[n_claims];
	claim->hash = grant->hash;
	claim->fence = grant->fence;
	claim->resource = text;
	claim->resource_len = grant->name_len;
	claim->holder = holder_size > 0 ? text + grant->name_len : NULL;
	claim->seen = *seen;
	claim->subid = GetCurrentSubTransactionId();
	push_into_bucket(n_claims++);
}

/* Memory of a transaction with very many claims is given back. */
static void
forget_all(void)
{
	while (n_claims > 0)
		pop();
	if (size > 1024)
	{
		pfree(claims);
		pfree(buckets);
		claims = NULL;
		buckets = NULL;
		size = 0;
	}
}

/*
 * The claims are worth what the locks are.  Nothing in the server lets go of
 * them in mid-transaction, except for DISCARD ALL in a pipeline before the
 * minor releases of November 2022; should anything do so, nothing is
 * committed.
 */
static void
check_locks(void)
{
	int			i;

	for (i = 0; i < n_claims; i++)
		if (!rf_lock_is_held(claims[i].hash))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to a lost lock"),
					 errdetail("The lock that guards resource \"%.*s\" was "
							   "released before the transaction ended.",
							   claims[i].resource_len, claims[i].resource)));
}

/*
 * Its locks are still held, so a newer claim that waits for them finds the
 * note.  A prepared transaction commits later, under the same number; whether
 * it does is open, so its own new claims clear nothing.
 */
static void
note_work(bool has_committed)
{
	int			i;

	for (i = 0; i < n_claims; i++)
	{
		if (claims[i].seen.horizon == NULL)
			rf_recent_add(claims[i].hash);
		else if (has_committed)
			rf_recent_clear(claims[i].hash);
	}
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			check_locks();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			note_work(event == XACT_EVENT_COMMIT);
			forget_all();
			break;
		case XACT_EVENT_ABORT:
			forget_all();
			break;
		default:
			break;
	}
}

/* A transaction may roll back to a savepoint as often as it likes. */
static void
give_back(void)
{
	const RfClaim *claim = &claims[n_claims - 1];

	pfree(unconstify(char *, claim->resource));	/* with the holder */
	if (claim->seen.horizon != NULL)
		pfree(claim->seen.horizon);
	pop();
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId subid,
					  SubTransactionId parent, void *arg)
{
	int			i;

	if (event == SUBXACT_EVENT_ABORT_SUB)
		while (n_claims > 0 && claims[n_claims - 1].subid == subid)
			give_back();
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		for (i = n_claims - 1; i >= 0 && claims[i].subid == subid; i--)
			claims[i].subid = parent;
}

void
rf_claims_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
