/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * many.c - several locks at once
 *
 * Taken all or none: one holder for the whole set, a fence for each resource.
 * Nobody holds some of them while waiting for the rest, so that two such calls
 * never block each other.  Renewed and given back, each has an outcome of its
 * own; those of one client travel together.
 */
#include "check.h"
#include "give_back.h"
#include "lock.h"
#include "wait.h"

#include <stdlib.h>
#include <string.h>

static rf_status check_all(rf_client *client, const char *const *resources,
                           size_t n, const rf_acquire_options *opts)
{
    if (n < 1 || n > RF_ALL_MAX)
        return rf__misuse(client, "1 to 128 locks can be taken at once");
    if (opts->reentrant || opts->shared)
        return rf__misuse(client, "several locks at once are neither "
                                  "reentrant nor shared");
    for (size_t i = 0; i < n; i++) {
        rf_status status = rf__check_acquire(client, resources[i], opts);

        if (status != RF_OK)
            return status;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(resources[i], resources[j]) == 0)
                return rf__misuse(client, "a resource is named twice");
        }
    }
    return RF_OK;
}

static void free_all(rf_lock **locks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(locks[i]);
        locks[i] = NULL;
    }
}

static rf_status new_locks(rf_client *client, const char *const *resources,
                           size_t n, const char *holder, rf_lock **out)
{
    for (size_t i = 0; i < n; i++) {
        rf_status status = rf__lock_new(client, resources[i], holder, &out[i]);

        if (status != RF_OK) {
            free_all(out, i);
            return status;
        }
        holder = out[0]->holder;
    }
    return RF_OK;
}

static int any_is_late(const rf__grants *grants)
{
    for (size_t i = 0; i < grants->n; i++) {
        const rf__grant *grant = &grants->grant[i];

        if (rf__left_ms(rf__deadline_ms(grant->sent_ms, grant->ttl_ms)) == 0)
            return 1;
    }
    return 0;
}

static rf_status acquire_all(rf_client *client, const rf_acquire_options *opts,
                             rf_lock **locks, size_t n)
{
    rf__grant grant[RF_ALL_MAX];
    rf__grants grants = { .grant = grant, .n = n };
    rf_status status;

    for (size_t i = 0; i < n; i++)
        grant[i] = rf__lock_grant(locks[i], opts);
    status = rf__wait_acquire(client, &grants, opts);
    if (status != RF_OK)
        return status;
    if (any_is_late(&grants)) {
        int gone = rf__give_back(client->source, grant, n,
                                 rf__now_ms() + client->timeout_ms);

        rf__set_error(&client->error, "granted too late: their time was over "
                                      "when the answer came");
        return gone ? RF_RETRY : RF_UNKNOWN;
    }
    for (size_t i = 0; i < n; i++)
        rf__lock_granted(locks[i], &grant[i], opts->ttl_ms);
    return RF_OK;
}

rf_status rf_acquire_all(rf_client *client, const char *const *resources,
                         size_t n, const rf_acquire_options *opts,
                         rf_lock **out)
{
    static const rf_acquire_options defaults = RF_ACQUIRE_INIT;
    int64_t begin_us = rf__now_us();
    rf_status status;

    for (size_t i = 0; i < n; i++)
        out[i] = NULL;
    if (opts == NULL)
        opts = &defaults;
    if (client == NULL)
        return RF_MISUSE;
    client->busy_ms = -1;
    status = check_all(client, resources, n, opts);
    if (status == RF_OK)
        status = new_locks(client, resources, n, opts->holder, out);
    if (status != RF_OK)
        return status;
    status = acquire_all(client, opts, out, n);
    if (status != RF_OK)
        free_all(out, n);
    for (size_t i = 0; i < n; i++) {
        rf_event event = { .call = RF_CALL_ACQUIRE,
                           .status = status,
                           .resource = resources[i],
                           .fence = out[i] != NULL ? rf_lock_fence(out[i])
                                                   : 0 };

        rf__lock_note(client, event, begin_us);
    }
    return status;
}

