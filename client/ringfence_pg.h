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
 * Ownership  The connection stays the caller's, and has to be idle: connected,
 *            outside a transaction, not busy, not in pipeline mode.  Blocking
 *            or not makes no difference.  A PGresult handed out is ended with
 *            PQclear().
 * Waiting    No call waits longer than until a second after the lock's
 *            deadline.  A connection that still owes an answer then is given
 *            up: PQstatus() is CONNECTION_BAD, and PQreset() makes a new one.
 * Finality   After RF_STALE, RF_COLLISION, RF_LOST or RF_UNKNOWN the lock is
 *            over: what was read under it is worthless, and every later call on
 *            it is refused without asking.  Release it and, if need be, start a
 *            new section.
 * Unknown    After RF_UNKNOWN look before doing it again (rf_pg_resolve), under
 *            a lock taken anew: its claim waits for what may still be running,
 *            and keeps out what has not begun, so that the answer is final.
 * Claimed    The other calls refuse a lock of rf_acquire() alone (RF_MISUSE):
 *            what was read before the claim may be out of date.  rf_pg_claim()
 *            makes it one of these.
 * Durable    RF_OK means committed as synchronous_commit says.  A standby may
 *            still lack it when someone cancels the wait for it (libpq then
 *            passes a WARNING to its notice receiver).
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
 * transaction of its own, whatever the session's defaults.  When the lock
 * service has no counter for the resource, the database is asked what it had
 * come to; a number that was issued too low all the same (the counter went
 * back) is raised above the stored one and claimed again, as long as the lock
 * is still ours.
 *
 * On success *out is the lock; end it with rf_release().  Otherwise *out is
 * NULL and the lock has been given back if it could be.
 *
 * Returns what rf_acquire() returns (RF_UNKNOWN comes from there alone), and
 * RF_LOST (the lock ran out before it was claimed), RF_STALE or RF_COLLISION
 * (another holder claimed a newer grant meanwhile), RF_RETRY (the database
 * could not be asked, or its answer was lost: a claim that did land does no
 * harm, since its grant was given up) or RF_MISUSE (conn is not idle, the
 * extension is missing, no privilege: rf_pg_sqlstate tells).
 */
rf_status rf_pg_acquire(rf_client *client, PGconn *conn, const char *resource,
                        const rf_acquire_options *opts, rf_lock **out);

/*
 * Claim a lock that was taken by rf_acquire() or rf_async_acquire(), before
 * anything is read under it; rf_pg_acquire() does both.  As there, a number that
 * was too low at birth is raised and claimed again, but not that of a lock which
 * belongs to an event loop or was attached: release it and acquire with the floor
 * that rf_pg_floor() tells.  The lock stays the caller's whatever the outcome.
 *
 * Returns RF_OK, RF_LOST, RF_STALE, RF_COLLISION (all three: the lock is over),
 * RF_RETRY (the database could not be asked, or its answer was lost) or
 * RF_MISUSE.
 */
rf_status rf_pg_claim(PGconn *conn, rf_lock *lock);

/*
 * The newest fence that the database knows for resource, 0 when it knows none.
 * For ask_floor of rf_acquire_options, with the PGconn as ask_floor_arg; the
 * connection must be idle.  rf_pg_acquire() asks by itself.
 *
 * Returns RF_OK, RF_RETRY (the database could not be asked) or RF_MISUSE.
 */
rf_status rf_pg_floor(void *conn, const char *resource, rf_fence *out);

/* A statement with its parameters, as PQexecParams takes them, in text. */
typedef struct rf_pg_statement {
    const char *sql;           /* one statement; $1, $2, ... its parameters */
    int n;                     /* how many                                  */
    const char *const *values; /* NULL element: SQL NULL                    */
} rf_pg_statement;

/*
 * Run one statement under the lock: guard and statement travel together in
 * one network round trip and commit as one transaction, or not at all, in the
 * session's default isolation.  COPY and statements that begin or end a
 * transaction are refused, and so is a procedure that commits.  *result, when
 * result is not NULL, is the statement's result on RF_OK; otherwise NULL.
 *
 * Returns RF_OK (committed), RF_STALE, RF_COLLISION, RF_LOST (the deadline is
 * over, or the database ended the transaction at the lease's end), RF_RETRY
 * (nothing was committed: connection lost before it was sent, serialization
 * failure, deadlock, lock timeout), RF_UNKNOWN (perhaps committed: connection
 * lost after it was sent, or no answer until a second after the deadline),
 * RF_MISUSE (the statement itself failed: rf_pg_sqlstate tells how; or the
 * call is wrong) or RF_NOMEM.
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
 * Commit the transaction that rf_pg_begin() opened, in one round trip.  The
 * database is asked again whether the transaction has claimed the resource:
 * one that was begun in another way is rolled back.  Afterwards no transaction
 * is open, unless conn is busy or in pipeline mode (RF_MISUSE).
 *
 * Returns RF_OK (committed), RF_LOST (deadline over, not sent; or ended by the
 * database at the lease's end), RF_RETRY (rolled back: a statement had failed,
 * a serialization failure, or the connection was lost before), RF_UNKNOWN (as
 * in rf_pg_exec) or RF_MISUSE (no transaction is open, or not a fenced one, or
 * a constraint failed: rf_pg_sqlstate tells).
 */
rf_status rf_pg_commit(PGconn *conn, rf_lock *lock);

/*
 * Roll back the transaction that rf_pg_begin() opened, also when the lock is
 * over.
 *
 * Returns RF_OK, RF_MISUSE (no transaction is open), or RF_RETRY when the
 * connection was lost (the database rolls back by itself).
 */
rf_status rf_pg_rollback(PGconn *conn, rf_lock *lock);

/*
 * Was the operation committed that called ringfence.once(resource, operation)
 * in its transaction?  For after RF_UNKNOWN, under a lock on the same resource
 * taken anew (with a holder of its own), and while the receipt is kept.  On
 * success *committed is 1 or 0, and stays so for all older grants.
 *
 * Returns what rf_pg_begin() returns.
 */
rf_status rf_pg_resolve(PGconn *conn, rf_lock *lock, const char *operation,
                        int *committed);

/*
 * Look at the database that judges, with a person's questions: version, role,
 * durability, standbys, timeouts, preloading, clock, the extension and what the
 * role may do.  conn is connected and idle, and stays so.  Each answer is a
 * finding (rf_finding), also when it is a good one; each question may take five
 * seconds.  What is protected in it is ringfence.audit()'s to tell.
 *
 * Returns RF_OK, RF_RETRY, RF_MISUSE or RF_NOMEM.
 */
rf_status rf_pg_examine(PGconn *conn, rf_on_finding on_finding, void *arg);

/*
 * The outcome behind an SQLSTATE, for callers who run their own statements on
 * conn: RF001 is RF_STALE, RF002 RF_COLLISION, other RF codes RF_MISUSE; the
 * lease's end RF_LOST; classes 40, 53, 57, 55P03 and the like RF_RETRY; class
 * 08 RF_UNKNOWN; the rest RF_MISUSE.  NULL, "" and whatever else is no code is
 * RF_UNKNOWN: an answer without a code decides nothing.
 */
rf_status rf_pg_status(const char *sqlstate);

/*
 * SQLSTATE behind the last failure of an rf_pg_ call on this client or one of
 * its locks, or "".  Valid until the next call.
 */
const char *rf_pg_sqlstate(const rf_client *client);

#ifdef __cplusplus
}
#endif

#endif /* RINGFENCE_PG_H */
