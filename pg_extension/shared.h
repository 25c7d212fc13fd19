/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared.h
 *		Shared memory, for those who preload the library.
 */
#ifndef RF_SHARED_H
#define RF_SHARED_H

#include "postgres.h"

/* How many backends there can be at a time. */
extern int	rf_backend_slots(void);

extern void rf_shared_init(void);

#endif							/* RF_SHARED_H */
