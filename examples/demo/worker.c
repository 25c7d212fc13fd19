/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * worker.c - one worker process of the demo: lock, read, compute, write
 *
 * The same for both runs; what differs is behind section.h.  It takes orders
 * on standard input and tells what it does on standard output, a line each.
 * Between read and write it asks the price service, which is the conductor:
 * that is where a holder can be stopped with nothing left to chance.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "section.h"

#define RESOURCE   "coupons:spring"
#define WAIT_MS    20000
#define ATTEMPTS   200
#define BACKOFF_MS 50

typedef struct worker {
    const char *id;
    int ttl_ms;
    PGconn *conn;
    const section_kind *kind;
    section *section;
} worker;

/* What the database said at the start of a section. */
typedef struct stock {
    int left;
    int served; /* this buyer has a coupon already */
} stock;

/* What is computed from it: a price for one of those that are left. */
typedef struct offer {
    int left;
    char price[16];
} offer;

/* One write(2), shorter than PIPE_BUF: lines of workers never mix. */
static void say(const worker *w, const char *format, ...)
{
    char line[1024];
    size_t at = (size_t)snprintf(line, sizeof(line), "%s ", w->id);
    va_list args;

    va_start(args, format);
    vsnprintf(line + at, sizeof(line) - at, format, args);
    va_end(args);
    for (at = 0; at < sizeof(line) - 1 && line[at] != '\0'; at++)
        if (line[at] == '\n')
            line[at] = ' ';
    line[at] = '\n';
    while (write(STDOUT_FILENO, line, at + 1) < 0 && errno == EINTR)
        ;
}

static int hear(char *line, size_t size)
{
    if (fgets(line, (int)size, stdin) == NULL)
        return 0;
    line[strcspn(line, "\n")] = '\0';
    return 1;
}

/* The work can't go on: tell why and leave.  The conductor fails the demo. */
static void break_off(const worker *w, const char *what, const char *why)
{
    say(w, "broken %s: %s", what, why);
    exit(1);
}

/*
 * Asked once per attempt.  After an unknown outcome it is also the look that
 * tells whether the earlier attempt landed.  With ringfence it is final: the
 * claim that precedes it keeps that attempt from landing later.
 */
static stock read_stock(const worker *w, const char *buyer)
{
    static const char sql[] =
        "SELECT c.remaining,"
        " (SELECT count(*) FROM sale WHERE buyer = $1::int)"
        " FROM campaign c WHERE c.id = 'spring'";
    PGresult *result = PQexecParams(w->conn, sql, 1, NULL, &buyer, NULL, NULL,
                                    0);
    stock now;

    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        break_off(w, "read", PQerrorMessage(w->conn));
    now.left = (int)strtol(PQgetvalue(result, 0, 0), NULL, 10);
    now.served = strcmp(PQgetvalue(result, 0, 1), "0") != 0;
    PQclear(result);
    return now;
}

/*
 * Write the absolute value computed from what was read, and the ledger line.
 * The line's number is drawn after the row of campaign is locked, and that
 * lock is held until commit, so the numbers follow the order of the commits.
 */
static rf_status write_sale(const worker *w, const char *buyer,
                            const offer *offer, section_refusal *refusal)
{
    static const char sql[] =
        "WITH sold AS (UPDATE campaign SET remaining = $2::int - 1,"
        " fence = nullif($3::bigint, 0) WHERE id = 'spring' RETURNING id)"
        " INSERT INTO sale (campaign, buyer, worker, left_before, left_after,"
        " price, fence) SELECT id, $1::int, $4::int, $2::int, $2::int - 1,"
        " $5::int, nullif($3::bigint, 0) FROM sold";
    char left[16], fence[24];
    const char *values[5] = { buyer, left, fence, w->id, offer->price };
    const rf_pg_statement statement = { sql, 5, values };

    snprintf(left, sizeof(left), "%d", offer->left);
    snprintf(fence, sizeof(fence), "%lld",
             (long long)w->kind->fence(w->section));
    return w->kind->write(w->section, &statement, refusal);
}

