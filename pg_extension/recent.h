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

/* This transaction is ending as the work of a claim. */
extern void rf_recent_add(uint64 resource_hash);

/*
 * Is it certain that the snapshot knows of all work that was ever done under
 * claims of the resource?  The caller has the resource's exclusive lock, or
 * had it when it looked.  Never certain without shared memory.
 */
extern bool rf_recent_all_known(uint64 resource_hash, Snapshot snapshot);

extern Size rf_recent_size(void);
extern void rf_recent_start(void *memory, bool found);

#endif							/* RF_RECENT_H */
