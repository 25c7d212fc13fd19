/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * sell_one.c - one whole section: lock, claim, read, compute, write, release
 *
 *     sell_one redis+unix:///path/to/redis.sock
 *
 * The database is the one that PGHOST, PGDATABASE and so on name, with what
 * stock.sql creates.  Prints the outcome; ends with 0 if one was sold.
 */
#include <stdio.h>

#include <ringfence.h>
#include <ringfence_pg.h>

static const char resource[] = "stock:apple";
static const char read_sql[] =
    "SELECT remaining - 1 FROM stock WHERE sku = 'apple' AND remaining > 0";
static const char write_sql[] =
    "UPDATE stock SET remaining = $1, fence = ringfence.fence('stock:apple')"
    " WHERE sku = 'apple'";

static rf_status sell_one(rf_client *client, PGconn *conn)
{
    rf_lock *lock;
    PGresult *read;
    rf_status status = rf_pg_acquire(client, conn, resource, NULL, &lock);

    if (status != RF_OK)
        return status; /* RF_BUSY: somebody else is at it */
    read = PQexec(conn, read_sql);
    status = RF_MISUSE; /* nothing left to sell */
    if (PQntuples(read) == 1) {
        const char *remaining = PQgetvalue(read, 0, 0);
        rf_pg_statement write = { write_sql, 1, &remaining };

        status = rf_pg_exec(conn, lock, &write, NULL);
        /* RF_STALE, RF_LOST: we were late, and nothing was written */
    }
    PQclear(read);
    rf_release(lock);
    return status;
}

int main(int argc, char **argv)
{
    rf_client *client = NULL;
    PGconn *conn = PQconnectdb("");
    rf_status status;

    if (argc != 2 || rf_open(argv[1], NULL, &client) != RF_OK ||
        PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "usage: %s REDIS_URL, and PGHOST and so on\n%s",
                argv[0], PQerrorMessage(conn));
        PQfinish(conn);
        rf_close(client);
        return 2;
    }
    status = sell_one(client, conn);
    printf("%s: %s\n", rf_status_name(status), rf_status_text(status));
    if (status != RF_OK)
        printf("%s\n", rf_message(client));
    rf_close(client);
    PQfinish(conn);
    return status == RF_OK ? 0 : 1;
}
