/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_lock.c - renewing and giving back without blocking
 *
 * What a lock says of itself, and what an answer makes of it, is lock.c's.
 */
#include "async.h"

#include <stdlib.h>

#include "check.h"

typedef struct step {
    rf__job job; /* first */
    rf__ask ask;
    rf_lock *lock;
    rf_call call;
    int64_t ttl_ms;
    rf_on_done done;
    void *arg;
} step;

static step *of_ask(rf__ask *ask)
{
    return (step *)((char *)ask - offsetof(step, ask));
}

static void abandon(rf__job *job)
{
    rf__set_error(&job->async->client->error, "the client was closed");
    rf__async_over(job, RF_UNKNOWN);
}

void rf__async_drop(rf_lock *lock)
{
    if (--lock->asked == 0 && lock->released)
        rf__lock_free(lock);
}

static void tell(rf__job *job)
{
    step *s = (step *)job;
    rf_client *client = job->async->client;

    rf__lock_note_call(s->lock, s->call, job->status, job->begin_us);
    rf__async_drop(s->lock);
    if (s->done != NULL)
        s->done(client, job->status, s->arg);
    free(s);
}

static step *new_step(rf_lock *lock, rf_call call, rf_on_done done, void *arg)
{
    rf__async *async = (rf__async *)lock->client->source;
    step *s = calloc(1, sizeof(*s));

    if (s != NULL && rf__async_begin(async, &s->job) == RF_OK) {
        s->job.abandon = abandon;
        s->job.tell = tell;
        s->lock = lock;
        s->call = call;
        s->done = done;
        s->arg = arg;
        lock->asked++;
        return s;
    }
    free(s);
    rf__set_error(&lock->client->error, "out of memory");
    return NULL;
}

static void send(step *s, rf__step which)
{
    rf__ask_send(&s->ask, which, 0, rf__now_ms() + s->lock->client->timeout_ms);
}

/* ---- Renew ------------------------------------------------------------------ */

static void renewed(rf__ask *ask, rf_status status)
{
    step *s = of_ask(ask);
    rf_lock *lock = s->lock;

    rf__metrics_time(&lock->client->metrics, RF_TIME_RENEW,
                     rf__now_us() - s->job.begin_us);
    if (status == RF_LOST)
        rf__lock_lost(lock, 1);
    if (status == RF_OK && !lock->released)
        lock->deadline_ms = rf__deadline_ms(ask->grant.sent_ms, s->ttl_ms);
    rf__async_over(&s->job, status);
}

static rf_status check_renew(rf_lock *lock, int64_t ttl_ms)
{
    rf_client *client = lock->client;
    rf_status status = rf__lock_check(lock);

    if (status == RF_OK && rf__async_of(client) == NULL)
        status = RF_MISUSE;
    if (status == RF_OK)
        status = rf__check_ttl(client, ttl_ms);
    if (status != RF_OK)
        return status;
    if (lock->keeping != NULL)
        return rf__misuse(client, "the lock is being kept");
    return RF_OK;
}

rf_status rf_async_renew(rf_lock *lock, int64_t ttl_ms, rf_on_done done,
                         void *arg)
{
    rf_status status = check_renew(lock, ttl_ms);
    rf__grant grant = rf__grant_of(lock);
    step *s;

    if (status != RF_OK)
        return status;
    s = new_step(lock, RF_CALL_RENEW, done, arg);
    if (s == NULL)
        return RF_NOMEM;
    s->ttl_ms = ttl_ms;
    grant.ttl_ms = ttl_ms;
    rf__ask_init(&s->ask, s->job.async, &grant, renewed);
    s->ask.withdrawn = &lock->released;
    send(s, RF__STEP_RENEW);
    return RF_OK;
}

/* ---- Release ---------------------------------------------------------------- */

/*
 * Sent again when the answer was lost.  A lock that is then no longer there
 * was given back by the first request, or had been lost before it.
 */
static void released(rf__ask *ask, rf_status status)
{
    step *s = of_ask(ask);

    if (ask->repeated && status != RF_OK) {
        if (status == RF_LOST)
            rf__set_error(&s->lock->client->error,
                          "no longer ours, but whether this release ended it "
                          "can't be told");
        status = RF_UNKNOWN;
    }
    rf__async_over(&s->job, status);
}

/* RF_OK: it may be sent; RF_LOST: there is nothing to send. */
static rf_status check_release(rf_lock *lock)
{
    rf_status status;

    if (lock == NULL)
        return RF_MISUSE;
    status = rf__lock_check_release(lock);
    if (status == RF_MISUSE)
        return status;
    return rf__async_of(lock->client) != NULL ? status : RF_MISUSE;
}

/* Its client is closed or another process has it: only our memory is left. */
static rf_status release_nothing(rf_lock *lock)
{
    if (lock != NULL && (lock->client->source == NULL || lock->client->looped))
        rf__lock_free(lock);
    return RF_MISUSE;
}

rf_status rf_async_release(rf_lock *lock, rf_on_done done, void *arg)
{
    rf_status status = check_release(lock), before;
    rf__grant grant;
    step *s;

    if (status == RF_MISUSE)
        return release_nothing(lock);
    s = new_step(lock, RF_CALL_RELEASE, done, arg);
    if (s == NULL)
        return RF_NOMEM;
    if (rf__lock_released_before(lock, &before)) {
        rf__async_over(&s->job, before);
        return RF_OK;
    }
    /* First of all: a lock that was given back must never be renewed again. */
    rf__async_unkeep(lock);
    lock->released = 1;
    rf__lock_set_over(lock, RF_LOST);
    if (status == RF_LOST) {
        rf__set_error(&lock->client->error, "the lock was lost before");
        rf__async_over(&s->job, RF_LOST);
        return RF_OK;
    }
    grant = rf__grant_of(lock);
    rf__ask_init(&s->ask, s->job.async, &grant, released);
    send(s, RF__STEP_RELEASE);
    return RF_OK;
}
