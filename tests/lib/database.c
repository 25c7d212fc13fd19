/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * database.c - the database of a test program, as tests talk to it
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include "database.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT_MS 20000

static void die(const char *what, const char *why)
{
    printf("Bail out! %s: %s\n", what, why);
    fflush(stdout);
    exit(1);
}

/* Notices belong to the tests' output as diagnostics. */
static void print_notice(void *arg, const char *message)
{
    (void)arg;
    printf("# %s", message);
}

PGconn *database_connect(const char *options)
{
    PGconn *conn = PQconnectdb(options);

    if (PQstatus(conn) != CONNECTION_OK)
        die("connect", PQerrorMessage(conn));
    PQsetNoticeProcessor(conn, print_notice, NULL);
    return conn;
}

static PGresult *run(PGconn *conn, const char *format, va_list args)
{
    char sql[4096];
    PGresult *result;
    ExecStatusType kind;

    vsnprintf(sql, sizeof(sql), format, args);
    result = PQexec(conn, sql);
    kind = PQresultStatus(result);
    if (kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK)
        die(sql, PQerrorMessage(conn));
    return result;
}

void database_run(PGconn *conn, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    PQclear(run(conn, format, args));
    va_end(args);
}

long long database_number(PGconn *conn, const char *format, ...)
{
    va_list args;
    PGresult *result;
    long long number = -1;

    va_start(args, format);
    result = run(conn, format, args);
    va_end(args);
    if (PQntuples(result) != 1)
        die(format, "not one row");
    if (!PQgetisnull(result, 0, 0))
        number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

/* Ask until a count is what it should be. */
static void await_count(PGconn *conn, const char *where, int pid, int expected)
{
    int waited;

    for (waited = 0; waited < LIMIT_MS; waited += 5) {
        if (database_number(conn,
                            "SELECT count(*) FROM pg_stat_activity "
                            "WHERE pid = %d%s",
                            pid, where) == expected)
            return;
        poll(NULL, 0, 5);
    }
    die("wait for a session", where);
}

void database_terminate(PGconn *conn, const PGconn *whose)
{
    int pid = PQbackendPID(whose);

    struct pollfd socket = { PQsocket(whose), POLLRDHUP, 0 };

    database_run(conn, "SELECT pg_terminate_backend(%d)", pid);
    await_count(conn, "", pid, 0);
    if (poll(&socket, 1, LIMIT_MS) != 1)
        die("wait for a session", "its connection is still there");
}

void database_await_blocked(PGconn *conn, const PGconn *whose)
{
    await_count(conn, " AND wait_event_type = 'Lock'", PQbackendPID(whose), 1);
}
