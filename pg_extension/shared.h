/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared.h
 *		Shared memory, for those who preload the library.
 */
#ifndef RF_SHARED_H
#define RF_SHARED_H

#include "postgres.h"

extern void rf_shared_init(void);

#endif							/* RF_SHARED_H */
