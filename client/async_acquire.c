/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_acquire.c - getting a lock that another may hold, without blocking
 *
 * What wait.c does in a loop, as steps.  All requests of one call carry the same
 * holder, so that asking twice never grants twice.
 */
#include "async.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "patience.h"

static rf__acquire *of_ask(rf__ask *ask)
{
    return (rf__acquire *)((char *)ask - offsetof(rf__acquire, ask));
}

static rf__acquire *of_alarm(rf__alarm *alarm)
{
    return (rf__acquire *)((char *)alarm - offsetof(rf__acquire, alarm));
}

static rf_client *client_of(const rf__acquire *a)
{
    return a->job.async->client;
}

static int64_t limit_ms(const rf__acquire *a)
{
    return rf__now_ms() + client_of(a)->timeout_ms;
}

/* ---- The end ---------------------------------------------------------------- */

/* Granted, but its client is closed: of no use to anybody. */
static void forgo(rf__acquire *a)
{
    rf_client *client = client_of(a);

    if (a->again)
        rf__lock_released_before(a->lock, &a->job.status);
    else
        rf__lock_free(a->lock);
    a->job.status = RF_UNKNOWN;
    a->lock = NULL;
    rf__set_error(&client->error, "granted when the client was closed: the "
                                  "lock runs out by itself");
}

static void tell(rf__job *job)
{
    rf__acquire *a = (rf__acquire *)job;
    rf_client *client = client_of(a);
    rf_event event = { .call = RF_CALL_ACQUIRE };
    rf_lock *lock;

    if (job->status == RF_OK && job->async->closing)
        forgo(a);
    lock = job->status == RF_OK ? a->lock : NULL;
    event.status = job->status;
    event.resource = a->lock != NULL ? a->lock->resource : "";
    event.fence = lock != NULL ? lock->fence : 0;
    rf__lock_note(client, event, job->begin_us);
    if (lock == NULL)
        free(a->lock);
    a->done(client, job->status, lock, a->arg);
    free(a);
}

static void over(rf__acquire *a, rf_status status)
{
    rf__async_unset(a->job.async, &a->alarm);
    if (a->line != NULL)
        rf__line_leave(a);
    rf__async_over(&a->job, status);
}

/* What was granted and is not wanted after all goes back first. */
static void returned(rf__ask *ask, rf_status status)
{
    rf__acquire *a = of_ask(ask);
    int gone = status == RF_OK || status == RF_LOST;

    if (a->cancelled)
        rf__set_error(&client_of(a)->error, "the wait was cancelled");
    else
        rf__set_error(&client_of(a)->error,
                      "granted too late: its time was over when the answer "
                      "came");
    if (!gone)
        over(a, RF_UNKNOWN);
    else
        over(a, a->cancelled ? RF_TIMEOUT : RF_RETRY);
}

static void give_back(rf__acquire *a)
{
    rf__grant grant = a->ask.grant;

    a->state = RF__RETURNING;
    rf__ask_init(&a->ask, a->job.async, &grant, returned);
    rf__ask_send(&a->ask, RF__STEP_RELEASE, 0, limit_ms(a));
}

static void granted(rf__acquire *a)
{
    const rf__grant *grant = &a->ask.grant;

    if (a->cancelled ||
        rf__left_ms(rf__deadline_ms(grant->sent_ms, grant->ttl_ms)) == 0) {
        give_back(a);
        return;
    }
    if (a->waited)
        rf__metrics_time(&client_of(a)->metrics, RF_TIME_WAIT,
                         rf__now_us() - a->job.begin_us);
    rf__lock_granted(a->lock, grant, a->opts.ttl_ms);
    over(a, RF_OK);
}

static void cancelled(rf__acquire *a)
{
    rf__set_error(&client_of(a)->error, "the wait was cancelled");
    over(a, a->maybe ? RF_UNKNOWN : RF_TIMEOUT);
}

/* ---- Asking ------------------------------------------------------------------- */

static void answered(rf__ask *ask, rf_status status);
static void follow(rf__acquire *a, rf_status status);

