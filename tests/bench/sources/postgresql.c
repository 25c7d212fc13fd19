/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * postgresql.c - the extension's leases, and two usual ways without them
 *
 * ShedLock's row with a time in it, and an advisory lock of the session, both
 * as prepared statements.  What is counted is counted through a proxy, on a
 * connection of its own: a server's process tells its flushes when it ends.
 */
#include <poll.h>
#include <stdio.h>

#include "contestant.h"
#include "database.h"
#include "die.h"
#include "pg_proxy.h"

static rf_client *client;
static PGconn *by_row, *by_number;

/* ---- Three ways ------------------------------------------------------------ */

static void pair_of_ours(void)
{
    client_pair(client);
}

static void run_prepared(PGconn *conn, const char *name)
{
    PGresult *result = PQexecPrepared(conn, name, 0, NULL, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_TUPLES_OK &&
        (status != PGRES_COMMAND_OK || *PQcmdTuples(result) != '1'))
        die(name, PQerrorMessage(conn));
    PQclear(result);
}

static void pair_by_row(void)
{
    run_prepared(by_row, "take");
    run_prepared(by_row, "give");
}

static void pair_by_number(void)
{
    run_prepared(by_number, "take");
    run_prepared(by_number, "give");
}

/* ---- Connections ----------------------------------------------------------- */

static void open_ours(const char *host)
{
    char url[128];

    snprintf(url, sizeof(url), "postgresql:///?application_name=ours%s%s",
             host ? "&host=" : "", host ? host : "");
    client = client_open(url);
}

static void close_ours(void)
{
    rf_close(client);
}

static PGconn *open_session(const char *name, const char *host)
{
    char options[128];

    snprintf(options, sizeof(options), " application_name=%s%s%s", name,
             host ? " host=" : "", host ? host : "");
    return database_connect(options);
}

static void open_by_row(const char *host)
{
    by_row = open_session("row", host);
    database_run(by_row,
                 "SET client_min_messages = warning;"
                 "CREATE TABLE IF NOT EXISTS shedlock (name text PRIMARY KEY,"
                 " lock_until timestamptz, locked_at timestamptz,"
                 " locked_by text);"
                 "INSERT INTO shedlock VALUES ('bench', now(), now(), '')"
                 " ON CONFLICT DO NOTHING;"
                 "PREPARE take AS UPDATE shedlock"
                 " SET lock_until = now() + interval '30 s',"
                 " locked_at = now(), locked_by = 'host'"
                 " WHERE name = 'bench' AND lock_until <= now();"
                 "PREPARE give AS UPDATE shedlock SET lock_until = now()"
                 " WHERE name = 'bench' AND locked_by = 'host'");
}

static void close_by_row(void)
{
    PQfinish(by_row);
}

static void open_by_number(const char *host)
{
    by_number = open_session("number", host);
    database_run(by_number, "PREPARE take AS SELECT pg_advisory_lock(42);"
                            "PREPARE give AS SELECT pg_advisory_unlock(42)");
}

static void close_by_number(void)
{
    PQfinish(by_number);
}

/* ---- What is counted ------------------------------------------------------- */

typedef struct way {
    const char *name; /* of its sessions */
    void (*open)(const char *host);
    void (*pair)(void);
    void (*close)(void);
} way;

/* When no session of that name is left. */
static long long flushes(PGconn *conn, const char *name)
{
    while (database_number(conn,
                           "SELECT count(*) FROM pg_stat_activity"
                           " WHERE application_name = '%s'",
                           name) > 0)
        poll(NULL, 0, 10);
    return database_number(conn, "SELECT wal_sync FROM pg_stat_wal");
}

/* The first pair connects: its round trips do not count. */
static int requests_of(const way *w, size_t pairs)
{
    pg_proxy *proxy = pg_proxy_start();
    int asked;

    w->open(pg_proxy_folder(proxy));
    w->pair();
    asked = pg_proxy_requests(proxy);
    for (size_t i = 0; i < pairs; i++)
        w->pair();
    asked = pg_proxy_requests(proxy) - asked;
    w->close();
    pg_proxy_stop(proxy);
    return asked;
}

static cost cost_of(const way *w, size_t pairs)
{
    PGconn *conn = database_connect("");
    long long before;
    cost c;

    w->close();
    before = flushes(conn, w->name);
    c.requests = requests_of(w, pairs) / (double)pairs;
    c.flushes = (double)(flushes(conn, w->name) - before) / (double)(pairs + 1);
    w->open(NULL);
    PQfinish(conn);
    return c;
}

static const way ours = { "ours", open_ours, pair_of_ours, close_ours };
static const way row = { "row", open_by_row, pair_by_row, close_by_row };
static const way number = { "number", open_by_number, pair_by_number,
                            close_by_number };

static cost cost_of_ours(size_t pairs)
{
    return cost_of(&ours, pairs);
}

static cost cost_by_row(size_t pairs)
{
    return cost_of(&row, pairs);
}

static cost cost_by_number(size_t pairs)
{
    return cost_of(&number, pairs);
}

static void start_ours(void)
{
    open_ours(NULL);
}

static void start_by_row(void)
{
    open_by_row(NULL);
}

static void start_by_number(void)
{
    open_by_number(NULL);
}

const contestant postgresql = { "postgresql", NULL,         start_ours,
                                pair_of_ours, cost_of_ours, close_ours };
const contestant shedlock = { "shedlock",  NULL,        start_by_row,
                              pair_by_row, cost_by_row, close_by_row };
const contestant advisory = { "advisory",     NULL,           start_by_number,
                              pair_by_number, cost_by_number, close_by_number };
