/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * registry.h
 *		The newest claim of each resource, as it is stored.
 */
#ifndef RF_REGISTRY_H
#define RF_REGISTRY_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "grant.h"
#include "row.h"

/* What has been committed up to this moment, and by this transaction. */
extern void rf_registry_look(const RfGrant *grant, RfRow *row);

/*
 * Was this fence the stored one when this backend last looked?  A guess at the
 * outcome of the next look that costs nothing.
 */
extern bool rf_registry_was(const RfGrant *grant);

/*
 * Store the grant in place of what was looked at, or remove that; under the
 * resource's exclusive lock.  False: somebody wrote to the table by hand, look
 * again.
 */
extern bool rf_registry_store(const RfGrant *grant, const RfRow *row);
extern bool rf_registry_remove(const RfRow *row);

/* Resources (text *) whose claim is older than that; the guard's lock decides. */
extern List *rf_registry_idle(TimestampTz before, int at_most);

/*
 * The fence that an open transaction of another backend is about to commit,
 * and that backend's pid; or 0.
 */
extern int64 rf_registry_uncommitted(const RfGrant *grant, int *pid);

#endif							/* RF_REGISTRY_H */
