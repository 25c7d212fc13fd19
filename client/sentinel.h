/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * sentinel.h - where the master is, asked of its sentinels
 */
#ifndef RF_SENTINEL_H
#define RF_SENTINEL_H

#include "redis.h"

/* NULL when out of memory.  Copies what it needs of service. */
rf__locator *rf__sentinel_locator(const rf__service *service, int timeout_ms);

#endif /* RF_SENTINEL_H */
