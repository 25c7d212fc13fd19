/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * armed.h
 *		Is the trigger that judges rows still there?
 */
#ifndef RF_ARMED_H
#define RF_ARMED_H

#include "postgres.h"
#include "utils/rel.h"

/*
 * Refuse what is done to the table when it has no such trigger that fires.
 * Whoever drops or disables one of ours alone stops all writes.
 */
extern void rf_check_armed(Relation rel, const char *trigger);

#endif							/* RF_ARMED_H */
