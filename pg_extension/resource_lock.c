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

#include "compat.h"

/*
 * The SQL functions for advisory locks use classes 1 and 2; ours, shown as
 * objsubid in pg_locks, cannot be taken or released through them.
 */
#define LOCK_CLASS	0x5246		/* RF */

void
rf_lock_tag(LOCKTAG *tag, uint64 resource_hash)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 (uint32) (resource_hash >> 32),
						 (uint32) resource_hash, LOCK_CLASS);
}

void
rf_lock(uint64 resource_hash, LOCKMODE mode)
{
	LOCKTAG		tag;

	rf_lock_tag(&tag, resource_hash);
	(void) LockAcquire(&tag, mode, false, false);
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
