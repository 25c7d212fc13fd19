/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * postgres.c - one conversation with PostgreSQL
 *
 * The only file that sends and receives over libpq: what is sent together,
 * how long an answer is waited for, and what is known once it fails to come.
 * Knows nothing of locks and fences.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "pg_internal.h"

/* TLS may hold back bytes that poll() can't see: look at least this often. */
#define LOOK_MS 500

/* What the server has said so far. */
typedef struct answers {
    PGresult *last; /* of the latest step that succeeded             */
    int steps;      /* answered, with or without success             */
    int preparing;  /* the next answer is that to a step's preparing */
    int failed;     /* there was an error; its outcome is in status  */
    rf_status status;
} answers;

/* ---- Waiting -------------------------------------------------------------- */

/*
 * Wait for the socket.  Returns 0 when time is up.  A signal or an early
 * return does no harm: the caller looks again.
 */
static int wait_ready(PGconn *conn, short events, int64_t until_ms)
{
    struct pollfd socket = { PQsocket(conn), events, 0 };
    int64_t left = until_ms - rf__now_ms();

    if (left <= 0)
        return 0;
    (void)poll(&socket, 1, left < LOOK_MS ? (int)left : LOOK_MS);
    return 1;
}

/*
 * Has the server gone while the connection was idle?  Asked before anything
 * is sent: libpq reports a failed write only when it reads, and from then on
 * nobody can say whether the request went out.
 */
static int hung_up(PGconn *conn)
{
    int i;

    for (i = 0; i < 4; i++) {
        struct pollfd socket = { PQsocket(conn), POLLIN, 0 };

        if (poll(&socket, 1, 0) <= 0)
            return 0;
        if (!PQconsumeInput(conn))
            return 1;
    }
    return 0;
}

void rf__pg_abandon(PGconn *conn)
{
    int i;

    /*
     * Late answers must never be read as those of the next request.  libpq
     * has no call for giving up a connection that the caller owns, but it
     * marks one bad as soon as it reads its end.
     */
    (void)shutdown(PQsocket(conn), SHUT_RDWR);
    for (i = 0; i < 64 && PQconsumeInput(conn); i++)
        continue;
}

/* ---- Sending -------------------------------------------------------------- */

/* That step, when it has a name. */
static rf__pg_named *named_at(const rf__pg_talk *talk, int at)
{
    rf__pg_named *named = talk->named;

    return named != NULL && named->name != NULL && named->at == at ? named
                                                                   : NULL;
}

static int prepares_at(const rf__pg_talk *talk, int at)
{
    const rf__pg_named *named = named_at(talk, at);

    return named != NULL && named->prepare;
}

static int queue_step(PGconn *conn, const rf__pg_talk *talk, int at)
{
    const rf__pg_step *step = &talk->steps[at];
    const rf__pg_named *named = named_at(talk, at);

    if (named == NULL)
        return PQsendQueryParams(conn, step->sql, step->n, step->types,
                                 step->values, NULL, NULL, 0);
    if (named->prepare &&
        !PQsendPrepare(conn, named->name, step->sql, step->n, step->types))
        return 0;
    return PQsendQueryPrepared(conn, named->name, step->n, step->values, NULL,
                               NULL, 0);
}

static int queue_steps(PGconn *conn, const rf__pg_talk *talk)
{
    int i;

    for (i = 0; i < talk->n; i++) {
        if (!queue_step(conn, talk, i))
            return 0;
    }
    return PQpipelineSync(conn);
}

/* The request went out in part: the Sync, its last message, did not. */
static rf_status cut_short(const rf__pg_talk *talk, const char *text)
{
    return rf__pg_fail(talk->error, talk->commits ? RF_UNKNOWN : RF_RETRY,
                       text);
}

/* Send the steps and the Sync. */
static rf_status send_steps(PGconn *conn, const rf__pg_talk *talk)
{
    int rest;

    if (!queue_steps(conn, talk)) {
        if (PQstatus(conn) != CONNECTION_OK)
            return rf__pg_fail(talk->error, RF_RETRY, PQerrorMessage(conn));
        return rf__pg_fail(talk->error, RF_NOMEM, PQerrorMessage(conn));
    }
    while ((rest = PQflush(conn)) > 0) {
        if (!wait_ready(conn, POLLIN | POLLOUT, talk->until_ms))
            return cut_short(talk, "time is over before all was sent");
        /* A server that answers early must not wait for us to listen. */
        if (!PQconsumeInput(conn))
            return cut_short(talk, PQerrorMessage(conn));
    }
    return RF_OK;
}

/* ---- Receiving ------------------------------------------------------------ */

/* Wait for the next result.  0: none will come, or not in time. */
static int await_result(PGconn *conn, int64_t until_ms)
{
    while (PQisBusy(conn)) {
        if (!wait_ready(conn, POLLIN, until_ms))
            return 0;
        /* A lost connection shows in PQisBusy(); this is lack of memory. */
        if (!PQconsumeInput(conn) && PQstatus(conn) == CONNECTION_OK)
            return 0;
    }
    return 1;
}

/* Keep the first error: those after it are its consequences. */
static void note_error(answers *got, const PGresult *result, rf__error *error)
{
    const char *severity;

    if (got->failed)
        return;
    got->failed = 1;
    got->status = rf__pg_tell(error, result);

    /*
     * FATAL may come from a pooler, or out of the middle of a commit.  Only
     * the guard's own verdicts prove that nothing was committed.
     */
    severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != NULL && strcmp(severity, "ERROR") == 0)
        return;
    if (got->status == RF_RETRY || got->status == RF_MISUSE)
        got->status = RF_UNKNOWN;
}