static void ask(rf__acquire *a)
{
    rf_client *client = client_of(a);
    rf_status status = rf__limits_pass(&client->limits, &client->error);
    rf__grant *grant = &a->ask.grant;

    rf__async_unset(a->job.async, &a->alarm);
    a->state = RF__ASKING;
    a->asked_us = rf__now_us();
    if (status != RF_OK) {
        follow(a, a->maybe ? RF_UNKNOWN : status);
        return;
    }
    grant->needs_floor = 0;
    grant->ttl_ms = a->opts.ttl_ms;
    /* 0 tells Redis that nobody waits; one more try follows the end. */
    grant->wait_ms = 0;
    if (a->opts.wait_ms > 0 && !a->cancelled)
        grant->wait_ms = rf__left_ms(a->end_ms) + 1;
    rf__ask_send(&a->ask, RF__STEP_ACQUIRE, a->floor, limit_ms(a));
}

/* A counter is missing: ask whoever knows. */
static void learn_floor(rf__acquire *a)
{
    rf__grants one = { .grant = &a->ask.grant, .n = 1 };
    rf_status status = rf__learn_floor(&one, &a->opts, &a->floor,
                                       &client_of(a)->error);

    if (status == RF_OK)
        ask(a);
    else
        follow(a, status);
}

static void answered(rf__ask *asked, rf_status status)
{
    rf__acquire *a = of_ask(asked);
    rf_client *client = client_of(a);
    int needs_floor = asked->grant.needs_floor;

    rf__metrics_time(&client->metrics, RF_TIME_ACQUIRE,
                     rf__now_us() - a->asked_us);
    rf__limits_note(&client->limits, needs_floor ? RF_OK : status);
    if (status == RF_UNKNOWN || asked->repeated) {
        a->maybe = 1;
        a->unanswered = 1;
    }
    /* Only a clear answer about this lock tells what became of the first. */
    if (status == RF_OK || status == RF_BUSY || needs_floor)
        a->maybe = 0;
    if (needs_floor && !a->job.async->closing) {
        learn_floor(a);
        return;
    }
    /* What woke us is needed once more when the request is to come again. */
    asked->grant.token[0] = '\0';
    if (status == RF_OK)
        granted(a);
    else
        follow(a, a->maybe ? RF_UNKNOWN : status);
}

/* ---- Waiting ------------------------------------------------------------------ */

/* Its turn comes when those before it are served; until then it costs nothing. */
static void stand(rf__acquire *a)
{
    a->state = RF__STANDING;
    rf__async_set(a->job.async, &a->alarm, a->end_ms);
}

/* 0: it is over, for want of memory. */
static int join(rf__acquire *a)
{
    if (rf__line_join(a))
        return 1;
    rf__set_error(&client_of(a)->error, "out of memory");
    over(a, RF_NOMEM);
    return 0;
}

/* As the first in line: asleep in Redis where somebody will wake us. */
static void wait_for_turn(rf__acquire *a, rf_status status)
{
    const rf__grant *grant = &a->ask.grant;
    int64_t left_ms = rf__left_ms(a->end_ms);

    if (status != RF_BUSY || grant->busy_by == RF__OWNER_FOREIGN) {
        rf__acquire_pause(a);
        return;
    }
    a->state = RF__STANDING;
    rf__line_sleep(a, rf__sleep_limit_ms(grant, left_ms));
}

/* It was not granted. */
static void follow(rf__acquire *a, rf_status status)
{
    int out_of_time = a->job.async->closing || rf__left_ms(a->end_ms) == 0;

    /* It may be on its way yet, and then something lands all the same. */
    if (status == RF_RETRY && a->unanswered)
        status = RF_UNKNOWN;
    a->job.busy_ms = status == RF_BUSY ? a->ask.grant.busy_ms : -1;
    if (a->cancelled) {
        cancelled(a);
    } else if (!rf__worth_waiting(status) || a->opts.wait_ms == 0) {
        over(a, status);
    } else if (out_of_time) {
        over(a, status == RF_BUSY ? RF_TIMEOUT : status);
    } else {
        a->waited = 1;
        if (a->line == NULL && !join(a))
            return;
        if (a->before == NULL)
            wait_for_turn(a, status);
        else
            stand(a);
    }
}

void rf__acquire_turn(rf__acquire *a)
{
    a->state = RF__PAUSING;
    rf__async_set(a->job.async, &a->alarm, rf__now_ms());
}

void rf__acquire_wake(rf__acquire *a)
{
    a->ceiling_ms = RF__PAUSE_FIRST_MS;
    ask(a);
}

void rf__acquire_pause(rf__acquire *a)
{
    int64_t until_ms = rf__now_ms() + rf__pause_ms(&a->ceiling_ms);

    a->state = RF__PAUSING;
    rf__async_set(a->job.async, &a->alarm,
                  until_ms < a->end_ms ? until_ms : a->end_ms);
}

