/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claims.h
 *		What this transaction has claimed, across savepoints.
 */
#ifndef RF_CLAIMS_H
#define RF_CLAIMS_H

#include "postgres.h"

/*
 * The fence that this transaction has claimed for the resource, or 0.  Of
 * several claims in nested subtransactions the newest that still stands.
 */
extern int64 rf_claimed_fence(const char *resource, Size len);

/* Remember a claim; it is dropped with its subtransaction. */
extern void rf_claim_remember(const char *resource, Size len, int64 fence);

#endif							/* RF_CLAIMS_H */
