/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * two_holders.c - the demo's story as small as it gets, in one process
 *
 * A takes the lock, reads, and comes to a halt.  Its lock runs out, B takes
 * over and sells.  Then A goes on as if nothing had happened.
 *
 *     two_holders redis+unix:///path/to/redis.sock
 *
 * The database is the one that PGHOST, PGDATABASE and so on name; it needs the
 * extension and what stock.sql creates.  Ends with 0 if A was refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringfence.h>
#include <ringfence_pg.h>

#define RESOURCE "stock:apple"

typedef struct seller {
    const char *name;
    rf_client *client;
    PGconn *conn;
    rf_lock *lock;
    char left[16]; /* what it read */
} seller;

/* Connect.  Nothing has happened yet, so any failure ends the program. */
static void enter(seller *s, const char *name, const char *url)
{
    s->name = name;
    s->conn = PQconnectdb("");
    if (rf_open(url, NULL, &s->client) != RF_OK ||
        PQstatus(s->conn) != CONNECTION_OK) {
        fprintf(stderr, "%s can't connect: %s\n", name,
                PQerrorMessage(s->conn));
        exit(2);
    }
}

/* Lock, claim, read.  From the claim on every older holder is refused. */
static void begin(seller *s, int ttl_ms)
{
    rf_acquire_options options = RF_ACQUIRE_INIT;
    PGresult *result;
    rf_status status;

    options.ttl_ms = ttl_ms;
    options.wait_ms = 10000;
    status = rf_pg_acquire(s->client, s->conn, RESOURCE, &options, &s->lock);
    if (status != RF_OK) {
        fprintf(stderr, "%s gets no lock: %s, %s\n", s->name,
                rf_status_name(status), rf_message(s->client));
        exit(2);
    }
    result = PQexec(s->conn, "SELECT remaining FROM stock WHERE sku = 'apple'");
    if (PQntuples(result) != 1) {
        fprintf(stderr, "%s can't read: %s\n", s->name,
                PQerrorMessage(s->conn));
        exit(2);
    }
    snprintf(s->left, sizeof(s->left), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    printf("%s holds fence %lld and reads %s left\n", s->name,
           (long long)rf_lock_fence(s->lock), s->left);
}

/* Write what was computed from the read, through the library. */
static rf_status sell(seller *s)
{
    static const char sql[] = "UPDATE stock SET remaining = $1::int - 1,"
                              " fence = ringfence.fence('" RESOURCE
                              "') WHERE sku = 'apple'";
    const char *values[1] = { s->left };
    const rf_pg_statement statement = { sql, 1, values };
    rf_status status = rf_pg_exec(s->conn, s->lock, &statement, NULL);

    printf("%s sells one: %s%s%s\n", s->name, rf_status_name(status),
           status != RF_OK ? ", " : "",
           status != RF_OK ? rf_message(s->client) : "");
    return status;
}

/* The same from any language: its own SQL, with the number from the start. */
static int sell_by_sql(seller *s, const char *fence)
{
    static const char sql[] =
        "UPDATE stock SET remaining = $1::int - 1, fence = $2::bigint"
        " WHERE sku = 'apple' AND ringfence.guard('" RESOURCE "', $2, $3)";
    const char *values[3] = { s->left, fence, rf_lock_holder(s->lock) };
    PGresult *result = PQexecParams(s->conn, sql, 3, NULL, values, NULL, NULL,
                                    0);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    int refused = sqlstate != NULL && strcmp(sqlstate, "RF001") == 0;

    printf("%s tries by SQL: %s\n%s", s->name,
           sqlstate != NULL ? sqlstate : "accepted",
           PQresultErrorMessage(result));
    PQclear(result);
    return refused;
}

static void leave(seller *s)
{
    rf_release(s->lock);
    rf_close(s->client);
    PQfinish(s->conn);
}

int main(int argc, char **argv)
{
    seller a = { 0 }, b = { 0 };
    char fence[24];
    int refused;

    if (argc != 2) {
        fprintf(stderr, "usage: %s REDIS_URL\n", argv[0]);
        return 2;
    }
    enter(&a, "A", argv[1]);
    enter(&b, "B", argv[1]);
    begin(&a, 300);
    snprintf(fence, sizeof(fence), "%lld", (long long)rf_lock_fence(a.lock));
    /* A does nothing now.  B waits for the lock until Redis drops A's. */
    begin(&b, 10000);
    refused = sell(&b) == RF_OK;
    refused &= sell(&a) != RF_OK;
    refused &= sell_by_sql(&a, fence);
    leave(&a);
    leave(&b);
    return refused ? 0 : 1;
}
