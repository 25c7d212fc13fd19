/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * old_snapshot.h
 *		Nobody may claim and then read the past.
 */
#ifndef RF_OLD_SNAPSHOT_H
#define RF_OLD_SNAPSHOT_H

#include "postgres.h"

#include "utils/snapshot.h"

/* Everything that had ended at one moment: all below xmax but for running. */
typedef struct RfHorizon
{
	TransactionId xmax;
	uint32		n_running;
	TransactionId running[FLEXIBLE_ARRAY_MEMBER];
} RfHorizon;

/*
 * What a snapshot must know to be read from under a claim.  The claim was
 * stored before: then it is enough to see the row, since no older grant wrote
 * after it.  The claim is this transaction's own: then all that had ended when
 * it was made, since an older grant's last write leaves no trace in the
 * registry; or, with shared memory, all that was done under the resource.
 */
typedef struct RfSeen
{
	TransactionId row_xmin;		/* valid: the row was stored before */
	RfHorizon  *horizon;
	uint64		resource_hash;
} RfSeen;

/* In memory that lasts to the end of the transaction. */
extern RfHorizon *rf_horizon_now(void);

/*
 * Is there a snapshot that can still be read from after the guard returns and
 * does not know what it must?
 */
extern bool rf_reads_the_past(const RfSeen *seen, Oid guard_function);

#endif							/* RF_OLD_SNAPSHOT_H */
