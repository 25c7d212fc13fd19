/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_acquire.c - take a lock and claim it
 *
 * A grant that is refused at its first claim was stale at birth: the lock
 * service's counter has gone back.  Nothing has been read under it yet, so its
 * number may be raised, as long as the lock is still ours.
 */
#include "pg_internal.h"

/*
 * Each round can be refused only because a newer grant was claimed between
 * our question and our claim.  More than a few such races are no accident.
 */
#define ROUNDS_MAX 4

/* READ COMMITTED: a claim then never meets an old snapshot. */
static const rf__pg_step begin_step = {
    "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE", 0, NULL, NULL
};
static const rf__pg_step commit_step = { "COMMIT", 0, NULL, NULL };

/* One claim: a transaction of its own, in one round trip. */
static rf_status claim(PGconn *conn, rf_lock *lock, rf__error *error)
{
    rf__pg_step steps[3] = { begin_step, begin_step, commit_step };
    rf__pg_talk talk = { .n = 3, .commits = 1, .error = error };
    rf_status status = rf__pg_guarded(conn, lock, &talk, steps, 1);

    PQclear(talk.last);
    rf__pg_tidy(conn);
    /*
     * A claim whose answer was lost may have landed.  That does no harm: the
     * grant is given up, and no section has begun under it.
     */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* Raise a refused number above the stored one. */
static rf_status heal(PGconn *conn, rf_lock *lock, rf_status refusal,
                      rf__error *error)
{
    rf__error told = *error;
    rf_fence floor = 0;
    rf_status status = rf__pg_high_water(conn, rf_lock_resource(lock), error,
                                         &floor);

    if (status != RF_OK)
        return status;
    status = rf_reissue(lock, floor);
    if (status != RF_LOST)
        return status;
    /* Not ours any more: the refusal stands, and says more than "lost". */
    *error = told;
    return refusal;
}

static int refused(rf_status status)
{
    return status == RF_STALE || status == RF_COLLISION;
}

static rf_status claim_and_heal(PGconn *conn, rf_lock *lock, rf__error *error)
{
    rf_status status = claim(conn, lock, error);
    int round;

    /* Claimed before, and handed out again: this one is in mid-section. */
    if (refused(status) && rf__lock_claimed(lock))
        return rf__pg_settle(lock, status);
    for (round = 1; refused(status) && round < ROUNDS_MAX; round++) {
        status = heal(conn, lock, status, error);
        if (status != RF_OK)
            break;
        status = claim(conn, lock, error);
    }
    if (status == RF_OK && rf__lock_state(lock) != RF_OK)
        return rf__pg_fail(error, RF_LOST,
                           "the lock ran out while it was claimed");
    if (status == RF_RETRY && rf__lock_state(lock) == RF_LOST)
        return RF_LOST;
    return status;
}

/* Where a missing counter's floor is asked for. */
typedef struct asker {
    PGconn *conn;
    rf__error *error;
} asker;

static rf_status ask_database(void *arg, const char *resource, rf_fence *out)
{
    const asker *a = arg;

    return rf__pg_high_water(a->conn, resource, a->error, out);
}

/* Take the lock; a counter that is missing is never restarted in silence. */
static rf_status take(rf_client *client, PGconn *conn, const char *resource,
                      const rf_acquire_options *opts, rf_lock **out)
{
    rf_acquire_options options = RF_ACQUIRE_INIT;
    asker database = { conn, rf__client_error(client) };

    if (opts != NULL)
        options = *opts;
    if (options.ask_floor == NULL) {
        options.ask_floor = ask_database;
        options.ask_floor_arg = &database;
    }
    return rf_acquire(client, resource, &options, out);
}

rf_status rf_pg_acquire(rf_client *client, PGconn *conn, const char *resource,
                        const rf_acquire_options *opts, rf_lock **out)
{
    rf_lock *lock = NULL;
    rf__error *error;
    rf__error told;
    rf_status status;

    if (out == NULL)
        return RF_MISUSE;
    *out = NULL;
    if (client == NULL)
        return RF_MISUSE;
    error = rf__client_error(client);
    error->sqlstate[0] = '\0';
    if (opts != NULL && opts->shared) {
        rf__set_error(error, "a shared lock has no fence to claim with");
        return RF_MISUSE;
    }
    /* Before the lock is taken: others need not wait for our mistakes. */
    status = rf__pg_check_idle(conn, error);
    if (status != RF_OK)
        return status;
    status = take(client, conn, resource, opts, &lock);
    if (status != RF_OK)
        return status;
    status = claim_and_heal(conn, lock, error);
    if (status == RF_OK) {
        rf__lock_set_claimed(lock);
        *out = lock;
        return RF_OK;
    }
    told = *error;
    (void)rf_release(lock);
    *error = told;
    return status;
}

/* What may be claimed: held, ours, with a fence. */
static rf_status check_claim(PGconn *conn, rf_lock *lock, rf__error *error)
{
    rf_status status = rf__lock_state(lock);

    if (status == RF_MISUSE)
        return rf__pg_fail(error, status,
                           "the lock belongs to another process, or its "
                           "client is closed");
    if (status != RF_OK)
        return rf__pg_fail(error, status, "the lock is over");
    if (rf_lock_fence(lock) == 0)
        return rf__pg_fail(error, RF_MISUSE,
                           "a shared lock has no fence to claim with");
    return rf__pg_check_idle(conn, error);
}

rf_status rf_pg_claim(PGconn *conn, rf_lock *lock)
{
    rf__error *error;
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    error = rf__pg_error(lock);
    status = check_claim(conn, lock, error);
    if (status != RF_OK)
        return status;
    if (rf__lock_may_be_raised(lock))
        status = claim_and_heal(conn, lock, error);
    else
        status = claim(conn, lock, error);
    if (status == RF_OK)
        rf__lock_set_claimed(lock);
    return rf__pg_settle(lock, status);
}
