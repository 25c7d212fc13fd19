/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * order.c - sell one, exactly once, whatever becomes of the connection
 *
 *     order redis+unix:///path/to/redis.sock ORDER_NUMBER
 *
 * The database is the one that PGHOST, PGDATABASE and so on name, with what
 * stock.sql and orders.sql create.  Two writes in one transaction; the order's
 * number is how a later attempt sees whether an earlier one was committed.
 */
#include <stdio.h>

#include <ringfence.h>
#include <ringfence_pg.h>

/* Rows of a query or a command with the order's number; -1 on an error. */
static int run(PGconn *conn, const char *sql, const char *number)
{
    PGresult *result = PQexecParams(conn, sql, 1, NULL, &number, NULL, NULL, 0);
    int rows = -1;

    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        rows = PQntuples(result);
    PQclear(result);
    return rows;
}

/* Inside the transaction.  1: commit; 0: sold out; -1: an error. */
static int sell(PGconn *conn, const char *number)
{
    /* Look before doing it again.  Under a new claim the answer is final. */
    int rows = run(conn, "SELECT 1 FROM orders WHERE number = $1", number);

    if (rows != 0)
        return rows;
    rows = run(conn,
               "UPDATE stock SET remaining = remaining - 1,"
               " fence = ringfence.fence('stock:apple')"
               " WHERE sku = 'apple' AND remaining > 0 RETURNING $1::text",
               number);
    if (rows != 1)
        return rows;
    return run(conn, "INSERT INTO orders VALUES ($1, 'apple') RETURNING 1",
               number);
}

/* One section: lock and claim, begin, read, write, commit, release. */
static rf_status attempt(rf_client *client, PGconn *conn, const char *number,
                         int *sold)
{
    rf_acquire_options options = RF_ACQUIRE_INIT;
    rf_lock *lock;
    rf_status status;

    options.ttl_ms = 5000;
    options.wait_ms = 10000;
    status = rf_pg_acquire(client, conn, "stock:apple", &options, &lock);
    if (status != RF_OK)
        return status;
    status = rf_pg_begin(conn, lock, RF_PG_READ_COMMITTED);
    if (status == RF_OK) {
        *sold = sell(conn, number) != 0;
        status = rf_pg_commit(conn, lock); /* rolls back after an error */
    }
    rf_release(lock);
    return status;
}

/* May another attempt end better?  If so, on a connection that works. */
static int again(rf_status status, PGconn *conn)
{
    if (PQstatus(conn) != CONNECTION_OK)
        PQreset(conn);
    /* Each attempt is a section of its own, with a new lock and new reads. */
    return status == RF_UNKNOWN || status == RF_RETRY || status == RF_LOST ||
           status == RF_STALE || status == RF_COLLISION;
}

int main(int argc, char **argv)
{
    rf_client *client = NULL;
    PGconn *conn;
    rf_status status;
    int sold = 0, left = 5;

    if (argc != 3 || rf_open(argv[1], NULL, &client) != RF_OK) {
        fprintf(stderr, "usage: %s REDIS_URL ORDER_NUMBER\n", argv[0]);
        return 2;
    }
    conn = PQconnectdb("");
    do {
        status = attempt(client, conn, argv[2], &sold);
        if (status != RF_OK)
            printf("%s: %s\n", rf_status_name(status), rf_message(client));
    } while (--left > 0 && again(status, conn));
    if (status == RF_OK)
        printf(sold ? "order %s: sold\n" : "order %s: sold out\n", argv[2]);
    PQfinish(conn);
    rf_close(client);
    return status == RF_OK && sold ? 0 : 1;
}
