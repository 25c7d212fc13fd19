/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keeper.c - keeps locks alive from a thread of its own
 *
 * Whatever is due soon goes along, so that locks taken together are renewed
 * together in one round trip.  When that is, and what a renewal comes to, is
 * kept.c's business.
 */
#include "keeper.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"

#define ROUND_MAX 256  /* locks in one round                                */
#define NAP_MS    1000 /* a suspended machine is noticed after this at most */

struct rf__keeper {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* something to do, or something done */
    int running, stopping;
    pid_t pid;
    rf__source *source;
    rf__error error;
    int timeout_ms;
    rf__metrics *metrics; /* the client's */
    rf__due_queue queue;  /* of rf__kept */
};

/* ---- What becomes of a lock ------------------------------------------------------ */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * The lock is no longer in the queue, so this happens once.  kept and its lock
 * stay while busy: whoever releases the lock waits for that.
 */
static void tell(rf__keeper *k, rf__kept *kept, rf_lost_reason reason, int gone)
{
    rf_event event = { .call = RF_CALL_LOST,
                       .status = RF_LOST,
                       .reason = reason,
                       .resource = kept->grant.resource,
                       .fence = kept->grant.fence };

    rf__lock_lost(kept->lock, gone);
    pthread_mutex_unlock(&k->mutex);
    if (kept->on_lost != NULL)
        kept->on_lost(kept->lock, reason, kept->arg);
    rf__metrics_lost(k->metrics, &event);
    pthread_mutex_lock(&k->mutex);
}

/* With the mutex held; gives it up while it talks. */
static void end_by_cap(rf__keeper *k, rf__kept *kept)
{
    rf_status status;

    /* First of all nobody believes in it any more, then it is given back. */
    rf__lock_lost(kept->lock, 0);
    pthread_mutex_unlock(&k->mutex);
    status = k->source->ops->release(k->source, &kept->grant,
                                     rf__now_ms() + k->timeout_ms);
    pthread_mutex_lock(&k->mutex);
    tell(k, kept, RF_LOST_CAP, status == RF_OK || status == RF_LOST);
}

static void settle(rf__keeper *k, rf__kept *kept, rf_status result,
                   const rf__grant *answer)
{
    rf_lost_reason reason;

    switch (rf__kept_renewed(kept, result, answer, &reason)) {
    case RF__KEPT_ON: rf__due_put(&k->queue, &kept->due); break;
    case RF__KEPT_OVER: end_by_cap(k, kept); break;
    case RF__KEPT_LOST: tell(k, kept, reason, result == RF_LOST); break;
    }
}

/* ---- A round --------------------------------------------------------------------- */

/* What is due, and what will be soon: within a twelfth of its time. */
static size_t gather(rf__keeper *k, rf__kept **round, int64_t now_ms)
{
    size_t n = 0;
    rf__due *first;

    while ((first = rf__due_first(&k->queue)) != NULL && n < ROUND_MAX) {
        rf__kept *kept = (rf__kept *)first;

        if (first->ms > now_ms && (first->ms > now_ms + kept->ttl_ms / 12 ||
                                   first->ms >= kept->until_ms))
            break;
        rf__due_take(&k->queue, first);
        kept->busy = 1;
        round[n++] = kept;
    }
    return n;
}

/*
 * Those past their cap or their deadline go first and are not renewed.  Returns
 * how many stay.
 */
static size_t end_overdue(rf__keeper *k, rf__kept **round, size_t n)
{
    size_t stay = 0;

    for (size_t i = 0; i < n; i++) {
        rf__kept *kept = round[i];
        rf_lost_reason reason;
        rf__kept_next next = rf__kept_look(kept, &reason);

        if (next == RF__KEPT_ON) {
            round[stay++] = kept;
            continue;
        }
        if (next == RF__KEPT_OVER)
            end_by_cap(k, kept);
        else
            tell(k, kept, reason, 0);
        kept->busy = 0;
        pthread_cond_broadcast(&k->changed);
    }
    return stay;
}

static int64_t next_due(const rf__keeper *k)
{
    const rf__due *first = rf__due_first(&k->queue);

    return first != NULL ? first->ms : INT64_MAX;
}

/* Without the mutex: the round's locks are busy, so nobody frees them. */
static void note(rf__keeper *k, rf__kept **round, const rf_status *results,
                 size_t n, int64_t us)
{
    if (n > 0)
        rf__metrics_time(k->metrics, RF_TIME_RENEW, us);
    for (size_t i = 0; i < n; i++) {
        rf_event event = { .call = RF_CALL_RENEW,
                           .status = results[i],
                           .resource = round[i]->grant.resource,
                           .fence = round[i]->grant.fence,
                           .us = us };

        rf__metrics_call(k->metrics, &event);
    }
}

