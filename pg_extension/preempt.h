/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * preempt.h
 *		A newer grant ends the backends in its way instead of waiting.
 */
#ifndef RF_PREEMPT_H
#define RF_PREEMPT_H

#include "postgres.h"

#include "grant.h"

/*
 * Take the exclusive lock for a grant that is newer than the stored one.
 * Terminates those who hold the lock with an older grant, as far as the
 * caller's role may, and waits for the rest.
 */
extern void rf_lock_preempting(const RfGrant *grant);

#endif							/* RF_PREEMPT_H */