/*
 * Out of the line.  A wake-up that may have come just then is passed on: by
 * taking the lock, and giving it back if it is not wanted any more.
 */
static void stop_waiting(rf__acquire *a)
{
    int woken = a->ask.grant.token[0] != '\0';

    if (a->line != NULL && rf__line_leave(a))
        woken = 1;
    if (woken && !a->job.async->closing) {
        memcpy(a->ask.grant.token, "?", 2);
        ask(a);
    } else if (a->cancelled) {
        cancelled(a);
    } else {
        rf__set_error(&client_of(a)->error, "held by another");
        over(a, a->maybe ? RF_UNKNOWN : RF_TIMEOUT);
    }
}

static void ring(rf__alarm *alarm)
{
    rf__acquire *a = of_alarm(alarm);

    if (a->state == RF__PAUSING)
        ask(a);
    else
        stop_waiting(a);
}

/* The client is closed. */
static void abandon(rf__job *job)
{
    rf__acquire *a = (rf__acquire *)job;

    rf__set_error(&client_of(a)->error, "the client was closed");
    over(a, a->maybe ? RF_UNKNOWN : RF_RETRY);
}

size_t rf_async_cancel(rf_client *client, const void *arg)
{
    rf__async *async = rf__async_of(client);
    size_t n = 0;
    rf__job *next;

    for (rf__job *job = async != NULL ? async->jobs : NULL; job != NULL;
         job = next) {
        rf__acquire *a = (rf__acquire *)job;

        next = job->next;
        if (job->tell != tell || a->arg != arg || a->cancelled)
            continue;
        n++;
        a->cancelled = 1;
        if (a->state == RF__STANDING || a->state == RF__PAUSING)
            stop_waiting(a);
    }
    return n;
}

/* ---- The call ------------------------------------------------------------------ */

static rf_status check(rf_client *client, const char *resource,
                       const rf_acquire_options *opts, rf_on_acquired done)
{
    if (rf__async_of(client) == NULL)
        return RF_MISUSE;
    if (done == NULL)
        return rf__misuse(client, "there is nobody to call back");
    return rf__check_acquire(client, resource, opts);
}

static void start(rf__acquire *a)
{
    rf__grant grant = rf__lock_grant(a->lock, &a->opts);

    rf__ask_init(&a->ask, a->job.async, &grant, answered);
    a->alarm.ring = ring;
    a->ceiling_ms = RF__PAUSE_FIRST_MS;
    a->end_ms = rf__now_ms() + a->opts.wait_ms;
    a->floor = a->opts.floor;
    if (a->floor == 0 && a->opts.ask_floor != NULL)
        a->floor = RF__FLOOR_ASK;
    if (a->again)
        rf__async_over(&a->job, RF_OK);
    else if (a->opts.wait_ms == 0 ||
             !rf__line_there(a->job.async, grant.resource))
        ask(a);
    else if (join(a))
        stand(a);
}

rf_status rf_async_acquire(rf_client *client, const char *resource,
                           const rf_acquire_options *opts, rf_on_acquired done,
                           void *arg)
{
    static const rf_acquire_options defaults = RF_ACQUIRE_INIT;
    rf__acquire *a;
    rf_status status;

    if (client == NULL)
        return RF_MISUSE;
    if (opts == NULL)
        opts = &defaults;
    status = check(client, resource, opts, done);
    if (status != RF_OK)
        return status;

    status = RF_NOMEM;
    a = calloc(1, sizeof(*a));
    if (a == NULL)
        goto failed;
    if (opts->reentrant)
        a->lock = rf__lock_held(client, resource, opts->shared);
    a->again = a->lock != NULL;
    if (!a->again)
        status = rf__lock_new(client, resource, opts->holder, &a->lock);
    if (a->lock == NULL)
        goto failed;
    status = rf__async_begin((rf__async *)client->source, &a->job);
    if (status != RF_OK)
        goto failed;
    a->job.abandon = abandon;
    a->job.tell = tell;
    a->opts = *opts;
    a->done = done;
    a->arg = arg;
    if (a->again)
        a->lock->count++;
    start(a);
    return RF_OK;

failed:
    if (status == RF_NOMEM)
        rf__set_error(&client->error, "out of memory");
    if (a != NULL && !a->again)
        free(a->lock);
    free(a);
    return status;
}
