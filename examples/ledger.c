/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ledger.c - a payment service: money moves once, or not at all
 *
 *     ledger URL <requests >answers
 *
 * A request is a line "TRANSFER FROM TO AMOUNT", the transfer's name chosen by
 * whoever asks, so that asking again is safe.  The answer begins with the name:
 * "done", which is final; "poor", not enough money now, nothing was booked; or
 * "failed" and why, to be asked again.  The database is the one that PGHOST, PGDATABASE and so on name, with what
 * ledger.sql creates.  Any number of these may run at the same time, and any of
 * them may be stopped or killed anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringfence.h>
#include <ringfence_pg.h>

#define ATTEMPTS     20
#define NAME_MAX_LEN 64

typedef struct transfer {
    char name[NAME_MAX_LEN + 1];
    char from[NAME_MAX_LEN + 1];
    char to[NAME_MAX_LEN + 1];
    char amount[24];
    long long cents;
} transfer;

typedef struct service {
    rf_client *client;
    PGconn *conn;
} service;

typedef enum answer { DONE, POOR, FAILED } answer;

/* ---- SQL ----------------------------------------------------------------------- */

/* One value, -1 when there is no row, -2 on an error. */
static long long ask(PGconn *conn, const char *sql, int n,
                     const char *const *values)
{
    PGresult *result = PQexecParams(conn, sql, n, NULL, values, NULL, NULL, 0);
    long long value = -2;

    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        value = PQntuples(result) > 0
                    ? strtoll(PQgetvalue(result, 0, 0), NULL, 10)
                    : -1;
    PQclear(result);
    return value;
}

/* The second account, in the transaction that claimed the first. */
static int claim_too(PGconn *conn, const rf_lock *lock)
{
    char fence[24];
    const char *values[] = { rf_lock_resource(lock), fence,
                             rf_lock_holder(lock) };

    snprintf(fence, sizeof(fence), "%lld", (long long)rf_lock_fence(lock));
    return ask(conn, "SELECT ringfence.guard($1, $2, $3)::int", 3, values) == 1;
}

/* ---- The section ----------------------------------------------------------------- */

static int book(PGconn *conn, const transfer *t, const char *account,
                const char *sign)
{
    const char *values[] = { t->name, account, sign, t->amount };

    return ask(conn,
               "WITH booked AS (INSERT INTO entry VALUES"
               " ($1, $2, ($3 || $4)::bigint) RETURNING account, amount)"
               " UPDATE account SET balance = balance + amount FROM booked"
               " WHERE name = booked.account RETURNING 1",
               4, values) == 1;
}

/*
 * Inside the transaction, with both accounts claimed.  The receipt goes with
 * what it is for; 0: an error, to be rolled back.
 */
static int move(PGconn *conn, const rf_lock *from, const transfer *t,
                answer *out)
{
    const char *account[] = { t->from };
    const char *receipt[] = { rf_lock_resource(from), t->name };
    long long first = ask(conn, "SELECT ringfence.once($1, $2)::int", 2,
                          receipt);
    long long balance;

    *out = DONE; /* an earlier attempt had landed */
    if (first <= 0)
        return first == 0;
    balance = ask(conn, "SELECT balance FROM account WHERE name = $1", 1,
                  account);
    if (balance < t->cents) {
        *out = balance >= 0 ? POOR : FAILED;
        return 0;
    }
    return book(conn, t, t->from, "-") && book(conn, t, t->to, "+");
}

static rf_status run_section(service *s, rf_lock *locks[2], const transfer *t,
                             answer *out)
{
    rf_status status = rf_pg_claim(s->conn, locks[0]);

    if (status == RF_OK)
        status = rf_pg_claim(s->conn, locks[1]);
    if (status == RF_OK)
        status = rf_pg_begin(s->conn, locks[0], RF_PG_READ_COMMITTED);
    if (status != RF_OK)
        return status;
    if (claim_too(s->conn, locks[1]) && move(s->conn, locks[0], t, out))
        return rf_pg_commit(s->conn, locks[0]);
    status = *out == POOR ? RF_OK : RF_RETRY;
    (void)rf_pg_rollback(s->conn, locks[0]);
    return status;
}

/*
 * Both locks or none.  After RF_UNKNOWN the next attempt finds the receipt, or
 * finds none and is the first: the claim before it has kept late ones out.
 */
static rf_status attempt(service *s, const transfer *t, answer *out)
{
    char from[NAME_MAX_LEN + 16], to[NAME_MAX_LEN + 16];
    const char *resources[] = { from, to };
    rf_acquire_options options = RF_ACQUIRE_INIT;
    rf_lock *locks[2];
    rf_status status;

    snprintf(from, sizeof(from), "account:%s", t->from);
    snprintf(to, sizeof(to), "account:%s", t->to);
    options.ttl_ms = 5000;
    options.wait_ms = 20000;
    options.ask_floor = rf_pg_floor;
    options.ask_floor_arg = s->conn;
    status = rf_acquire_all(s->client, resources, 2, &options, locks);
    if (status != RF_OK)
        return status;
    status = run_section(s, locks, t, out);
    (void)rf_release_all(locks, 2);
    return status;
}

/* ---- Requests --------------------------------------------------------------------- */

static void serve(service *s, const transfer *t)
{
    static const char *const words[] = { "done", "poor", "failed" };
    rf_status status = RF_RETRY;
    answer out = FAILED;

    for (int i = 0; i < ATTEMPTS && status != RF_OK; i++) {
        if (PQstatus(s->conn) != CONNECTION_OK)
            PQreset(s->conn);
        out = FAILED;
        status = attempt(s, t, &out);
        if (status == RF_MISUSE || status == RF_NOMEM)
            break;
    }
    if (status == RF_OK)
        printf("%s %s\n", t->name, words[out]);
    else
        printf("%s failed %s %s\n", t->name, rf_status_name(status),
               rf_message(s->client));
    fflush(stdout);
}

/* "TRANSFER FROM TO AMOUNT", the amount a number above 0; 0: it is not that. */
static int read_transfer(const char *line, transfer *t)
{
    char rest;

    if (sscanf(line, "%64s %64s %64s %18lld %c", t->name, t->from, t->to,
               &t->cents, &rest) != 4 ||
        t->cents < 1 || strcmp(t->from, t->to) == 0)
        return 0;
    snprintf(t->amount, sizeof(t->amount), "%lld", t->cents);
    return 1;
}

int main(int argc, char **argv)
{
    service s = { 0 };
    char line[512];
    transfer t;

    if (argc != 2 || rf_open(argv[1], NULL, &s.client) != RF_OK) {
        fprintf(stderr, "usage: %s URL <requests >answers\n%s\n", argv[0],
                argc == 2 ? rf_message(NULL) : "");
        return 2;
    }
    s.conn = PQconnectdb("");
    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (read_transfer(line, &t))
            serve(&s, &t);
        else
            printf("? failed: TRANSFER FROM TO AMOUNT is wanted\n");
    }
    PQfinish(s.conn);
    rf_close(s.client);
    return 0;
}
