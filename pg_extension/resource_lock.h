/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * resource_lock.h
 *		The lock that keeps a newer claim and older work apart.
 */
#ifndef RF_RESOURCE_LOCK_H
#define RF_RESOURCE_LOCK_H

#include "postgres.h"

#include "storage/lock.h"

/* Grants already stored run side by side; a newer one must be alone. */
#define RF_SHARED		ShareLock
#define RF_EXCLUSIVE	ExclusiveLock

/*
 * Two transactions of one grant that apply one operation; under the lock of
 * the operation's own hash.
 */
extern void rf_lock_operation(uint64 operation_hash);

/* Those who write to the lease of a resource. */
extern void rf_lock_lease(uint64 resource_hash);

/* Shared by the sessions that wait for the resource. */
extern void rf_waiter_tag(LOCKTAG *tag, uint64 resource_hash);

extern void rf_lock_tag(LOCKTAG *tag, uint64 resource_hash);

/* Wait for the lock; it is kept to the end of the (sub)transaction. */
extern void rf_lock(uint64 resource_hash, LOCKMODE mode);

/* Take it if that needs no waiting. */
extern bool rf_try_lock(uint64 resource_hash, LOCKMODE mode);

/* Give back what rf_lock() took, when nothing rests on it. */
extern void rf_unlock(uint64 resource_hash, LOCKMODE mode);

/* Does this transaction still hold it, in whichever mode? */
extern bool rf_lock_is_held(uint64 resource_hash);

#endif							/* RF_RESOURCE_LOCK_H */
