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

/* As the snapshot sees it, and who raised it; 0 when nothing was retired. */
extern int64 rf_floor_look(Snapshot snapshot, TransactionId *xmin);

/* To this, if it is lower.  One transaction at a time. */
extern void rf_floor_raise(int64 fence);

#endif							/* RF_FLOOR_H */
