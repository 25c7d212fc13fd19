/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_examine.h - what a person wants to know of a database
 */
#ifndef RF_PG_EXAMINE_H
#define RF_PG_EXAMINE_H

#include "pg_internal.h"
#include "pg_link.h"

/*
 * Tell of the database behind conn, which is idle: what rf_pg_examine() tells.
 */
rf_status rf__pg_examine_server(PGconn *conn, const rf__examination *e,
                                rf__error *error);

/* The same of one that keeps the locks, and what only locks need. */
rf_status rf__pg_examine_locks(rf__pg_link *link, const rf__examination *e,
                               rf__error *error);

#endif /* RF_PG_EXAMINE_H */
