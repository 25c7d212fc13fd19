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
 * What a snapshot must know to be read from under a claim.  In both cases the
 * registry's row as the claim found it: who sees it sees the work of all
 * grants before that one.  If it was the claim's own, that is all; if the
 * claim replaced it, the work under it counts too, and leaves no trace in the
 * registry.
 */
typedef struct RfSeen
{
	TransactionId row_xmin;		/* invalid: there was none */
	CommandId	row_cmin;		/* of one's own row */
	RfHorizon  *horizon;		/* NULL: the claim was stored before */
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