/* invalid_sql_statement_name, duplicate_prepared_statement */
static int refuses_name(const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    return code != NULL &&
           (strcmp(code, "26000") == 0 || strcmp(code, "42P05") == 0);
}

static void keep(const rf__pg_talk *talk, answers *got, PGresult *result)
{
    rf__pg_named *named = talk->named;
    PGresult **where = &got->last;

    if (named != NULL && named->at == got->steps && got->preparing)
        named->prepare = 0;
    else if (named != NULL && named->at == got->steps)
        where = &named->result;
    PQclear(*where);
    *where = result;
}

/* Take one result; it is freed or kept. */
static void take(const rf__pg_talk *talk, answers *got, PGresult *result)
{
    rf__pg_named *named = named_at(talk, got->steps);

    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY: keep(talk, got, result); return;
    case PGRES_PIPELINE_ABORTED: break; /* the error before it says why */
    default:
        if (named != NULL && !got->failed)
            named->refused = refuses_name(result);
        note_error(got, result, talk->error);
    }
    PQclear(result);
}

/* The answer to a step is complete.  0 when there were more than asked for. */
static int next_step(const rf__pg_talk *talk, answers *got)
{
    if (got->preparing) {
        got->preparing = 0;
        return 1;
    }
    got->steps++;
    got->preparing = prepares_at(talk, got->steps);
    /* One for each step, and one for an error of the Sync itself. */
    return got->steps <= talk->n + 1;
}

/* The answers break off.  An error that was heard before stays the last. */
static rf_status break_off(const rf__pg_talk *talk, const answers *got,
                           const char *text)
{
    return got->failed ? RF_UNKNOWN
                       : rf__pg_fail(talk->error, RF_UNKNOWN, text);
}

/*
 * Read until the Sync is answered.  Returns RF_OK when it was; otherwise more
 * answers may be under way, and the connection has to be given up.
 */
static rf_status collect(PGconn *conn, const rf__pg_talk *talk, answers *got)
{
    for (;;) {
        PGresult *result;

        if (!await_result(conn, talk->until_ms))
            return break_off(talk, got, "no answer in time");
        result = PQgetResult(conn);
        if (result == NULL) {
            if (PQstatus(conn) != CONNECTION_OK || !next_step(talk, got))
                return break_off(talk, got, PQerrorMessage(conn));
            continue;
        }
        switch (PQresultStatus(result)) {
        case PGRES_PIPELINE_SYNC: PQclear(result); return RF_OK;
        case PGRES_COPY_IN:
        case PGRES_COPY_OUT:
        case PGRES_COPY_BOTH:
            PQclear(result);
            return break_off(talk, got, "COPY has no place here");
        default: take(talk, got, result);
        }
    }
}

/* ---- All of it ------------------------------------------------------------ */

/* Send and receive, with the connection in pipeline mode. */
static rf_status exchange(PGconn *conn, rf__pg_talk *talk)
{
    answers got = { .status = RF_OK, .preparing = prepares_at(talk, 0) };
    rf_status status = send_steps(conn, talk);
    int complete = 0;

    if (status == RF_OK) {
        status = collect(conn, talk, &got);
        complete = status == RF_OK;
        if (got.failed)
            status = got.status;
    }
    if (!complete || !PQexitPipelineMode(conn))
        rf__pg_abandon(conn);
    if (status == RF_OK) {
        talk->last = got.last;
        got.last = NULL;
    }
    PQclear(got.last);
    return status;
}

rf_status rf__pg_converse(PGconn *conn, rf__pg_talk *talk)
{
    int nonblocking = PQisnonblocking(conn);
    rf_status status;

    talk->last = NULL;
    if (hung_up(conn))
        return rf__pg_fail(talk->error, RF_RETRY, PQerrorMessage(conn));
    /* Blocking libpq waits without a limit, in writes too. */
    if (PQsetnonblocking(conn, 1) != 0 || !PQenterPipelineMode(conn))
        return rf__pg_fail(talk->error, RF_RETRY, PQerrorMessage(conn));
    status = exchange(conn, talk);
    if (!nonblocking)
        (void)PQsetnonblocking(conn, 0);
    return status;
}

rf_status rf__pg_end_transaction(PGconn *conn, rf__error *error)
{
    static const rf__pg_step step = { "ROLLBACK", 0, NULL, NULL };
    rf__pg_talk talk = { .steps = &step, .n = 1, .error = error };
    rf_status status;

    if (PQtransactionStatus(conn) == PQTRANS_IDLE)
        return RF_OK;
    if (PQstatus(conn) != CONNECTION_OK)
        return rf__pg_fail(error, RF_RETRY, "the connection is lost");
    talk.until_ms = rf__now_ms() + RF__PG_MARGIN_MS;
    status = rf__pg_converse(conn, &talk);
    PQclear(talk.last);
    if (status == RF_OK)
        return RF_OK;
    /* The server rolls back what it can't talk about. */
    if (PQstatus(conn) == CONNECTION_OK)
        rf__pg_abandon(conn);
    return RF_RETRY;
}

void rf__pg_tidy(PGconn *conn)
{
    rf__error ignored;

    (void)rf__pg_end_transaction(conn, &ignored);
}
