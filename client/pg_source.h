/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_source.h - PostgreSQL alone as a source of locks and fences
 */
#ifndef RF_PG_SOURCE_H
#define RF_PG_SOURCE_H

#include "url.h"

/* RF_OK when URL and options are what this source can do. */
rf_status rf__pg_source_check(const rf__service *service,
                              const rf_options *opts, rf__error *error);

/* NULL: out of memory. */
rf__source *rf__pg_source(const rf__service *service, const rf_options *opts,
                          rf__error *error);

#endif /* RF_PG_SOURCE_H */
