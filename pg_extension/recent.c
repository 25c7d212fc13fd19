/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * recent.c
 *		Which transactions have lately worked under a claim.
 *
 * A first claim must not read from a snapshot that misses the old holder's
 * last write.  Without knowing whose commits those are, any commit in the whole
 * server since the snapshot would have to count.  So the last few transactions
 * that worked under each resource are kept in shared memory, by its hash.
 */
#include "recent.h"

#include "access/transam.h"
#include "access/xact.h"
#include "port/atomics.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"

#define N_BUCKETS	1024		/* resources that share one count as one */
#define N_RECENT	7

typedef struct RfBucket
{
	slock_t		mutex;
	int			next;			/* to be overwritten */
	uint64		forgotten;		/* the newest that was, or 0 */
	uint64		recent[N_RECENT];	/* 0: none */
} RfBucket;

typedef struct RfRecent
{
	/* Nothing is known of transactions before this one; 0: not yet set. */
	pg_atomic_uint64 first;
	RfBucket	buckets[N_BUCKETS];
} RfRecent;

static RfRecent *shared = NULL;

Size
rf_recent_size(void)
{
	return sizeof(RfRecent);
}

void
rf_recent_start(void *memory, bool found)
{
	int			i;

	shared = memory;
	if (found)
		return;
	memset(shared, 0, sizeof(RfRecent));
	pg_atomic_init_u64(&shared->first, 0);
	for (i = 0; i < N_BUCKETS; i++)
		SpinLockInit(&shared->buckets[i].mutex);
}

static RfBucket *
bucket_of(uint64 resource_hash)
{
	return &shared->buckets[resource_hash % N_BUCKETS];
}

/* Whoever comes first after a start sets it; a prepared transaction is older. */
static uint64
first_known(void)
{
	uint64		first = pg_atomic_read_u64(&shared->first);

	if (first == 0)
	{
		uint64		now = U64FromFullTransactionId(ReadNextFullTransactionId());

		if (pg_atomic_compare_exchange_u64(&shared->first, &first, now))
			first = now;
	}
	return first;
}

/* At the end of the transaction, before its locks are released: no errors. */
void
rf_recent_add(uint64 resource_hash)
{
	FullTransactionId xid = GetTopFullTransactionIdIfAny();
	RfBucket   *bucket;

	if (shared == NULL || !FullTransactionIdIsValid(xid))
		return;
	(void) first_known();
	bucket = bucket_of(resource_hash);
	SpinLockAcquire(&bucket->mutex);
	bucket->forgotten = Max(bucket->forgotten, bucket->recent[bucket->next]);
	bucket->recent[bucket->next] = U64FromFullTransactionId(xid);
	bucket->next = (bucket->next + 1) % N_RECENT;
	SpinLockRelease(&bucket->mutex);
}

/* Everything before this number had ended when the snapshot was taken. */
static uint64
full_xmin(Snapshot snapshot)
{
	uint64		now = U64FromFullTransactionId(ReadNextFullTransactionId());

	return now - (uint32) ((TransactionId) now - snapshot->xmin);
}

static bool
is_missed(uint64 xid, Snapshot snapshot)
{
	return xid >= full_xmin(snapshot) &&
		!TransactionIdIsCurrentTransactionId((TransactionId) xid) &&
		XidInMVCCSnapshot((TransactionId) xid, snapshot);
}

bool
rf_recent_all_known(uint64 resource_hash, Snapshot snapshot)
{
	RfBucket	copy;
	RfBucket   *bucket;
	int			i;

	if (shared == NULL)
		return false;
	bucket = bucket_of(resource_hash);
	SpinLockAcquire(&bucket->mutex);
	copy = *bucket;
	SpinLockRelease(&bucket->mutex);

	if (first_known() > full_xmin(snapshot) ||
		copy.forgotten >= full_xmin(snapshot))
		return false;
	for (i = 0; i < N_RECENT; i++)
		if (is_missed(copy.recent[i], snapshot))
			return false;
	return true;
}
