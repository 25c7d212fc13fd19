/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * compat.h
 *		Every branch on the server's version, 13 to 18.
 */
#ifndef RF_COMPAT_H
#define RF_COMPAT_H

#include "postgres.h"
#include "utils/guc.h"

#if PG_VERSION_NUM < 130002
#error "ringfence needs PostgreSQL 13.2 or later"
#endif

/* A check hook's extra: freed by the server, so from its allocator. */
#if PG_VERSION_NUM >= 160000
#define rf_guc_malloc(size)		guc_malloc(LOG, (size))
#else
#define rf_guc_malloc(size)		malloc(size)
#endif

#if PG_VERSION_NUM >= 150000
#define rf_reserve_prefix(name)	MarkGUCPrefixReserved(name)
#else
#define rf_reserve_prefix(name)	EmitWarningsOnPlaceholders(name)
#endif

#if PG_VERSION_NUM >= 170000
#define rf_lock_held(tag, mode)	LockHeldByMe((tag), (mode), true)
#else
#define rf_lock_held(tag, mode)	LockHeldByMe((tag), (mode))
#endif

#if PG_VERSION_NUM >= 180000
#define rf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define rf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif

#endif							/* RF_COMPAT_H */