/* ---- Those of one client, in one go ---------------------------------------- */

typedef void (*send_all)(rf__source *s, rf__grant *grants, rf_status *results,
                         size_t n, int64_t deadline_ms);

typedef struct crowd {
    rf_client *client;
    send_all send;
    int64_t ttl_ms; /* of a renewal; 0: they are given back */
    int64_t until_ms;
    size_t n;
    rf_lock *locks[RF_ALL_MAX];
    rf__grant grants[RF_ALL_MAX];
    rf_status results[RF_ALL_MAX];
} crowd;

static void gather(crowd *c, rf_client *client, rf_lock **locks, size_t n)
{
    c->client = client;
    c->until_ms = rf__now_ms() + client->timeout_ms;
    c->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (locks[i] == NULL || locks[i]->client != client)
            continue;
        c->grants[c->n] = rf__grant_of(locks[i]);
        c->grants[c->n].ttl_ms = c->ttl_ms;
        c->locks[c->n++] = locks[i];
        locks[i] = NULL;
    }
}

/*
 * What was sent again and is no longer ours was given back by the first request,
 * or had been lost before it: that can't be told.
 */
static rf_status of_both(const crowd *c, rf_status first, rf_status second)
{
    if (first == RF_RETRY || second == RF_OK || c->ttl_ms > 0)
        return second;
    return RF_UNKNOWN;
}

/* What did not arrive, or was not answered, once more. */
static void send_again(crowd *c)
{
    rf__grant rest[RF_ALL_MAX];
    rf_status results[RF_ALL_MAX];
    size_t at[RF_ALL_MAX], m = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (c->results[i] != RF_RETRY && c->results[i] != RF_UNKNOWN)
            continue;
        rest[m] = c->grants[i];
        at[m++] = i;
    }
    if (m == 0 || rf__left_ms(c->until_ms) == 0)
        return;
    c->send(c->client->source, rest, results, m, c->until_ms);
    for (size_t j = 0; j < m; j++) {
        size_t i = at[j];

        c->grants[i] = rest[j];
        c->results[i] = of_both(c, c->results[i], results[j]);
    }
}

/* Takes them out of locks, and lets each of them go its way. */
static void send_those_of(crowd *c, rf_client *client, rf_lock **locks,
                          size_t n)
{
    gather(c, client, locks, n);
    c->send(client->source, c->grants, c->results, c->n, c->until_ms);
    send_again(c);
}

/* The one of two outcomes that stands further back in this order. */
static rf_status later(const rf_status order[RF_OUTCOMES], rf_status a,
                       rf_status b)
{
    size_t i = 0;

    while (order[i] != a && order[i] != b)
        i++;
    return order[i] == a ? b : a;
}

/* ---- Renew ------------------------------------------------------------------- */

/* By how much of the work has to stop. */
static const rf_status renew_order[RF_OUTCOMES] = {
    RF_OK,    RF_RETRY,  RF_REFUSED, RF_BUSY,  RF_TIMEOUT,  RF_UNKNOWN,
    RF_NOMEM, RF_MISUSE, RF_LOST,    RF_STALE, RF_COLLISION
};

/* Nothing is sent when one of the calls would be wrong. */
static rf_status check_renew_all(rf_lock *const *locks, size_t n,
                                 int64_t ttl_ms)
{
    if (n > RF_ALL_MAX)
        return RF_MISUSE;
    for (size_t i = 0; i < n; i++) {
        if (locks[i] == NULL)
            continue;
        if (rf__check_blocking(locks[i]->client) != RF_OK ||
            rf__lock_check_renew(locks[i], ttl_ms) == RF_MISUSE)
            return RF_MISUSE;
    }
    return RF_OK;
}

