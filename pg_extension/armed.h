/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * armed.h
 *		Is what judges the rows still there?
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

/*
 * The same for INSERT and UPDATE of a table that is one resource: the CHECK
 * judges its rows, or the trigger does where there can be none.
 */
extern void rf_check_whole_armed(Relation rel, const char *trigger);

/* Has the table this trigger, and does it fire? */
extern bool rf_is_armed(Relation rel, const char *trigger);

#endif							/* RF_ARMED_H */
