/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ringfence.c
 *		Module entry.
 */
#include "postgres.h"

#include "fmgr.h"

#include "claims.h"
#include "compat.h"
#include "lease.h"
#include "plan.h"
#include "settings.h"
#include "shared.h"

RF_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	rf_settings_init();
	rf_claims_init();
	rf_lease_init();
	rf_plan_init();
	rf_shared_init();
}