/* Keep what was refused, so that the last table can count it. */
static void record_refusal(const worker *w, const char *buyer, rf_status status,
                           const section_refusal *refusal)
{
    static const char sql[] =
        "INSERT INTO refusal (buyer, worker, fence, status, sqlstate,"
        " message, detail) VALUES ($1::int, $2::int,"
        " nullif($3::bigint, 0), $4, $5, $6, $7)";
    char fence[24];
    const char *values[7] = { buyer,
                              w->id,
                              fence,
                              rf_status_name(status),
                              refusal->sqlstate,
                              refusal->message,
                              refusal->detail };
    PGresult *result;

    snprintf(fence, sizeof(fence), "%lld",
             (long long)w->kind->fence(w->section));
    result = PQexecParams(w->conn, sql, 7, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        break_off(w, "record", PQerrorMessage(w->conn));
    PQclear(result);
}

static void reconnect_if_lost(const worker *w)
{
    if (PQstatus(w->conn) == CONNECTION_OK)
        return;
    PQreset(w->conn);
    if (PQstatus(w->conn) != CONNECTION_OK)
        break_off(w, "connect", PQerrorMessage(w->conn));
}

/* The part of a section that sells.  True when the buyer has an answer. */
static int sell(const worker *w, const char *buyer, stock read)
{
    section_refusal refusal = { 0 };
    offer offer = { .left = read.left };
    rf_status status;

    say(w, "read %d", read.left);
    if (!hear(offer.price, sizeof(offer.price)))
        exit(0); /* the conductor is gone */
    status = write_sale(w, buyer, &offer, &refusal);
    if (status == RF_OK) {
        say(w, "sold %s %d %lld", buyer, read.left - 1,
            (long long)w->kind->fence(w->section));
        return 1;
    }
    reconnect_if_lost(w);
    record_refusal(w, buyer, status, &refusal);
    say(w, "refused %s %lld %s|%s|%s|%s", buyer,
        (long long)w->kind->fence(w->section), rf_status_name(status),
        refusal.sqlstate, refusal.message, refusal.detail);
    if (status == RF_MISUSE || status == RF_NOMEM)
        break_off(w, "write", refusal.message);
    return 0;
}

/* One section.  True when the buyer has an answer. */
static int attempt(const worker *w, const char *buyer)
{
    rf_status status = w->kind->begin(w->section, RESOURCE, w->ttl_ms, WAIT_MS);
    int answered = 1;
    stock now;

    if (status != RF_OK) {
        say(w, "nolock %s %s", rf_status_name(status),
            w->kind->text(w->section));
        if (status == RF_MISUSE || status == RF_NOMEM)
            break_off(w, "lock", w->kind->text(w->section));
        reconnect_if_lost(w);
        poll(NULL, 0, BACKOFF_MS); /* a server may be starting */
        return 0;
    }
    say(w, "lock %lld", (long long)w->kind->fence(w->section));
    now = read_stock(w, buyer);
    if (now.served)
        say(w, "found %s", buyer);
    else if (now.left <= 0)
        say(w, "soldout %s", buyer);
    else
        answered = sell(w, buyer, now);
    if (w->kind->end(w->section) == RF_LOST)
        say(w, "late");
    return answered;
}

static void serve(const worker *w, const char *buyer)
{
    for (int i = 0; i < ATTEMPTS; i++)
        if (attempt(w, buyer)) {
            say(w, "idle");
            return;
        }
    break_off(w, "serve", "too many attempts for one buyer");
}

static int work(worker *w, const char *url, const char *style)
{
    char line[64];

    w->conn = PQconnectdb("");
    if (PQstatus(w->conn) != CONNECTION_OK)
        break_off(w, "connect", PQerrorMessage(w->conn));
    w->section = w->kind->open(url, w->conn, style);
    if (w->section == NULL)
        break_off(w, "open", url);
    say(w, "idle");
    while (hear(line, sizeof(line)) && strcmp(line, "end") != 0)
        if (strncmp(line, "buyer ", 6) == 0)
            serve(w, line + 6);
    w->kind->close(w->section);
    PQfinish(w->conn);
    return 0;
}

/* The usual lock of the place that the URL names, or ours. */
static const section_kind *kind_of(const char *run, const char *url)
{
    if (strcmp(run, "fenced") == 0)
        return &fenced_section;
    if (strcmp(run, "plain") != 0)
        return NULL;
    return strncmp(url, "postgresql://", 13) == 0 ? &plain_table_section
                                                  : &plain_section;
}

int main(int argc, char **argv)
{
    worker w = { 0 };

    if (argc == 6)
        w.kind = kind_of(argv[1], argv[2]);
    if (w.kind == NULL) {
        fprintf(stderr, "usage: %s plain|fenced URL TTL_MS library|sql ID\n",
                argv[0]);
        return 2;
    }
    w.ttl_ms = (int)strtol(argv[3], NULL, 10);
    w.id = argv[5];
    srandom((unsigned)getpid()); /* only for the jitter of a poll */
    signal(SIGPIPE, SIG_IGN);    /* a Redis that went away is an error code */
    return work(&w, argv[2], argv[4]);
}
