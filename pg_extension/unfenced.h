/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * unfenced.h
 *		What is said to a statement that carries no fence.
 */
#ifndef RF_UNFENCED_H
#define RF_UNFENCED_H

#include "postgres.h"
#include "access/attnum.h"
#include "utils/relcache.h"

/* It updates the table and does not name the fence column. */
extern void rf_refuse_unnamed(Relation rel, AttrNumber attnum);

/* It writes a row of a resource that this transaction has not claimed. */
extern void rf_refuse_unclaimed(Relation rel, const char *resource);

/* It passed for a cascade's, and was not. */
extern void rf_refuse_in_cascade(Relation rel);

#endif							/* RF_UNFENCED_H */
