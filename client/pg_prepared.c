/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_prepared.c - the guard's call, planned once for each connection
 *
 * Planning it takes longer than the guard itself, so the server is asked to
 * keep the plan.  Behind a pooler that would be in somebody else's connection
 * the next time: nothing is prepared before the guard's first answer, which
 * brings the server's process id with it, has shown that nobody stands between.
 *
 * What is prepared may vanish (DISCARD ALL), and no write may fail because of
 * that.  The guard's call comes before all else that a conversation does, so
 * when its name is refused nothing was done, and all is sent again without one.
 * A connection on which that has happened is left alone from then on.
 *
 * What is known of a connection is kept in it, by libpq, which also tells when
 * it becomes another one.
 */
#include <libpq-events.h>

#include "pg_internal.h"

typedef enum knowledge {
    UNKNOWN = 0, /* what libpq gives where nothing was set            */
    DIRECT,      /* the server itself answers: may be prepared         */
    PREPARED,    /* the server keeps the plan                          */
    NEVER        /* a pooler answers, or somebody has cleared it away  */
} knowledge;

/* An outcome of one conversation only: nothing was done, send it again. */
#define AGAIN ((rf_status)-1)

static const char name[] = "ringfence_guard";

/* Asks the guard, and who answers: of use once for each connection. */
static const char first_sql[] = "SELECT ringfence.guard($1, $2, $3, $4),"
                                " pg_catalog.pg_backend_pid()";

/* ---- What is known ----------------------------------------------------------- */

static int forget_after_reset(PGEventId event, void *info, void *unused)
{
    (void)unused;
    if (event == PGEVT_CONNRESET)
        (void)PQsetInstanceData(((PGEventConnReset *)info)->conn,
                                forget_after_reset, NULL);
    return 1;
}

static knowledge known(const PGconn *conn)
{
    return (knowledge)(intptr_t)PQinstanceData(conn, forget_after_reset);
}

/* When memory is short it stays unknown, and so as it always works. */
static void learn(PGconn *conn, knowledge what)
{
    if (!PQsetInstanceData(conn, forget_after_reset, (void *)(intptr_t)what) &&
        PQregisterEventProc(conn, forget_after_reset, name, NULL))
        (void)PQsetInstanceData(conn, forget_after_reset,
                                (void *)(intptr_t)what);
}

/* ---- One conversation -------------------------------------------------------- */

/* A pooler makes up the process that it names when one connects. */
static knowledge who_answered(const PGconn *conn, const PGresult *result)
{
    int64_t pid;

    if (PQntuples(result) == 1 && PQnfields(result) == 2 &&
        rf__decimal_read(PQgetvalue(result, 0, 1), 1, INT32_MAX, &pid) &&
        pid == PQbackendPID(conn))
        return DIRECT;
    return NEVER;
}

static void learn_from(PGconn *conn, knowledge before,
                       const rf__pg_named *named)
{
    if (named->refused)
        learn(conn, NEVER);
    else if (before == UNKNOWN && named->result != NULL)
        learn(conn, who_answered(conn, named->result));
    else if (before == DIRECT && !named->prepare)
        learn(conn, PREPARED);
}

/* steps[at] is the guard's call. */
static rf_status converse(PGconn *conn, rf__pg_talk *talk, rf__pg_step *steps,
                          int at)
{
    knowledge before = known(conn);
    rf__pg_named named = { .at = at };
    rf_status status;

    if (before == UNKNOWN)
        steps[at].sql = first_sql;
    if (before == DIRECT || before == PREPARED)
        named.name = name;
    named.prepare = before == DIRECT;
    talk->steps = steps;
    talk->named = &named;
    status = rf__pg_converse(conn, talk);
    learn_from(conn, before, &named);
    PQclear(named.result);
    talk->named = NULL;
    return named.refused ? AGAIN : status;
}

rf_status rf__pg_guarded(PGconn *conn, const rf_lock *lock, rf__pg_talk *talk,
                         rf__pg_step *steps, int at)
{
    rf__pg_guard guard;
    rf_status status = AGAIN;

    while (status == AGAIN) {
        talk->error->text[0] = '\0';
        talk->error->sqlstate[0] = '\0';
        /* Each time anew: the lease is what is left. */
        status = rf__pg_guard_write(&guard, lock, talk->error);
        if (status != RF_OK)
            return status;
        steps[at] = guard.step;
        talk->until_ms = guard.until_ms;
        status = converse(conn, talk, steps, at);
        if (status == AGAIN)
            rf__pg_tidy(conn);
    }
    return status;
}
