/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_many.h - many leases in one statement
 */
#ifndef RF_PG_MANY_H
#define RF_PG_MANY_H

#include "pg_link.h"

/* What renew_all and release_all of source.h are given. */
typedef struct rf__pg_batch {
    rf__grant *grants;
    rf_status *results;
    size_t n;
    int64_t deadline_ms;
} rf__pg_batch;

void rf__pg_renew_all(rf__pg_link *link, const rf__pg_batch *batch,
                      rf__error *error);
void rf__pg_release_all(rf__pg_link *link, const rf__pg_batch *batch,
                        rf__error *error);

/* The first column of every row.  RF_OK or RF_NOMEM. */
rf_status rf__pg_read_names(const PGresult *rows, rf__page *page);

#endif /* RF_PG_MANY_H */
