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
#include "storage/spin.h"
#include "utils/snapmgr.h"

#define N_SLOTS		8192
#define N_RECENT	15

/* For one resource at a time, of those whose hash leads here. */
typedef struct RfSlot
{
	slock_t		mutex;
	int			next;			/* of recent, to be overwritten */
	uint64		hash;			/* of resource and database */
	uint64		collided;		/* the newest known for another resource */
	uint64		forgotten;		/* the newest that was overwritten, or 0 */
	uint64		recent[N_RECENT];	/* 0: none */
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

static void
clear(RfSlot *slot)
{
	slot->forgotten = 0;
	memset(slot->recent, 0, sizeof(slot->recent));
}

/* The slot changes over to another resource. */
static void
take_over(RfSlot *slot, uint64 resource_hash)
{
	int			i;

	slot->collided = Max(slot->collided, slot->forgotten);
	for (i = 0; i < N_RECENT; i++)
		slot->collided = Max(slot->collided, slot->recent[i]);
	clear(slot);
	slot->hash = resource_hash;
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
	if (slot->hash != resource_hash)
		take_over(slot, resource_hash);
	slot->forgotten = Max(slot->forgotten, slot->recent[slot->next]);
	slot->recent[slot->next] = U64FromFullTransactionId(xid);
	slot->next = (slot->next + 1) % N_RECENT;
	SpinLockRelease(&slot->mutex);
}

void
rf_recent_clear(uint64 resource_hash)
{
	RfSlot	   *slot;

	if (shared == NULL)
		return;
	(void) first_known();
	resource_hash = in_database(resource_hash);
	slot = slot_of(resource_hash);
	SpinLockAcquire(&slot->mutex);
	if (slot->hash == resource_hash)
		clear(slot);
	SpinLockRelease(&slot->mutex);
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
	RfSlot		copy;
	RfSlot	   *slot;
	uint64		xmin;
	int			i;

	if (shared == NULL)
		return false;
	resource_hash = in_database(resource_hash);
	slot = slot_of(resource_hash);
	SpinLockAcquire(&slot->mutex);
	copy = *slot;
	SpinLockRelease(&slot->mutex);

	xmin = full_xmin(snapshot);
	if (first_known() > xmin || copy.collided >= xmin)
		return false;
	if (copy.hash != resource_hash)
		return true;
	if (copy.forgotten >= xmin)
		return false;
	for (i = 0; i < N_RECENT; i++)
		if (is_missed(copy.recent[i], snapshot))
			return false;
	return true;
}
