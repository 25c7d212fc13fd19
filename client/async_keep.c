/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_keep.c - locks that the loop renews until they are released or lost
 *
 * When that is and what it comes to is kept.c's; many that are due in one tick
 * go out together.
 */
#include "async.h"

#include <stdlib.h>

#include "check.h"
#include "kept.h"

typedef struct rf__keeping {
    rf__job job; /* first */
    rf__ask ask;
    rf__alarm alarm;
    rf__kept *kept;
    rf_lock *lock; /* NULL: released meanwhile */
    rf_lost_reason reason;
    int over; /* it is about to be told */
} keeping;

static keeping *of_ask(rf__ask *ask)
{
    return (keeping *)((char *)ask - offsetof(keeping, ask));
}

static keeping *of_alarm(rf__alarm *alarm)
{
    return (keeping *)((char *)alarm - offsetof(keeping, alarm));
}

static void drop(keeping *k)
{
    rf_lock *lock = k->kept->lock;

    free(k->kept);
    k->kept = NULL;
    rf__async_drop(lock);
}

/* ---- The end ---------------------------------------------------------------- */

static void tell(rf__job *job)
{
    keeping *k = (keeping *)job;
    rf_client *client = job->async->client;
    rf_on_lost on_lost = k->kept->on_lost;
    rf_event event = { .call = RF_CALL_LOST,
                       .status = RF_LOST,
                       .reason = k->reason,
                       .resource = k->kept->grant.resource,
                       .fence = k->kept->grant.fence };

    if (k->lock != NULL) {
        k->lock->keeping = NULL;
        rf__metrics_lost(&client->metrics, &event);
        if (on_lost != NULL && !job->async->closing)
            on_lost(k->lock, k->reason, k->kept->arg);
    }
    drop(k);
    free(k);
}

/* Nobody wants to hear of it any more. */
static void end_silently(keeping *k)
{
    rf__async_unset(k->job.async, &k->alarm);
    if (k->lock != NULL)
        k->lock->keeping = NULL;
    drop(k);
    rf__async_free(&k->job);
}

static void lost(keeping *k, rf_lost_reason reason, int gone)
{
    rf__lock_lost(k->lock, gone);
    k->reason = reason;
    k->over = 1;
    rf__async_over(&k->job, RF_LOST);
}

static void given_back(rf__ask *ask, rf_status status)
{
    keeping *k = of_ask(ask);

    k->kept->busy = 0;
    if (k->lock == NULL || k->job.async->closing)
        end_silently(k);
    else
        lost(k, RF_LOST_CAP, status == RF_OK || status == RF_LOST);
}

/* First of all nobody believes in it any more, then it is given back. */
static void end_by_cap(keeping *k)
{
    rf__grant grant = k->kept->grant;

    rf__lock_lost(k->lock, 0);
    k->kept->busy = 1;
    rf__ask_init(&k->ask, k->job.async, &grant, given_back);
    k->ask.withdrawn = &k->lock->released;
    rf__ask_send(&k->ask, RF__STEP_RELEASE, 0,
                 rf__now_ms() + k->job.async->client->timeout_ms);
}

/* ---- Renewing ----------------------------------------------------------------- */

static void note(keeping *k, rf_status status)
{
    rf__metrics *metrics = &k->job.async->client->metrics;
    rf_event event = { .call = RF_CALL_RENEW,
                       .status = status,
                       .resource = k->kept->grant.resource,
                       .fence = k->kept->grant.fence,
                       .us = rf__now_us() - k->job.begin_us };

    rf__metrics_time(metrics, RF_TIME_RENEW, event.us);
    rf__metrics_call(metrics, &event);
}

static void renewed(rf__ask *ask, rf_status status)
{
    keeping *k = of_ask(ask);
    rf_lost_reason reason;

    k->kept->busy = 0;
    if (k->lock == NULL || k->job.async->closing) {
        end_silently(k);
        return;
    }
    note(k, status);
    switch (rf__kept_renewed(k->kept, status, &ask->grant, &reason)) {
    case RF__KEPT_ON:
        rf__async_set(k->job.async, &k->alarm, k->kept->due.ms);
        break;
    case RF__KEPT_OVER: end_by_cap(k); break;
    case RF__KEPT_LOST: lost(k, reason, status == RF_LOST); break;
    }
}

static void renew(keeping *k)
{
    rf__grant grant = k->kept->grant;
    int64_t limit_ms = rf__now_ms() + k->job.async->client->timeout_ms;

    /* Nobody's answer may keep the caller from being told in time. */
    if (limit_ms > k->kept->deadline_ms)
        limit_ms = k->kept->deadline_ms;
    grant.ttl_ms = k->kept->ttl_ms;
    k->kept->busy = 1;
    k->job.begin_us = rf__now_us();
    rf__ask_init(&k->ask, k->job.async, &grant, renewed);
    k->ask.withdrawn = &k->lock->released;
    rf__ask_send(&k->ask, RF__STEP_RENEW, 0, limit_ms);
}

static void ring(rf__alarm *alarm)
{
    keeping *k = of_alarm(alarm);
    rf_lost_reason reason;

    switch (rf__kept_look(k->kept, &reason)) {
    case RF__KEPT_ON: renew(k); break;
    case RF__KEPT_OVER: end_by_cap(k); break;
    case RF__KEPT_LOST: lost(k, reason, 0); break;
    }
}

static void abandon(rf__job *job)
{
    end_silently((keeping *)job);
}

/* ---- Beginning and ending it -------------------------------------------------- */

void rf__async_unkeep(rf_lock *lock)
{
    keeping *k = lock->keeping;

    if (k == NULL)
        return;
    lock->keeping = NULL;
    k->lock = NULL;
    /* What is on its way, or about to be told, ends by itself. */
    if (!k->kept->busy && !k->over)
        end_silently(k);
}

static rf_status check(rf_lock *lock, const rf_keep_options *opts)
{
    rf_client *client = lock->client;
    rf_status status = rf__lock_check(lock);

    if (status == RF_OK && rf__async_of(client) == NULL)
        status = RF_MISUSE;
    if (status == RF_OK)
        status = rf__check_keep(client, opts);
    if (status == RF_OK && lock->keeping != NULL)
        return rf__misuse(client, "the lock is being kept already");
    return status;
}

rf_status rf_async_keep(rf_lock *lock, const rf_keep_options *opts)
{
    static const rf_keep_options defaults = RF_KEEP_INIT;
    rf_client *client = lock->client;
    rf_status status;
    keeping *k;

    if (opts == NULL)
        opts = &defaults;
    status = check(lock, opts);
    if (status != RF_OK)
        return status;
    k = calloc(1, sizeof(*k));
    if (k != NULL)
        k->kept = rf__kept_new(lock, opts);
    if (k == NULL || k->kept == NULL ||
        rf__async_begin((rf__async *)client->source, &k->job) != RF_OK) {
        if (k != NULL)
            free(k->kept);
        free(k);
        rf__set_error(&client->error, "out of memory");
        return RF_NOMEM;
    }
    k->job.abandon = abandon;
    k->job.tell = tell;
    k->alarm.ring = ring;
    k->lock = lock;
    lock->keeping = k;
    lock->asked++;
    rf__kept_schedule(k->kept);
    rf__async_set(k->job.async, &k->alarm, k->kept->due.ms);
    return RF_OK;
}
