/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * leases.h
 *		Who has a lock, and until when: for those who need no other server.
 *
 * A lease says who should work, a claim who may write.  It is judged by this
 * server's clock, after every wait.
 */
#ifndef RF_LEASES_H
#define RF_LEASES_H

#include "postgres.h"

#include "fmgr.h"
#include "storage/itemptr.h"
#include "utils/timestamp.h"

#include "grant.h"

/* The lease that a resource had last.  Without one, tid is invalid. */
typedef struct RfLease
{
	int64		fence;
	TimestampTz expires_at;
	ItemPointerData tid;
	char		holder[RF_HOLDER_MAX + 2];
} RfLease;

/*
 * Who writes to a resource's lease does so alone, to the end of the transaction.
 * Taken after the resource's own lock by those who need both.
 */
extern void rf_leases_lock(const RfGrant *grant);

/* As it is committed at this moment, or was written by this transaction. */
extern void rf_leases_look(const RfGrant *grant, RfLease *lease);

/* Under rf_leases_lock(), in place of what was looked at, which it becomes. */
extern void rf_leases_store(const RfGrant *grant, TimestampTz expires_at,
							RfLease *lease);

/* For a resource that is retired, under its exclusive lock. */
extern void rf_leases_remove(const RfLease *lease);

extern bool rf_lease_is_live(const RfLease *lease, TimestampTz now);

/* Live, and of this very grant? */
extern bool rf_lease_is_of(const RfLease *lease, const RfGrant *grant,
						   TimestampTz now);

/* Arguments 0 to 2: resource, fence, holder; checked, and the server too. */
extern void rf_lease_read_grant(FunctionCallInfo fcinfo, RfGrant *grant);

/* How long leases last, in microseconds; RF004 when it can't be. */
extern int64 rf_lease_read_ttl(Interval *ttl);

/* Rounded up: who waits for the end must not come too early. */
extern int64 rf_lease_left_ms(const RfLease *lease, TimestampTz now);

#endif							/* RF_LEASES_H */
