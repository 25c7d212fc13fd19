/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stock.c - the tables of the inventory service
 *
 * What is written was computed from what was read, as in a program that asks
 * somebody in between.  An older section that wrote in between as well would
 * undo this one's work, or this one would undo the other's: the claims, which
 * came before the read, keep it out.
 */
#include "stock.h"

#include <stdio.h>
#include <stdlib.h>

#include "query.h"

/* ---- Reading ----------------------------------------------------------- */

rf_status stock_lines(PGconn *conn, request *r)
{
    const char *values[] = { r->number };
    PGresult *rows;
    rf_status status;

    if (r->n > 0)
        return RF_OK;
    status = query(conn,
                   "SELECT sku, count FROM reservation WHERE number = $1"
                   " ORDER BY sku LIMIT 8",
                   1, values, &rows);
    for (int i = 0; i < PQntuples(rows); i++) {
        line *next = &r->lines[r->n++];

        snprintf(next->sku, sizeof(next->sku), "%s", PQgetvalue(rows, i, 0));
        next->count = (int)strtol(PQgetvalue(rows, i, 1), NULL, 10);
    }
    PQclear(rows);
    return status;
}

static rf_status read_shelf(PGconn *conn, const char *sku, int *free,
                            int *reserved)
{
    PGresult *row;
    rf_status status = query(
        conn, "SELECT free, reserved FROM stock WHERE sku = $1", 1, &sku, &row);

    *free = *reserved = 0; /* an article that has never been there */
    if (PQntuples(row) == 1) {
        *free = (int)strtol(PQgetvalue(row, 0, 0), NULL, 10);
        *reserved = (int)strtol(PQgetvalue(row, 0, 1), NULL, 10);
    }
    PQclear(row);
    return status;
}

rf_status stock_read(PGconn *conn, const request *r, int *standing,
                     shelves *out)
{
    const char *values[] = { r->number };
    rf_status status = query_rows(
        conn,
        "SELECT 1 FROM reservation WHERE number = $1 AND state = 'reserved'", 1,
        values, standing);

    for (size_t i = 0; i < r->n && status == RF_OK; i++)
        status = read_shelf(conn, r->lines[i].sku, &out->free[i],
                            &out->reserved[i]);
    return status;
}

/* ---- Computing --------------------------------------------------------- */

int stock_compute(const request *r, shelves *s)
{
    for (size_t i = 0; i < r->n; i++) {
        int count = r->lines[i].count;

        if (r->verb == RECEIVE || r->verb == CANCEL)
            s->free[i] += count;
        if (r->verb == RESERVE) {
            s->free[i] -= count;
            s->reserved[i] += count;
        }
        if (r->verb == SHIP || r->verb == CANCEL)
            s->reserved[i] -= count;
        if (s->free[i] < 0)
            return 0;
    }
    return 1;
}

/* ---- Writing ----------------------------------------------------------- */

static rf_status write_shelf(PGconn *conn, const char *sku, int free,
                             int reserved)
{
    char numbers[2][16];
    const char *values[] = { sku, numbers[0], numbers[1] };

    snprintf(numbers[0], sizeof(numbers[0]), "%d", free);
    snprintf(numbers[1], sizeof(numbers[1]), "%d", reserved);
    return query(conn,
                 "INSERT INTO stock VALUES ($1, $2, $3) ON CONFLICT (sku)"
                 " DO UPDATE SET free = excluded.free,"
                 " reserved = excluded.reserved",
                 3, values, NULL);
}

static rf_status write_reservation(PGconn *conn, const request *r,
                                   const line *l)
{
    static const char *const sql[] = {
        [RESERVE] = "INSERT INTO reservation VALUES ($1, $2, $3, 'reserved')",
        [SHIP] = "UPDATE reservation SET state = 'shipped'"
                 " WHERE number = $1 AND sku = $2 AND count = $3",
        [CANCEL] = "UPDATE reservation SET state = 'cancelled'"
                   " WHERE number = $1 AND sku = $2 AND count = $3",
    };
    char count[16];
    const char *values[] = { r->number, l->sku, count };

    if (r->verb == RECEIVE)
        return RF_OK;
    snprintf(count, sizeof(count), "%d", l->count);
    return query(conn, sql[r->verb], 3, values, NULL);
}

rf_status stock_write(PGconn *conn, section *s, const request *r,
                      const shelves *after)
{
    const char *receipt[] = { rf_lock_resource(s->locks[0]), r->id };
    rf_status status = section_begin(s, conn);

    if (status != RF_OK)
        return status;
    status = query(conn, "SELECT ringfence.once($1, $2)", 2, receipt, NULL);
    for (size_t i = 0; i < r->n && status == RF_OK; i++) {
        status = write_shelf(conn, r->lines[i].sku, after->free[i],
                             after->reserved[i]);
        if (status == RF_OK)
            status = write_reservation(conn, r, &r->lines[i]);
    }
    if (status == RF_OK)
        return rf_pg_commit(conn, s->locks[0]);
    (void)rf_pg_rollback(conn, s->locks[0]);
    return status;
}
