/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * recent.c
 *		Which transactions have lately worked under a claim.
 *
 * A first claim must not read from a snapshot that misses the old holder's
 * last write.  Without knowing whose commits those are, any commit in the whole
 * server since the snapshot would have to count.  So the transactions that
 * worked under a resource's newest claim are kept in shared memory.
 */
#include "recent.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/procarray.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"

#define N_SLOTS		8192
#define N_RECENT	10

/* A transaction that has worked under the newest claim of a resource. */
typedef struct RfWork
{
	uint64		hash;			/* of resource and database */
	uint64		xid;			/* 0: none */
} RfWork;

/* Of all resources whose hash leads here. */
typedef struct RfSlot
{
	slock_t		mutex;
	int			next;			/* of recent, to be overwritten */
	uint64		forgotten;		/* the newest that was overwritten, or 0 */
	RfWork		recent[N_RECENT];
} RfSlot;

typedef struct RfRecent
{
	/* Nothing is known of transactions before this one; 0: not yet set. */
	pg_atomic_uint64 first;
	RfSlot		slots[N_SLOTS];
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
	for (i = 0; i < N_SLOTS; i++)
		SpinLockInit(&shared->slots[i].mutex);
}

static RfSlot *
slot_of(uint64 resource_hash)
{
	return &shared->slots[resource_hash % N_SLOTS];
}

/* One name in two databases is two resources. */
static uint64
in_database(uint64 resource_hash)
{
	return hash_combine64(resource_hash, MyDatabaseId);
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
	RfSlot	   *slot;

	if (shared == NULL || !FullTransactionIdIsValid(xid))
		return;
	(void) first_known();
	resource_hash = in_database(resource_hash);
	slot = slot_of(resource_hash);
	SpinLockAcquire(&slot->mutex);
	slot->forgotten = Max(slot->forgotten, slot->recent[slot->next].xid);
	slot->recent[slot->next].hash = resource_hash;
	slot->recent[slot->next].xid = U64FromFullTransactionId(xid);
	slot->next = (slot->next + 1) % N_RECENT;
	SpinLockRelease(&slot->mutex);
}

void
rf_recent_clear(uint64 resource_hash)
{
	RfSlot	   *slot;
	int			i;

	if (shared == NULL)
		return;
	(void) first_known();
	resource_hash = in_database(resource_hash);
	slot = slot_of(resource_hash);
	SpinLockAcquire(&slot->mutex);
	for (i = 0; i < N_RECENT; i++)
		if (slot->recent[i].hash == resource_hash)
			slot->recent[i].xid = 0;
	SpinLockRelease(&slot->mutex);
}

static uint64
full(TransactionId xid)
{
	uint64		now = U64FromFullTransactionId(ReadNextFullTransactionId());

	return now - (uint32) ((TransactionId) now - xid);
}

/*
 * Of the transactions up to that one, the snapshot may have missed those that
 * ran when it was taken.  Who still runs has not worked under a claim that the
 * caller has the lock of: so somebody's long transaction does no harm.
 */
static bool
knows_all_up_to(Snapshot snapshot, uint64 xid)
{
	uint32		i;

	if (xid >= full(snapshot->xmax))
		return false;
	for (i = 0; i < snapshot->xcnt; i++)
		if (full(snapshot->xip[i]) <= xid &&
			!TransactionIdIsInProgress(snapshot->xip[i]))
			return false;
	return true;
}

static bool
is_missed(uint64 xid, Snapshot snapshot)
{
	return xid >= full(snapshot->xmin) &&
		!TransactionIdIsCurrentTransactionId((TransactionId) xid) &&
		XidInMVCCSnapshot((TransactionId) xid, snapshot);
}

bool
rf_recent_all_known(uint64 resource_hash, Snapshot snapshot)
{
	RfSlot		copy;
	RfSlot	   *slot;
	int			i;

	if (shared == NULL)
		return false;
	resource_hash = in_database(resource_hash);
	slot = slot_of(resource_hash);
	SpinLockAcquire(&slot->mutex);
	copy = *slot;
	SpinLockRelease(&slot->mutex);

	if (!knows_all_up_to(snapshot, Max(first_known() - 1, copy.forgotten)))
		return false;
	for (i = 0; i < N_RECENT; i++)
		if (copy.recent[i].hash == resource_hash &&
			is_missed(copy.recent[i].xid, snapshot))
			return false;
	return true;
}
