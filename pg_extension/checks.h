/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * checks.h
 *		What every function asks before it begins.
 */
#ifndef RF_CHECKS_H
#define RF_CHECKS_H

#include "postgres.h"

#include "fmgr.h"

/* Each returns in silence, or raises RF005 or RF004. */
extern void rf_check_server(void);
extern void rf_check_not_null(FunctionCallInfo fcinfo, int arg,
							  const char *what);

/* RF004, for an argument that is wrong in a way of its own. */
extern _Noreturn void rf_raise_argument(const char *detail);

#endif							/* RF_CHECKS_H */
