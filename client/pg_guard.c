/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_guard.c - the call of the guard, and what its answer does to a lock
 *
 * Also the checks that every public call of the database side begins with.
 */
#include <string.h>

#include "pg_internal.h"

/* From PostgreSQL's catalog, where these numbers never change. */
enum { OID_INT8 = 20, OID_TEXT = 25, OID_INTERVAL = 1186 };

/* Constant text and given types: the server plans it in the same way always. */
static const char guard_sql[] = "SELECT ringfence.guard($1, $2, $3, $4)";
static const Oid guard_types[] = { OID_TEXT, OID_INT8, OID_TEXT, OID_INTERVAL };

rf__error *rf__pg_error(const rf_lock *lock)
{
    rf__error *error = rf__client_error(rf__lock_client(lock));

    error->text[0] = '\0';
    error->sqlstate[0] = '\0';
    return error;
}

rf_status rf__pg_check_idle(PGconn *conn, rf__error *error)
{
    if (conn == NULL)
        return rf__pg_fail(error, RF_MISUSE, "conn is NULL");
    if (PQstatus(conn) != CONNECTION_OK)
        return rf__pg_fail(error, RF_RETRY, "the connection is lost");
    if (PQpipelineStatus(conn) != PQ_PIPELINE_OFF)
        return rf__pg_fail(error, RF_MISUSE,
                           "the connection is in pipeline mode");
    switch (PQtransactionStatus(conn)) {
    case PQTRANS_IDLE: return RF_OK;
    case PQTRANS_ACTIVE:
        return rf__pg_fail(error, RF_MISUSE,
                           "the connection is busy with another statement");
    default:
        return rf__pg_fail(error, RF_MISUSE,
                           "the connection is inside a transaction");
    }
}

rf_status rf__pg_check_lock(const rf_lock *lock, rf__error *error)
{
    rf_status status = rf__lock_state(lock);

    if (status == RF_MISUSE)
        return rf__pg_fail(error, status,
                           "the lock belongs to another process, or its "
                           "client is closed");
    if (status != RF_OK) {
        rf__set_error(error, "the lock is over: %s", rf_status_text(status));
        return status;
    }
    /*
     * Whoever computes from what was read before the claim loses updates, and
     * nobody can see that from here: so the claim comes first, always.
     */
    if (!rf__lock_claimed(lock))
        return rf__pg_fail(error, RF_MISUSE,
                           "the lock was not claimed: use rf_pg_acquire");
    return RF_OK;
}

rf_status rf__pg_guard_write(rf__pg_guard *guard, const rf_lock *lock,
                             rf__error *error)
{
    int64_t left_ms = rf_lock_left_ms(lock);
    rf_fence fence = rf_lock_fence(lock);

    if (left_ms <= 0 || fence <= 0)
        return rf__pg_fail(error, RF_LOST, "the lock is over");
    rf__decimal_write(guard->fence, fence);
    memcpy(guard->lease + rf__decimal_write(guard->lease, left_ms), " ms", 4);
    guard->values[0] = rf_lock_resource(lock);
    guard->values[1] = guard->fence;
    guard->values[2] = rf_lock_holder(lock);
    guard->values[3] = guard->lease;
    guard->until_ms = rf__now_ms() + left_ms + RF__PG_MARGIN_MS;
    guard->step.sql = guard_sql;
    guard->step.n = 4;
    guard->step.types = guard_types;
    guard->step.values = guard->values;
    return RF_OK;
}

rf_status rf__pg_settle(rf_lock *lock, rf_status status)
{
    if (status == RF_RETRY && rf__lock_state(lock) == RF_LOST)
        status = RF_LOST;
    /*
     * What may still be running under this grant can't be waited for with the
     * same grant: whoever looks has to take the lock anew.
     */
    if (status == RF_STALE || status == RF_COLLISION || status == RF_LOST ||
        status == RF_UNKNOWN)
        rf__lock_set_over(lock, status);
    return status;
}
