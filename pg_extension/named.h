/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * named.h
 *		Does the statement name the fence column?
 */
#ifndef RF_NAMED_H
#define RF_NAMED_H

#include "postgres.h"
#include "access/attnum.h"
#include "commands/trigger.h"

/* Is the column in the SET list, taking all parts of the statement as one? */
extern bool rf_names_column(TriggerData *call, AttrNumber attnum);

/* Refuse the statement unless each of its parts names the column. */
extern void rf_check_named(TriggerData *call, AttrNumber attnum);

#endif							/* RF_NAMED_H */
