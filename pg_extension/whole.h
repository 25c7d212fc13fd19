/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * whole.h
 *		Tables whose rows are all of one resource: a template without columns.
 */
#ifndef RF_WHOLE_H
#define RF_WHOLE_H

#include "postgres.h"

/* The resource that the template names, or NULL if that depends on a row. */
extern const char *rf_whole_resource(const char *template);

/* There is one, and this transaction has claimed it. */
extern bool rf_whole_is_claimed(const char *template);

#endif							/* RF_WHOLE_H */
