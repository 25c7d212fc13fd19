/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keeper.c - keeps locks alive from a thread of its own
 *
 * A heap by due time; whatever is due soon goes along, so that locks taken
 * together are renewed together in one round trip.  One attempt that fails is
 * no loss: the lock is tried for until its own deadline.
 */
#include "keeper.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_MAX 256  /* locks in one round                                */
#define NAP_MS    1000 /* a suspended machine is noticed after this at most */
#define RETRY_MS  20   /* after the first failure; doubles                  */

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
    rf__kept **heap;      /* [1] is due first */
    size_t n, size;
};

/* ---- The heap ----------------------------------------------------------------- */

static void place(rf__keeper *k, rf__kept *kept, size_t at)
{
    k->heap[at] = kept;
    kept->at = at;
}

static void sift_up(rf__keeper *k, rf__kept *kept, size_t at)
{
    while (at > 1 && k->heap[at / 2]->due_ms > kept->due_ms) {
        place(k, k->heap[at / 2], at);
        at /= 2;
    }
    place(k, kept, at);
}

static void sift_down(rf__keeper *k, rf__kept *kept, size_t at)
{
    for (;;) {
        size_t child = 2 * at;

        if (child < k->n && k->heap[child + 1]->due_ms < k->heap[child]->due_ms)
            child++;
        if (child > k->n || k->heap[child]->due_ms >= kept->due_ms)
            break;
        place(k, k->heap[child], at);
        at = child;
    }
    place(k, kept, at);
}

static int grow(rf__keeper *k)
{
    size_t size = k->size == 0 ? 64 : k->size * 2;
    rf__kept **grown;

    if (k->n + 1 < k->size)
        return 1;
    grown = realloc(k->heap, size * sizeof(*grown));
    if (grown == NULL)
        return 0;
    k->heap = grown;
    k->size = size;
    return 1;
}

static void push(rf__keeper *k, rf__kept *kept)
{
    sift_up(k, kept, ++k->n);
}

static void take_out(rf__keeper *k, rf__kept *kept)
{
    size_t at = kept->at;
    rf__kept *last = k->heap[k->n--];

    kept->at = 0;
    if (last == kept)
        return;
    if (at > 1 && k->heap[at / 2]->due_ms > last->due_ms)
        sift_up(k, last, at);
    else
        sift_down(k, last, at);
}

/* ---- What becomes of a lock ------------------------------------------------------ */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A third of the time is used up: renew; and not later than the cap. */
static void schedule(rf__kept *kept, int64_t from_ms)
{
    kept->due_ms = least(from_ms + kept->ttl_ms / 3, kept->until_ms);
}

static void renewed(rf__kept *kept)
{
    int64_t deadline_ms = rf__deadline_ms(kept->grant.sent_ms, kept->ttl_ms);

    kept->failures = 0;
    kept->deadline_ms = least(deadline_ms, kept->until_ms);
    rf__lock_renewed(kept->lock, kept->deadline_ms);
    schedule(kept, kept->grant.sent_ms);
}

static void not_renewed(rf__kept *kept, int64_t now_ms)
{
    int64_t pause_ms = RETRY_MS << (kept->failures < 6 ? kept->failures : 6);

    kept->failures++;
    pause_ms = least(pause_ms, 1 + kept->ttl_ms / 10);
    kept->due_ms = least(least(now_ms + pause_ms, kept->deadline_ms),
                         kept->until_ms);
}

/*
 * The lock is no longer in the heap, so this happens once.  kept and its lock
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
    int64_t now_ms = rf__now_ms();

    if (result == RF_OK && now_ms < kept->deadline_ms) {
        kept->grant.sent_ms = answer->sent_ms;
        renewed(kept);
        push(k, kept);
    } else if (result == RF_LOST) {
        tell(k, kept, answer->taken ? RF_LOST_TAKEN : RF_LOST_EXPIRED, 1);
    } else if (now_ms >= kept->until_ms) {
        end_by_cap(k, kept);
    } else if (now_ms >= kept->deadline_ms) {
        tell(k, kept, RF_LOST_UNREACHABLE, 0);
    } else {
        not_renewed(kept, now_ms);
        push(k, kept);
    }
}

/* ---- A round --------------------------------------------------------------------- */

/* What is due, and what will be soon: within a twelfth of its time. */
static size_t gather(rf__keeper *k, rf__kept **round, int64_t now_ms)
{
    size_t n = 0;

    while (k->n > 0 && n < ROUND_MAX) {
        rf__kept *kept = k->heap[1];

        if (kept->due_ms > now_ms &&
            (kept->due_ms > now_ms + kept->ttl_ms / 12 ||
             kept->due_ms >= kept->until_ms))
            break;
        take_out(k, kept);
        kept->busy = 1;
        round[n++] = kept;
    }
    return n;
}

/* Not asked for any more: what is past its deadline stays past it. */
static void end_late(rf__keeper *k, rf__kept *kept)
{
    tell(k, kept, kept->failures > 0 ? RF_LOST_UNREACHABLE : RF_LOST_EXPIRED,
         0);
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

        if (rf__now_ms() < kept->deadline_ms) {
            round[stay++] = kept;
            continue;
        }
        if (rf__now_ms() >= kept->until_ms)
            end_by_cap(k, kept);
        else
            end_late(k, kept);
        kept->busy = 0;
        pthread_cond_broadcast(&k->changed);
    }
    return stay;
}

static int64_t next_due(const rf__keeper *k)
{
    return k->n > 0 ? k->heap[1]->due_ms : INT64_MAX;
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
        if (k->n == 0) {
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
    free(k->heap);
    free(k);
}

rf_status rf__keeper_add(rf__keeper *k, rf__kept *kept)
{
    rf_status status = RF_OK;

    pthread_mutex_lock(&k->mutex);
    if (!grow(k)) {
        status = RF_NOMEM;
    } else if (!k->running && !start_thread(k)) {
        status = RF_RETRY;
    } else {
        k->running = 1;
        schedule(kept, kept->grant.sent_ms);
        /* What it was taken for may be less than what it is kept for. */
        kept->due_ms = least(kept->due_ms,
                             (kept->grant.sent_ms * 2 + kept->deadline_ms) / 3);
        push(k, kept);
        pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->mutex);
    return status;
}

int rf__keeper_remove(rf__keeper *k, rf__kept *kept)
{
    if (k->pid != rf__process_id())
        return 1;
    pthread_mutex_lock(&k->mutex);
    if (k->running && pthread_equal(pthread_self(), k->thread)) {
        pthread_mutex_unlock(&k->mutex);
        return 0;
    }
    while (kept->busy)
        pthread_cond_wait(&k->changed, &k->mutex);
    if (kept->at != 0)
        take_out(k, kept);
    pthread_mutex_unlock(&k->mutex);
    return 1;
}
