/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * query.h - statements of our own, with the outcomes of the library
 */
#ifndef INVENTORY_QUERY_H
#define INVENTORY_QUERY_H

#include <ringfence_pg.h>

/*
 * Run one statement.  When out is not NULL, *out is its result, to be ended with
 * PQclear(), or NULL.  What went wrong is told on standard error.
 */
rf_status query(PGconn *conn, const char *sql, int n, const char *const *values,
                PGresult **out);

/* How many rows it gives. */
rf_status query_rows(PGconn *conn, const char *sql, int n,
                     const char *const *values, int *rows);

#endif /* INVENTORY_QUERY_H */
