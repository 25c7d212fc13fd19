/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_internal.h - what the files of the database side share
 *
 * postgres.c carries a conversation, pg_guard.c knows the guard's call and
 * what its answer does to a lock, pg_prepared.c how it is sent; pg_acquire.c,
 * pg_exec.c and pg_transaction.c are the public calls.  Nothing here is API.
 */
#ifndef RF_PG_INTERNAL_H
#define RF_PG_INTERNAL_H

#include "internal.h"
#include "ringfence_pg.h"

/* How long past a lock's deadline an answer is still waited for. */
#define RF__PG_MARGIN_MS 1000

/* One statement of a conversation. */
typedef struct rf__pg_step {
    const char *sql;
    int n;
    const Oid *types; /* NULL: the server works them out */
    const char *const *values;
} rf__pg_step;

/* A step that the server may know by name, or whose own result is wanted. */
typedef struct rf__pg_named {
    int at;           /* which step                                     */
    const char *name; /* NULL: it is sent like all others               */
    int prepare;      /* 1: not yet known by that name; out: 0, it is   */
    PGresult *result; /* out: the step's, when it succeeded; to clear   */
    int refused;      /* out: the name is not known, or taken; so that
                         nothing was done, in this step or after it     */
} rf__pg_named;

/* Statements that travel together, closed by one Sync: one round trip. */
typedef struct rf__pg_talk {
    const rf__pg_step *steps;
    int n;
    int commits;         /* a step commits, so that half of it may */
    int64_t until_ms;    /* on rf__now_ms(): nobody waits longer   */
    rf__error *error;    /* where a failure is told                */
    rf__pg_named *named; /* one of the steps, or NULL           */
    PGresult *last;      /* out: of the last step, on RF_OK alone  */
} rf__pg_talk;

/*
 * postgres.c: hold one conversation on an idle connection.  Afterwards the
 * connection is out of pipeline mode, or broken (PQstatus tells) when answers
 * may still have been under way.
 *
 * Returns RF_OK (every step and the Sync were answered without an error), what
 * rf_pg_status() makes of the first error, RF_RETRY (lost before all of it was
 * sent), RF_UNKNOWN (lost after that) or RF_NOMEM (not all of it was sent).
 */
rf_status rf__pg_converse(PGconn *conn, rf__pg_talk *talk);

/* postgres.c: the connection must not be used again, and shows it. */
void rf__pg_abandon(PGconn *conn);

/* postgres.c: no transaction is open afterwards, if need be no connection. */
rf_status rf__pg_end_transaction(PGconn *conn, rf__error *error);

/* postgres.c: the same after a failure, whose message stays the last. */
void rf__pg_tidy(PGconn *conn);

/* pg_status.c: a failure of our own, without an SQLSTATE. */
rf_status rf__pg_fail(rf__error *error, rf_status status, const char *text);

/* pg_status.c: what a server's error means; its text and code are told. */
rf_status rf__pg_tell(rf__error *error, const PGresult *result);

/* pg_floor.c: the newest fence that an idle connection's database knows. */
rf_status rf__pg_high_water(PGconn *conn, const char *resource,
                            rf__error *error, rf_fence *out);

/* pg_words.c: RF_OK when the statement may share the guard's transaction. */
rf_status rf__pg_check_sql(const char *sql, rf__error *error);

/* pg_guard.c: one call of the guard, its parameters written out. */
typedef struct rf__pg_guard {
    char fence[RF__DECIMAL_MAX];
    char lease[32];
    const char *values[4];
    int64_t until_ms; /* the lock's deadline and the margin */
    rf__pg_step step;
} rf__pg_guard;

/* pg_guard.c: the client's error, emptied: every public call begins so. */
rf__error *rf__pg_error(const rf_lock *lock);

/* pg_guard.c: RF_OK when conn is connected and idle; else why not. */
rf_status rf__pg_check_idle(PGconn *conn, rf__error *error);

/* pg_guard.c: RF_OK when the lock was claimed and is not over. */
rf_status rf__pg_check_lock(const rf_lock *lock, rf__error *error);

/*
 * pg_prepared.c: a conversation on an idle connection with the guard's call as
 * steps[at], which is filled in here, and with it until_ms.  Only BEGIN may come
 * before it.  Returns what rf__pg_converse() returns, and RF_LOST.
 */
rf_status rf__pg_guarded(PGconn *conn, const rf_lock *lock, rf__pg_talk *talk,
                         rf__pg_step *steps, int at);

/* pg_guard.c: write the call out; the lease is what is left of the lock. */
rf_status rf__pg_guard_write(rf__pg_guard *guard, const rf_lock *lock,
                             rf__error *error);

/*
 * pg_guard.c: what an outcome means for the lock.  A refusal ends it, and so
 * does an answer that never came; nothing is worth doing again once the
 * deadline is over.
 */
rf_status rf__pg_settle(rf_lock *lock, rf_status status);

#endif /* RF_PG_INTERNAL_H */
