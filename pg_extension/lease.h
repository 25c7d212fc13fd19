/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lease.h
 *		A transaction that ends at a given moment, idle or busy.
 */
#ifndef RF_LEASE_H
#define RF_LEASE_H

#include "postgres.h"

#include "utils/timestamp.h"

/* The end of a lease that starts now; RF004 when it is none. */
extern TimestampTz rf_lease_end(const Interval *lease);

/*
 * End the transaction at that moment at the latest.  Returns what was in force
 * before, for rf_lease_restore(): 0 when nothing was.
 */
extern TimestampTz rf_lease_limit(TimestampTz end);
extern void rf_lease_restore(TimestampTz previous);

extern void rf_lease_init(void);

#endif							/* RF_LEASE_H */
