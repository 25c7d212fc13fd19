/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claims.h
 *		What this transaction has claimed, across savepoints.
 */
#ifndef RF_CLAIMS_H
#define RF_CLAIMS_H

#include "postgres.h"

#include "grant.h"
#include "old_snapshot.h"

typedef struct RfClaim
{
	uint64		hash;
	int64		fence;
	const char *resource;		/* not terminated */
	int			resource_len;
	const char *holder;			/* NULL: the one without a name */
	RfSeen		seen;			/* what a snapshot must know to be read from */
	SubTransactionId subid;
	int			next;			/* older claim in the same bucket, or -1 */
} RfClaim;

/*
 * The fence that this transaction has claimed for the resource, or 0.  Of
 * several claims in nested subtransactions the newest that still stands.
 */
extern int64 rf_claimed_fence(const char *resource, Size len);

/* The newest claim that still stands on the grant's resource, or NULL. */
extern const RfClaim *rf_claim_find(const RfGrant *grant);

/* The same, but RF006 where there is none. */
extern const RfClaim *rf_claim_require(const RfGrant *grant);

/* Remember a claim; it is dropped with its subtransaction. */
extern void rf_claim_remember(const RfGrant *grant, const RfSeen *seen);

extern void rf_claims_init(void);

#endif							/* RF_CLAIMS_H */
