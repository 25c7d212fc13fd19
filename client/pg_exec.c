/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_exec.c - one fenced statement in one round trip
 *
 * Guard and statement form one implicit transaction, which the Sync commits.
 * A request that was cut off half-way is therefore never committed.
 */
#include "pg_internal.h"

/* The most that the protocol can carry. */
#define PARAMETERS_MAX 65535

static rf_status check_statement(const rf_pg_statement *statement,
                                 rf__error *error)
{
    if (statement == NULL || statement->sql == NULL)
        return rf__pg_fail(error, RF_MISUSE, "there is no statement");
    if (statement->n < 0 || statement->n > PARAMETERS_MAX)
        return rf__pg_fail(error, RF_MISUSE,
                           "the number of parameters is wrong");
    if (statement->n > 0 && statement->values == NULL)
        return rf__pg_fail(error, RF_MISUSE, "there are no parameter values");
    return rf__pg_check_sql(statement->sql, error);
}

static rf_status run(PGconn *conn, rf_lock *lock, const rf__pg_step *statement,
                     rf__error *error, PGresult **result)
{
    rf__pg_step steps[2] = { *statement, *statement };
    rf__pg_talk talk = { .n = 2, .error = error };
    rf_status status = rf__pg_guarded(conn, lock, &talk, steps, 0);

    status = rf__pg_settle(lock, status);
    if (status == RF_OK && result != NULL)
        *result = talk.last;
    else
        PQclear(talk.last);
    return status;
}

rf_status rf_pg_exec(PGconn *conn, rf_lock *lock,
                     const rf_pg_statement *statement, PGresult **result)
{
    rf__pg_step step = { NULL, 0, NULL, NULL };
    rf__error *error;
    rf_status status;

    if (result != NULL)
        *result = NULL;
    if (lock == NULL)
        return RF_MISUSE;
    error = rf__pg_error(lock);
    status = check_statement(statement, error);
    if (status == RF_OK)
        status = rf__pg_check_lock(lock, error);
    if (status == RF_OK)
        status = rf__pg_check_idle(conn, error);
    if (status != RF_OK)
        return status;
    step.sql = statement->sql;
    step.n = statement->n;
    step.values = statement->values;
    return run(conn, lock, &step, error, result);
}