static rf_status renew_those_of(rf_client *client, rf_lock **locks, size_t n,
                                int64_t ttl_ms)
{
    int64_t begin_us = rf__now_us();
    rf_status all = RF_OK;
    crowd c;

    c.send = client->source->ops->renew_all;
    c.ttl_ms = ttl_ms;
    send_those_of(&c, client, locks, n);
    rf__metrics_time(&client->metrics, RF_TIME_RENEW, rf__now_us() - begin_us);
    for (size_t i = 0; i < c.n; i++) {
        rf__lock_settle_renew(c.locks[i], c.grants[i].sent_ms, ttl_ms,
                              c.results[i]);
        rf__lock_note_call(c.locks[i], RF_CALL_RENEW, c.results[i], begin_us);
        all = later(renew_order, all, c.results[i]);
    }
    return all;
}

rf_status rf_renew_all(rf_lock *const *locks, size_t n, int64_t ttl_ms)
{
    rf_lock *due[RF_ALL_MAX];
    rf_status all = check_renew_all(locks, n, ttl_ms);

    if (all != RF_OK)
        return all;
    for (size_t i = 0; i < n; i++) {
        rf_status over = RF_OK;

        due[i] = locks[i];
        if (locks[i] != NULL)
            over = rf__lock_check(locks[i]);
        if (over == RF_OK)
            continue;
        rf__lock_note_call(locks[i], RF_CALL_RENEW, over, rf__now_us());
        all = later(renew_order, all, over);
        due[i] = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (due[i] != NULL)
            all = later(renew_order, all,
                        renew_those_of(due[i]->client, due, n, ttl_ms));
    }
    return all;
}

/* ---- Release ----------------------------------------------------------------- */

/* By what it leaves behind. */
static const rf_status release_order[RF_OUTCOMES] = {
    RF_OK,     RF_LOST,  RF_STALE,   RF_COLLISION, RF_BUSY,   RF_TIMEOUT,
    RF_MISUSE, RF_NOMEM, RF_REFUSED, RF_RETRY,     RF_UNKNOWN
};

/* Before any of them is touched. */
static rf_status check_release_all(rf_lock **locks, size_t n)
{
    if (n > RF_ALL_MAX)
        return RF_MISUSE;
    for (size_t i = 0; i < n; i++) {
        if (locks[i] == NULL)
            continue;
        if (rf__check_blocking(locks[i]->client) != RF_OK)
            return RF_MISUSE;
        if (!rf__may_unkeep(locks[i]))
            return rf__misuse(locks[i]->client, "a lock can't be released in "
                                                "on_lost()");
    }
    return RF_OK;
}

static rf_status release_those_of(rf_client *client, rf_lock **locks, size_t n)
{
    int64_t begin_us = rf__now_us();
    rf_status all = RF_OK;
    crowd c;

    c.send = client->source->ops->release_all;
    c.ttl_ms = 0;
    send_those_of(&c, client, locks, n);
    for (size_t i = 0; i < c.n; i++) {
        rf__lock_note_call(c.locks[i], RF_CALL_RELEASE, c.results[i], begin_us);
        all = later(release_order, all, c.results[i]);
        rf__lock_free(c.locks[i]);
    }
    return all;
}

rf_status rf_release_all(rf_lock **locks, size_t n)
{
    rf_status all = check_release_all(locks, n);

    if (all != RF_OK)
        return all;
    for (size_t i = 0; i < n; i++) {
        rf_lock *lock = locks[i];
        rf_status status;

        if (lock == NULL)
            continue;
        if (rf__lock_released_before(lock, &status)) {
            all = later(release_order, all, status);
            locks[i] = NULL;
            continue;
        }
        /* First of all: what was given back must never be renewed again. */
        rf__unkeep(lock);
        status = rf__lock_check_release(lock);
        if (status == RF_OK)
            continue;
        rf__lock_note_call(lock, RF_CALL_RELEASE, status, rf__now_us());
        all = later(release_order, all, status);
        rf__lock_free(lock);
        locks[i] = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (locks[i] != NULL)
            all = later(release_order, all,
                        release_those_of(locks[i]->client, locks, n));
    }
    return all;
}
