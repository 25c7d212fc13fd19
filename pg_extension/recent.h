/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * recent.h
 *		Which transactions have lately worked under a claim.
 */
#ifndef RF_RECENT_H
#define RF_RECENT_H

#include "postgres.h"

#include "utils/snapshot.h"

/* This transaction is ending, and has worked under a stored claim. */
extern void rf_recent_add(uint64 resource_hash);

/*
 * This transaction has committed a newer claim: who sees that sees all that was
 * done before.
 */
extern void rf_recent_clear(uint64 resource_hash);

/*
 * Is it certain that the snapshot knows of all work done under the newest
 * claim that is stored?  The caller has the resource's exclusive lock.  Never
 * certain without shared memory.
 */
extern bool rf_recent_all_known(uint64 resource_hash, Snapshot snapshot);

extern Size rf_recent_size(void);
extern void rf_recent_start(void *memory, bool found);

#endif							/* RF_RECENT_H */
