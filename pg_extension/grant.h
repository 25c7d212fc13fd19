/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * grant.h
 *		A grant as it is presented to the guard, and the checks it must pass.
 */
#ifndef RF_GRANT_H
#define RF_GRANT_H

#include "postgres.h"

#define RF_RESOURCE_MAX	255		/* bytes */
#define RF_HOLDER_MAX	128		/* bytes */

typedef struct RfGrant
{
	text	   *resource;
	const char *name;			/* the resource's bytes, not terminated */
	int			name_len;
	uint64		hash;			/* of these bytes; names the lock */
	int64		fence;
	const char *holder;			/* NULL: the one without a name */
	char		holder_space[RF_HOLDER_MAX + 1];
} RfGrant;

/* Why the name is no resource (palloc'd), or NULL if it is one. */
extern char *rf_resource_problem(const char *name, int len);

/* Each returns in silence or raises RF004. */
extern void rf_check_resource(const char *name, int len);
extern void rf_check_name(const char *what, const char *name, int len);
extern void rf_check_fence(int64 fence);

/* Fill in everything that depends on the resource, which is checked. */
extern void rf_grant_set_resource(RfGrant *grant, text *resource);
extern void rf_grant_set_holder(RfGrant *grant, const text *holder);

/* Is it the resource of that name? */
extern bool rf_grant_is_for(const RfGrant *grant, const text *name);

extern uint64 rf_resource_hash(const char *name, int len);

#endif							/* RF_GRANT_H */
