/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * floor.h
 *		The fence that no retired resource was above.
 */
#ifndef RF_FLOOR_H
#define RF_FLOOR_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "row.h"

/*
 * A row that says so, as the snapshot sees it: the fence, and who raised it.
 * As if there were none when nothing was retired.
 */
extern void rf_floor_look(Snapshot snapshot, RfRow *row);

/* To this, if it is lower.  One transaction at a time. */
extern void rf_floor_raise(int64 fence);

#endif							/* RF_FLOOR_H */
