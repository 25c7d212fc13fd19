/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_transaction.c - fenced transactions of more than one statement
 *
 * The guard travels with BEGIN.  COMMIT travels behind a question that only a
 * transaction which has claimed the resource can answer, so that one which
 * was begun in some other way is never committed as if it were fenced.
 */
#include "pg_internal.h"

static const char *const begin_sql[] = {
    [RF_PG_READ_COMMITTED] = "BEGIN ISOLATION LEVEL READ COMMITTED",
    [RF_PG_REPEATABLE_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
    [RF_PG_SERIALIZABLE] = "BEGIN ISOLATION LEVEL SERIALIZABLE",
};

rf_status rf_pg_begin(PGconn *conn, rf_lock *lock, rf_pg_isolation isolation)
{
    rf__pg_step steps[2] = { { NULL, 0, NULL, NULL }, { NULL, 0, NULL, NULL } };
    rf__pg_talk talk = { .n = 2 };
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    talk.error = rf__pg_error(lock);
    if ((unsigned)isolation > RF_PG_SERIALIZABLE)
        return rf__pg_fail(talk.error, RF_MISUSE,
                           "there is no such isolation level");
    status = rf__pg_check_lock(lock, talk.error);
    if (status == RF_OK)
        status = rf__pg_check_idle(conn, talk.error);
    if (status != RF_OK)
        return status;
    steps[0].sql = begin_sql[isolation];
    status = rf__pg_guarded(conn, lock, &talk, steps, 1);
    PQclear(talk.last);
    if (status == RF_OK)
        return RF_OK;
    rf__pg_tidy(conn);
    /* Nothing is committed here, whatever became of the answer. */
    return rf__pg_settle(lock, status == RF_UNKNOWN ? RF_RETRY : status);
}

/* Is there a transaction on conn that can be ended?  RF_OK, or why not. */
static rf_status check_open(PGconn *conn, rf__error *error)
{
    if (conn == NULL)
        return rf__pg_fail(error, RF_MISUSE, "conn is NULL");
    if (PQstatus(conn) != CONNECTION_OK)
        return rf__pg_fail(error, RF_RETRY, "the connection is lost");
    if (PQpipelineStatus(conn) != PQ_PIPELINE_OFF)
        return rf__pg_fail(error, RF_MISUSE,
                           "the connection is in pipeline mode");
    switch (PQtransactionStatus(conn)) {
    case PQTRANS_INTRANS:
    case PQTRANS_INERROR: return RF_OK;
    case PQTRANS_ACTIVE:
        return rf__pg_fail(error, RF_MISUSE,
                           "the connection is busy with another statement");
    default: return rf__pg_fail(error, RF_MISUSE, "no transaction is open");
    }
}

/* Why an open transaction must not be committed; RF_OK when it may be. */
static rf_status check_commit(PGconn *conn, rf_lock *lock, rf__error *error)
{
    rf_status status = rf__pg_check_lock(lock, error);

    if (status == RF_OK && PQtransactionStatus(conn) == PQTRANS_INERROR)
        return rf__pg_fail(error, RF_RETRY,
                           "a statement had failed: rolled back");
    return status;
}

/* A transaction that had failed doesn't get as far as COMMIT. */
static rf_status commit(PGconn *conn, rf_lock *lock, rf__error *error)
{
    const char *values[1] = { rf_lock_resource(lock) };
    const rf__pg_step steps[2] = {
        { "SELECT ringfence.fence($1)", 1, NULL, values },
        { "COMMIT", 0, NULL, NULL },
    };
    rf__pg_talk talk = { .steps = steps, .n = 2, .commits = 1, .error = error };
    rf_status status;

    talk.until_ms = rf__now_ms() + rf_lock_left_ms(lock) + RF__PG_MARGIN_MS;
    status = rf__pg_converse(conn, &talk);
    PQclear(talk.last);
    return status;
}

rf_status rf_pg_commit(PGconn *conn, rf_lock *lock)
{
    rf__error *error;
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    error = rf__pg_error(lock);
    status = check_open(conn, error);
    if (status == RF_MISUSE)
        return status;
    if (status == RF_OK)
        status = check_commit(conn, lock, error);
    if (status == RF_OK)
        status = commit(conn, lock, error);
    if (status != RF_OK)
        rf__pg_tidy(conn);
    return rf__pg_settle(lock, status);
}

rf_status rf_pg_rollback(PGconn *conn, rf_lock *lock)
{
    rf__error *error;
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    error = rf__pg_error(lock);
    status = check_open(conn, error);
    return status == RF_OK ? rf__pg_end_transaction(conn, error) : status;
}