int64_t rf__keeper_round(rf__keeper *k)
{
    rf__kept *round[ROUND_MAX];
    rf__grant grants[ROUND_MAX];
    rf_status results[ROUND_MAX];
    int64_t limit_ms = rf__now_ms() + k->timeout_ms, due_ms;
    int64_t begin_us = rf__now_us(), us;
    size_t n;

    pthread_mutex_lock(&k->mutex);
    n = end_overdue(k, round, gather(k, round, rf__now_ms()));
    for (size_t i = 0; i < n; i++) {
        grants[i] = round[i]->grant;
        grants[i].ttl_ms = round[i]->ttl_ms;
        /* Nobody's answer may keep another from being told in time. */
        limit_ms = least(limit_ms, round[i]->deadline_ms);
    }
    pthread_mutex_unlock(&k->mutex);

    if (n > 0)
        k->source->ops->renew_all(k->source, grants, results, n, limit_ms);
    us = rf__now_us() - begin_us;

    pthread_mutex_lock(&k->mutex);
    for (size_t i = 0; i < n; i++)
        settle(k, round[i], results[i], &grants[i]);
    pthread_mutex_unlock(&k->mutex);
    note(k, round, results, n, us);

    pthread_mutex_lock(&k->mutex);
    for (size_t i = 0; i < n; i++)
        round[i]->busy = 0;
    if (n > 0)
        pthread_cond_broadcast(&k->changed);
    due_ms = next_due(k);
    pthread_mutex_unlock(&k->mutex);
    return due_ms;
}

/* ---- The thread -------------------------------------------------------------------- */

static void *keep(void *arg)
{
    rf__keeper *k = arg;

    pthread_mutex_lock(&k->mutex);
    while (!k->stopping) {
        if (k->queue.n == 0) {
            pthread_cond_wait(&k->changed, &k->mutex);
        } else if (next_due(k) > rf__now_ms()) {
            rf__cond_wait_ms(&k->changed, &k->mutex,
                             least(next_due(k) - rf__now_ms(), NAP_MS));
        } else {
            pthread_mutex_unlock(&k->mutex);
            rf__keeper_round(k);
            pthread_mutex_lock(&k->mutex);
        }
    }
    pthread_mutex_unlock(&k->mutex);
    return NULL;
}

/* The caller's signals are none of the keeper's business. */
static int start_thread(rf__keeper *k)
{
    sigset_t all, before;
    int failure;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&k->thread, NULL, keep, k);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

rf__keeper *rf__keeper_new(rf_client *client)
{
    rf__keeper *k = calloc(1, sizeof(*k));

    if (k == NULL)
        return NULL;
    k->source = client->source->ops->clone(client->source, &k->error);
    if (k->source == NULL) {
        free(k);
        return NULL;
    }
    k->timeout_ms = client->timeout_ms;
    k->metrics = &client->metrics;
    k->pid = rf__process_id();
    pthread_mutex_init(&k->mutex, NULL);
    rf__cond_init(&k->changed);
    return k;
}

void rf__keeper_free(rf__keeper *k)
{
    /* A forked child has neither the thread nor a mutex that can be trusted. */
    if (k == NULL || k->pid != rf__process_id())
        return;
    pthread_mutex_lock(&k->mutex);
    k->stopping = 1;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->mutex);
    if (k->running)
        pthread_join(k->thread, NULL);
    k->source->ops->close(k->source);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->mutex);
    free(k->queue.heap);
    free(k);
}

rf_status rf__keeper_add(rf__keeper *k, rf__kept *kept)
{
    rf_status status = RF_OK;

    pthread_mutex_lock(&k->mutex);
    if (!rf__due_reserve(&k->queue, k->queue.n + 1)) {
        status = RF_NOMEM;
    } else if (!k->running && !start_thread(k)) {
        status = RF_RETRY;
    } else {
        k->running = 1;
        rf__kept_schedule(kept);
        rf__due_put(&k->queue, &kept->due);
        pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->mutex);
    return status;
}

static int is_own_thread(const rf__keeper *k)
{
    return k->running && pthread_equal(pthread_self(), k->thread);
}

int rf__keeper_calls(rf__keeper *k)
{
    int calls;

    if (k->pid != rf__process_id())
        return 0;
    pthread_mutex_lock(&k->mutex);
    calls = is_own_thread(k);
    pthread_mutex_unlock(&k->mutex);
    return calls;
}

int rf__keeper_remove(rf__keeper *k, rf__kept *kept)
{
    if (k->pid != rf__process_id())
        return 1;
    pthread_mutex_lock(&k->mutex);
    if (is_own_thread(k)) {
        pthread_mutex_unlock(&k->mutex);
        return 0;
    }
    while (kept->busy)
        pthread_cond_wait(&k->changed, &k->mutex);
    rf__due_take(&k->queue, &kept->due);
    pthread_mutex_unlock(&k->mutex);
    return 1;
}
