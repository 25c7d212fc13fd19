/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * resource_lock.c
 *		The lock that keeps a newer claim and older work apart.
 *
 * A heavyweight lock of the advisory kind, so that lock_timeout, deadlock
 * detection, savepoints and two-phase commit treat it as they should.
 */
#include "resource_lock.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "compat.h"
#include "stats.h"

/*
 * The SQL functions for advisory locks use classes 1 and 2; ours, shown as
 * objsubid in pg_locks, cannot be taken or released through them.
 */
#define RESOURCE_CLASS	0x5246	/* RF */
#define OPERATION_CLASS	0x524F	/* RO */
#define LEASE_CLASS		0x524C	/* RL */
#define WAITER_CLASS	0x5257	/* RW */

static void
set_tag(LOCKTAG *tag, uint64 hash, uint16 class)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 (uint32) (hash >> 32), (uint32) hash, class);
}

void
rf_lock_tag(LOCKTAG *tag, uint64 resource_hash)
{
	set_tag(tag, resource_hash, RESOURCE_CLASS);
}

void
rf_lock_operation(uint64 operation_hash)
{
	LOCKTAG		tag;

	set_tag(&tag, operation_hash, OPERATION_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
rf_lock_lease(uint64 resource_hash)
{
	LOCKTAG		tag;

	set_tag(&tag, resource_hash, LEASE_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
rf_waiter_tag(LOCKTAG *tag, uint64 resource_hash)
{
	set_tag(tag, resource_hash, WAITER_CLASS);
}

bool
rf_try_lock(uint64 resource_hash, LOCKMODE mode)
{
	LOCKTAG		tag;

	rf_lock_tag(&tag, resource_hash);
	return LockAcquire(&tag, mode, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
rf_lock(uint64 resource_hash, LOCKMODE mode)
{
	LOCKTAG		tag;
	instr_time	start;
	instr_time	waited;

	/* Clocks are read only by those who have to wait anyway. */
	if (rf_try_lock(resource_hash, mode))
		return;
	rf_lock_tag(&tag, resource_hash);
	INSTR_TIME_SET_CURRENT(start);
	(void) LockAcquire(&tag, mode, false, false);
	INSTR_TIME_SET_CURRENT(waited);
	INSTR_TIME_SUBTRACT(waited, start);
	rf_count_add(RF_COUNT_WAIT_USEC, INSTR_TIME_GET_MICROSEC(waited));
}

void
rf_unlock(uint64 resource_hash, LOCKMODE mode)
{
	LOCKTAG		tag;

	rf_lock_tag(&tag, resource_hash);
	(void) LockRelease(&tag, mode, false);
}

bool
rf_lock_is_held(uint64 resource_hash)
{
	LOCKTAG		tag;

	rf_lock_tag(&tag, resource_hash);
	return rf_lock_held(&tag, RF_SHARED) || rf_lock_held(&tag, RF_EXCLUSIVE);
}
