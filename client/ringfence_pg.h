/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ringfence_pg.h - fenced writes over libpq
 *
 * "Acquired" means claimed: rf_pg_acquire() returns a lock only after the
 * database has accepted it, and from that moment every older grant is refused.
 * All later writes carry the grant to the guard in the same network round trip.
 *
 * Errors     As in ringfence.h.  SQLSTATE decides, never the message text.  The
 *            text of a failure is rf_message() of the client behind the lock.
 * Ownership  The connection stays the caller's.  A PGresult handed out is ended
 *            with PQclear().
 * Finality   After RF_STALE, RF_COLLISION or RF_LOST the lock is over: what was
 *            read under it is worthless, and every later call on it is refused
 *            without asking.  Release it and, if need be, start a new section.
 */
#ifndef RINGFENCE_PG_H
#define RINGFENCE_PG_H

#include <libpq-fe.h>

#include "ringfence.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Take the lock on resource and claim it in the database, in a READ COMMITTED
 * transaction of its own.  A number that Redis issued too low (it forgot its
 * counter) is raised above the stored one and claimed again, as long as the
 * lock is still ours.  conn must be idle: not inside a transaction.
 *
 * On success *out is the lock; end it with rf_release().  Otherwise *out is
 * NULL and the lock has been given back if it could be.
 *
 * Returns what rf_acquire() returns, and RF_LOST (the lock ran out before the
 * claim), RF_STALE (another holder claimed a newer grant meanwhile).
 */
rf_status rf_pg_acquire(rf_client *client, PGconn *conn, const char *resource,
                        const rf_acquire_options *opts, rf_lock **out);

/* A statement with its parameters, as PQexecParams takes them, in text. */
typedef struct rf_pg_statement {
    const char *sql;           /* one statement; $1, $2, ... its parameters */
    int n;                     /* how many                                  */
    const char *const *values; /* NULL element: SQL NULL                    */
} rf_pg_statement;

/*
 * Run one statement under the lock: guard and statement travel together in
 * one network round trip and commit as one transaction, or not at all.  conn
 * must be idle.  *result, when result is not NULL, is the statement's result
 * on RF_OK; otherwise it is NULL.
 *
 * Returns RF_OK, RF_STALE, RF_COLLISION, RF_LOST (the deadline is over, or
 * the database ended the transaction at the lease's end), RF_RETRY (nothing
 * was committed: connection lost before it was sent, serialization failure,
 * deadlock, lock timeout), RF_UNKNOWN (connection lost after it was sent),
 * RF_MISUSE (the statement itself failed: rf_pg_sqlstate tells how) or
 * RF_NOMEM.
 */
rf_status rf_pg_exec(PGconn *conn, rf_lock *lock,
                     const rf_pg_statement *statement, PGresult **result);

typedef enum rf_pg_isolation {
    RF_PG_READ_COMMITTED = 0,
    RF_PG_REPEATABLE_READ = 1,
    RF_PG_SERIALIZABLE = 2
} rf_pg_isolation;

/*
 * Begin a longer transaction with the guard as its first statement, sent
 * together with BEGIN.  On success the connection is inside a transaction:
 * the caller runs its statements on conn and ends with rf_pg_commit() or
 * rf_pg_rollback().  Otherwise no transaction is open.
 *
 * Returns what rf_pg_exec() returns, but never RF_UNKNOWN: nothing is
 * committed here.
 */
rf_status rf_pg_begin(PGconn *conn, rf_lock *lock, rf_pg_isolation isolation);

/*
 * Commit the transaction that rf_pg_begin() opened.  Afterwards no transaction
 * is open, whatever the outcome.
 *
 * Returns RF_OK, RF_LOST (deadline over, not sent; or ended by the database at
 * the lease's end), RF_RETRY (rolled back: a statement had failed, or a
 * serialization failure), RF_UNKNOWN (connection lost after COMMIT was sent)
 * or RF_MISUSE (no transaction is open).
 */
rf_status rf_pg_commit(PGconn *conn, rf_lock *lock);

/*
 * Roll back the transaction that rf_pg_begin() opened.
 *
 * Returns RF_OK, RF_MISUSE (no transaction is open), or RF_RETRY when the
 * connection was lost (the database rolls back by itself).
 */
rf_status rf_pg_rollback(PGconn *conn, rf_lock *lock);

/*
 * The outcome behind an SQLSTATE, for callers who run their own statements on
 * conn: RF001 is RF_STALE, RF002 RF_COLLISION, other RF codes RF_MISUSE;
 * classes 40, 53, 55P03, 57 and the like RF_RETRY; the rest RF_MISUSE.
 * NULL or "" is RF_UNKNOWN: an answer without a code decides nothing.
 */
rf_status rf_pg_status(const char *sqlstate);

/*
 * SQLSTATE behind the last failure of an rf_pg_ call on this lock's client, or
 * "".  Valid until the next call.
 */
const char *rf_pg_sqlstate(const rf_client *client);

#ifdef __cplusplus
}
#endif

#endif /* RINGFENCE_PG_H */
