/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * database.c - the database beside the locks
 *
 * Decides by SQLSTATE; texts of the server are for people.
 */
#include "database.h"

#include <ringfence_pg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit.h"

/* The extension that these commands were written for, or a later one. */
#define EXTENSION_LEAST "0.1.0"

const char *cli_remedy(const char *sqlstate)
{
    if (strcmp(sqlstate, "3F000") == 0 || strcmp(sqlstate, "42883") == 0 ||
        strcmp(sqlstate, "42P01") == 0)
        return "; as a superuser of this database: CREATE EXTENSION ringfence";
    if (strcmp(sqlstate, "42501") == 0)
        return "; as its owner: SELECT ringfence.grant_to('ROLE') for what "
               "applications do, GRANT for the rest";
    return "";
}

/* ---- Connecting ------------------------------------------------------- */

/*
 * A server that answers but lets us not in is a matter for people; one that
 * does not answer may do so later.
 */
static rf_status why_not(const cli_call *call)
{
    const char *conninfo = call->settings.pg;

    if (PQconnectionNeedsPassword(call->conn) ||
        PQconnectionUsedPassword(call->conn))
        return RF_MISUSE;
    switch (PQping(conninfo != NULL ? conninfo : "")) {
    case PQPING_OK:
    case PQPING_NO_ATTEMPT: return RF_MISUSE;
    default: return RF_RETRY;
    }
}

static const char *what_to_do(const cli_call *call, rf_status status)
{
    if (PQconnectionNeedsPassword(call->conn) ||
        PQconnectionUsedPassword(call->conn))
        return "look at the password (PGPASSWORD, ~/.pgpass)";
    return status == RF_RETRY ? "is it running, and is this where it is?"
                              : "look at the user and the database";
}

int cli_connect_only(cli_call *call)
{
    const char *conninfo = call->settings.pg;
    const char *names[] = { "connect_timeout", "dbname",
                            "fallback_application_name", NULL };
    const char *values[] = { "5", conninfo, "ringfence", NULL };
    rf_status status;

    /* Who has set one in the environment means that. */
    if (getenv("PGCONNECT_TIMEOUT") != NULL)
        values[0] = NULL;
    /* Blank: libpq finds it, and the user's name is no name of a database. */
    if (conninfo != NULL && strspn(conninfo, " ") == strlen(conninfo))
        values[1] = NULL;
    call->conn = PQconnectdbParams(names, values, 1);
    if (call->conn == NULL)
        return cli_fail(RF_NOMEM, "out of memory");
    if (PQstatus(call->conn) == CONNECTION_OK)
        return 0;
    status = why_not(call);
    return cli_fail(status, "PostgreSQL: %s; %s", PQerrorMessage(call->conn),
                    what_to_do(call, status));
}

/* 1 when version a is below b; each is three numbers. */
static int is_below(const char *a, const char *b)
{
    for (int part = 0; part < 3; part++) {
        char *a_end, *b_end;
        long have = strtol(a, &a_end, 10), want = strtol(b, &b_end, 10);

        if (have != want)
            return have < want;
        a = *a_end == '.' ? a_end + 1 : a_end;
        b = *b_end == '.' ? b_end + 1 : b_end;
    }
    return 0;
}

static int check_extension(cli_call *call)
{
    int code;
    PGresult *answer = cli_ask(call,
                               "SELECT extversion FROM pg_catalog.pg_extension "
                               "WHERE extname = 'ringfence'",
                               0, NULL, &code);

    if (answer == NULL)
        return code;
    if (PQntuples(answer) == 0)
        code = cli_fail(RF_MISUSE,
                        "database \"%s\" has no extension ringfence%s",
                        PQdb(call->conn), cli_remedy("3F000"));
    else if (is_below(PQgetvalue(answer, 0, 0), EXTENSION_LEAST))
        code = cli_fail(RF_MISUSE,
                        "the extension in database \"%s\" is %s, older than "
                        "the %s that this command needs; install that one and "
                        "ALTER EXTENSION ringfence UPDATE",
                        PQdb(call->conn), PQgetvalue(answer, 0, 0),
                        EXTENSION_LEAST);
    PQclear(answer);
    return code;
}

int cli_connect(cli_call *call)
{
    int code = cli_connect_only(call);

    return code == 0 ? check_extension(call) : code;
}

/* ---- Asking ----------------------------------------------------------- */

static int refused(cli_call *call, const PGresult *answer)
{
    const char *sqlstate = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const char *detail = PQresultErrorField(answer, PG_DIAG_MESSAGE_DETAIL);
    const char *text = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);

    if (sqlstate == NULL || text == NULL)
        return cli_fail(RF_RETRY, "PostgreSQL: %s", PQerrorMessage(call->conn));
    return cli_fail(rf_pg_status(sqlstate), "PostgreSQL: %s%s%s (%s)%s", text,
                    detail != NULL ? ": " : "", detail != NULL ? detail : "",
                    sqlstate, cli_remedy(sqlstate));
}

PGresult *cli_ask(cli_call *call, const char *sql, int n,
                  const char *const *values, int *code)
{
    PGresult *answer = PQexecParams(call->conn, sql, n, NULL, values, NULL,
                                    NULL, 0);

    *code = 0;
    if (PQresultStatus(answer) == PGRES_TUPLES_OK)
        return answer;
    *code = refused(call, answer);
    PQclear(answer);
    return NULL;
}
