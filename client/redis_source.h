/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_source.h - one Redis as a source of locks and fences
 */
#ifndef RF_REDIS_SOURCE_H
#define RF_REDIS_SOURCE_H

#include "script.h"

/* NULL when out of memory.  Copies what it needs of url and opts. */
rf__source *rf__redis_source(const rf__url *url, const rf_options *opts,
                             rf__error *error);

/*
 * The same where locator, which is taken over, says where it is; of url counts
 * who we are and which database.  NULL too when locator is.
 */
rf__source *rf__redis_source_at(const rf__url *url, rf__locator *locator,
                                const rf_options *opts, rf__error *error);

#endif /* RF_REDIS_SOURCE_H */
