/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_resolve.c - what became of an operation whose answer was lost
 *
 * Asks as the operation itself would: ringfence.once() in a transaction that
 * has claimed the resource.  A receipt that this writes is rolled back.
 */
#include <string.h>

#include "pg_internal.h"

static rf_status ask(PGconn *conn, const rf_lock *lock, const char *operation,
                     rf__error *error, int *committed)
{
    const char *values[2] = { rf_lock_resource(lock), operation };
    rf__pg_step steps[3] = {
        { .sql = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE" },
        { .sql = NULL },
        { .sql = "SELECT ringfence.once($1, $2)", .n = 2, .values = values },
    };
    rf__pg_talk talk = { .n = 3, .error = error };
    rf_status status = rf__pg_guarded(conn, lock, &talk, steps, 1);

    if (status == RF_OK)
        *committed = strcmp(PQgetvalue(talk.last, 0, 0), "f") == 0;
    PQclear(talk.last);
    rf__pg_tidy(conn);
    /* Nothing is committed here, whatever became of the answer. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

rf_status rf_pg_resolve(PGconn *conn, rf_lock *lock, const char *operation,
                        int *committed)
{
    rf__error *error;
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    error = rf__pg_error(lock);
    if (operation == NULL || committed == NULL)
        return rf__pg_fail(error, RF_MISUSE, "there is nothing to resolve");
    *committed = 0;
    status = rf__pg_check_lock(lock, error);
    if (status == RF_OK)
        status = rf__pg_check_idle(conn, error);
    if (status != RF_OK)
        return status;
    return rf__pg_settle(lock, ask(conn, lock, operation, error, committed));
}
