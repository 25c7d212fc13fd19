/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wake.h
 *		Telling those who wait for a lock that it has been given back.
 */
#ifndef RF_WAKE_H
#define RF_WAKE_H

#include "postgres.h"

#include "grant.h"

/* When this transaction commits; costs nothing while nobody waits. */
extern void rf_wake(const RfGrant *grant);

#endif							/* RF_WAKE_H */
