/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * many.c - several locks at once, all or none
 *
 * One holder for the whole set, a fence for each resource.  Nobody holds some of
 * them while waiting for the rest, so that two such calls never block each other.
 */
#include "check.h"
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
        rf__give_back(client, &grants);
        rf__set_error(&client->error, "granted too late: their time was over "
                                      "when the answer came");
        return RF_RETRY;
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

/* The worse of two outcomes of a release, by what it leaves behind. */
static rf_status worse(rf_status a, rf_status b)
{
    static const rf_status order[] = { RF_OK,        RF_LOST,   RF_STALE,
                                       RF_COLLISION, RF_MISUSE, RF_NOMEM,
                                       RF_REFUSED,   RF_RETRY,  RF_UNKNOWN };
    size_t at_a = 0, at_b = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (order[i] == a)
            at_a = i;
        if (order[i] == b)
            at_b = i;
    }
    return at_a > at_b ? a : b;
}

static void note_release(rf_lock *lock, rf_status status, int64_t begin_us)
{
    rf_event event = { .call = RF_CALL_RELEASE,
                       .status = status,
                       .resource = lock->resource,
                       .fence = lock->fence };

    rf__lock_note(lock->client, event, begin_us);
}

/* Up to RF_ALL_MAX of one client that may be sent: in one go. */
static rf_status give_back_all(rf_client *client, rf_lock **locks, size_t n)
{
    static const rf_acquire_options any = RF_ACQUIRE_INIT;
    int64_t begin_us = rf__now_us();
    int64_t until_ms = rf__now_ms() + client->timeout_ms;
    rf__grant grants[RF_ALL_MAX];
    rf_status results[RF_ALL_MAX], all = RF_OK;

    for (size_t i = 0; i < n; i++) {
        grants[i] = rf__lock_grant(locks[i], &any);
        grants[i].shared = locks[i]->shared;
    }
    client->source->ops->release_all(client->source, grants, results, n,
                                     until_ms);
    for (size_t i = 0; i < n; i++) {
        int again = results[i] == RF_RETRY || results[i] == RF_UNKNOWN;

        if (again && rf__left_ms(until_ms) > 0) {
            rf_status second = rf__lock_give_back(locks[i]);

            results[i] = second == RF_OK || results[i] == RF_RETRY ? second
                                                                   : RF_UNKNOWN;
        }
        all = worse(all, results[i]);
        note_release(locks[i], results[i], begin_us);
    }
    return all;
}

rf_status rf_release_all(rf_lock **locks, size_t n)
{
    rf_lock *sent[RF_ALL_MAX];
    rf_status all = RF_OK;
    size_t m = 0;

    if (n > RF_ALL_MAX)
        return RF_MISUSE;
    for (size_t i = 0; i < n; i++) {
        if (locks[i] != NULL && rf__check_blocking(locks[i]->client) != RF_OK)
            return RF_MISUSE;
    }
    for (size_t i = 0; i < n; i++) {
        rf_status status;

        if (locks[i] == NULL)
            continue;
        if (rf__lock_released_before(locks[i], &status)) {
            all = worse(all, status);
            locks[i] = NULL;
            continue;
        }
        if (!rf__unkeep(locks[i]))
            return rf__misuse(locks[i]->client, "a lock can't be released in "
                                                "on_lost()");
        status = rf__lock_check_release(locks[i]);
        if (status == RF_OK && m > 0 && sent[0]->client != locks[i]->client)
            status = rf__lock_give_back(locks[i]);
        else if (status == RF_OK)
            sent[m++] = locks[i];
        all = worse(all, status);
    }
    if (m > 0)
        all = worse(all, give_back_all(sent[0]->client, sent, m));
    for (size_t i = 0; i < n; i++) {
        if (locks[i] != NULL)
            rf__lock_free(locks[i]);
        locks[i] = NULL;
    }
    return all;
}
