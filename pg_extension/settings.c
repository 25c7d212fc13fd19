/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.c
 *		What the administrator can set.
 */
#include "settings.h"

#include <limits.h>

#include "compat.h"

/* 2^53 - 1: what Redis can count to without two grants sharing a number. */
#define DEFAULT_MAX_FENCE	"9007199254740991"

int64		rf_max_fence = INT64CONST(9007199254740991);

static char *max_fence_text = NULL;

/*
 * Integer settings have 32 bits, so a fence travels as text.  Only plain
 * digits: what cannot be misread.
 */
static bool
check_max_fence(char **newval, void **extra, GucSource source)
{
	const char *p = *newval;
	int64		value = 0;
	int64	   *parsed;

	if (*p == '\0')
		return false;
	for (; *p != '\0'; p++)
	{
		if (*p < '0' || *p > '9' || value > (PG_INT64_MAX - (*p - '0')) / 10)
			return false;
		value = value * 10 + (*p - '0');
	}
	if (value < 1)
		return false;
	parsed = rf_guc_malloc(sizeof(int64));
	if (parsed == NULL)
		return false;
	*parsed = value;
	*extra = parsed;
	return true;
}

static void
assign_max_fence(const char *newval, void *extra)
{
	rf_max_fence = *(int64 *) extra;
}

void
rf_settings_init(void)
{
	DefineCustomStringVariable("ringfence.max_fence",
							   "No fence above this is accepted.",
							   "Keeps a wrong number from locking a resource "
							   "for good.",
							   &max_fence_text, DEFAULT_MAX_FENCE,
							   PGC_SUSET, 0,
							   check_max_fence, assign_max_fence, NULL);
	rf_reserve_prefix("ringfence");
}
