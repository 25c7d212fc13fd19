/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.h
 *		What the administrator can set.
 */
#ifndef RF_SETTINGS_H
#define RF_SETTINGS_H

#include "postgres.h"

/* No fence above this is accepted. */
extern int64 rf_max_fence;

extern void rf_settings_init(void);

#endif							/* RF_SETTINGS_H */
