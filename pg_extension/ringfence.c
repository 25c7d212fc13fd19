/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ringfence.c
 *		Module entry.
 */
#include "postgres.h"

#include "fmgr.h"

#include "claims.h"
#include "lease.h"
#include "plan.h"
#include "settings.h"
#include "shared.h"

#if PG_VERSION_NUM >= 180000
PG_MODULE_MAGIC_EXT(.name = "ringfence");
#else
PG_MODULE_MAGIC;
#endif

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
