/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lock.c - what a grant means: who may believe in it, and until when
 *
 * Checks everything that comes from outside before anything is sent.  Knows
 * no wire format: the source does the talking.
 */
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "give_back.h"
#include "wait.h"

/* ---- Acquire -------------------------------------------------------------- */

rf_status rf__lock_new(rf_client *client, const char *resource,
                       const char *holder, rf_lock **out)
{
    size_t len = strlen(resource) + 1;
    rf_lock *lock = calloc(1, sizeof(*lock) + len);

    *out = lock;
    if (lock == NULL) {
        rf__set_error(&client->error, "out of memory");
        return RF_NOMEM;
    }
    lock->client = client;
    lock->pid = rf__process_id();
    memcpy(lock->resource, resource, len);
    if (holder != NULL) {
        memcpy(lock->holder, holder, sizeof(lock->holder));
        return RF_OK;
    }
    if (rf_holder_new(lock->holder) == RF_OK)
        return RF_OK;
    free(lock);
    *out = NULL;
    rf__set_error(&client->error, "the system gives no random bytes");
    return RF_RETRY;
}

rf__grant rf__grant_of(const rf_lock *lock)
{
    rf__grant grant = { .resource = lock->resource,
                        .holder = lock->holder,
                        .fence = lock->fence,
                        .shared = lock->shared,
                        .cancel_fd = lock->client->cancel_fd };

    return grant;
}

rf__grant rf__lock_grant(const rf_lock *lock, const rf_acquire_options *opts)
{
    rf__grant grant = rf__grant_of(lock);

    grant.shared = opts->shared;
    grant.may_ask = opts->floor > 0 || opts->ask_floor != NULL;
    grant.ttl_ms = opts->ttl_ms;
    grant.wait_ms = opts->wait_ms;
    return grant;
}

void rf__lock_granted(rf_lock *lock, const rf__grant *grant, int64_t ttl_ms)
{
    lock->fence = grant->fence;
    lock->shared = grant->shared;
    lock->ttl_ms = ttl_ms;
    lock->granted_ms = grant->sent_ms;
    lock->deadline_ms = rf__deadline_ms(grant->sent_ms, grant->ttl_ms);
    rf__client_keep(lock->client);
    lock->next = lock->client->locks;
    if (lock->next != NULL)
        lock->next->before = lock;
    lock->client->locks = lock;
}

/*
 * Only a lock that may be used: one that is lost has to be taken anew.  Who may
 * write may read as well, and not the other way round.
 */
rf_lock *rf__lock_held(rf_client *client, const char *resource, int shared)
{
    for (rf_lock *lock = client->locks; lock != NULL; lock = lock->next) {
        if (strcmp(lock->resource, resource) == 0 &&
            (shared || !lock->shared) && rf__lock_state(lock) == RF_OK)
            return lock;
    }
    return NULL;
}

void rf__lock_note(rf_client *client, rf_event event, int64_t begin_us)
{
    event.us = rf__now_us() - begin_us;
    /* What was refused as a name is not told as one, and there may be none. */
    if (event.status == RF_MISUSE)
        event.resource = "";
    rf__metrics_call(&client->metrics, &event);
}

void rf__lock_note_call(const rf_lock *lock, rf_call call, rf_status status,
                        int64_t begin_us)
{
    rf_event event = { .call = call,
                       .status = status,
                       .resource = lock->resource,
                       .fence = lock->fence };

    rf__lock_note(lock->client, event, begin_us);
}

static int64_t limit_ms(const rf_client *client)
{
    return rf__now_ms() + client->timeout_ms;
}

static rf_status acquire(rf_client *client, const rf_acquire_options *opts,
                         rf_lock *lock)
{
    rf__grant grant = rf__lock_grant(lock, opts);
    rf__grants one = { .grant = &grant, .n = 1 };
    rf_status status = rf__wait_acquire(client, &one, opts);

    if (status != RF_OK)
        return status;
    /* The answer came when there was nothing left of what it grants. */
    if (rf__left_ms(rf__deadline_ms(grant.sent_ms, grant.ttl_ms)) == 0) {
        int gone = rf__give_back(client->source, &grant, 1, limit_ms(client));

        rf__set_error(&client->error, "granted too late: its time was over "
                                      "when the answer came");
        return gone ? RF_RETRY : RF_UNKNOWN;
    }
    rf__lock_granted(lock, &grant, opts->ttl_ms);
    return RF_OK;
}

static rf_status acquire_new_or_held(rf_client *client, const char *resource,
                                     const rf_acquire_options *opts,
                                     rf_lock **out)
{
    rf_lock *lock;
    rf_status status = rf__check_acquire(client, resource, opts);

    if (status != RF_OK)
        return status;
    if (opts->reentrant &&
        (*out = rf__lock_held(client, resource, opts->shared)) != NULL) {
        (*out)->count++;
        return RF_OK;
    }
    status = rf__lock_new(client, resource, opts->holder, &lock);
    if (status != RF_OK)
        return status;
    status = acquire(client, opts, lock);
    if (status == RF_OK)
        *out = lock;
    else
        free(lock);
    return status;
}

rf_status rf_acquire(rf_client *client, const char *resource,
                     const rf_acquire_options *opts, rf_lock **out)
{
    static const rf_acquire_options defaults = RF_ACQUIRE_INIT;
    rf_event event = { .call = RF_CALL_ACQUIRE, .resource = resource };
    int64_t begin_us = rf__now_us();
    rf_status status;

    *out = NULL;
    if (client == NULL)
        return RF_MISUSE;
    client->busy_ms = -1;
    status = acquire_new_or_held(client, resource,
                                 opts != NULL ? opts : &defaults, out);
    event.status = status;
    event.fence = *out != NULL ? (*out)->fence : 0;
    rf__lock_note(client, event, begin_us);
    return status;
}

/* ---- What a lock says of itself -------------------------------------------- */

/* Some services know themselves when a lock may have ended before its time. */
static int stands(const rf_lock *lock)
{
    rf__source *source = lock->client->source;
    rf__grant grant = rf__grant_of(lock);

    return source->ops->stands == NULL || source->ops->stands(source, &grant);
}

rf_status rf__lock_state(const rf_lock *lock)
{
    if (lock->pid != rf__process_id() || lock->client->source == NULL)
        return RF_MISUSE;
    if (lock->over != RF_OK)
        return (rf_status)lock->over;
    return rf__left_ms(lock->deadline_ms) > 0 && stands(lock) ? RF_OK : RF_LOST;
}

/* The same, with a text for the caller. */
rf_status rf__lock_check(rf_lock *lock)
{
    rf_client *client = lock->client;
    rf_status status = rf__lock_state(lock);

    if (lock->pid != rf__process_id())
        return rf__misuse(client,
                          "the lock belongs to the process that took it");
    if (client->source == NULL)
        return rf__misuse(client, "the client is closed");
    if (status == RF_LOST && lock->over == RF_OK)
        rf__set_error(&client->error, "the lock is past its deadline");
    else if (status != RF_OK)
        rf__set_error(&client->error, "the lock is over: %s",
                      rf_status_text(status));
    return status;
}

rf_fence rf_lock_fence(const rf_lock *lock)
{
    return rf__lock_state(lock) == RF_OK ? lock->fence : 0;
}

const char *rf_lock_holder(const rf_lock *lock)
{
    return lock->holder;
}

const char *rf_lock_resource(const rf_lock *lock)
{
    return lock->resource;
}

int64_t rf_lock_left_ms(const rf_lock *lock)
{
    return rf__lock_state(lock) == RF_OK ? rf__left_ms(lock->deadline_ms) : 0;
}

rf_client *rf__lock_client(const rf_lock *lock)
{
    return lock->client;
}

int rf__lock_may_be_raised(const rf_lock *lock)
{
    return !lock->client->looped && !lock->attached;
}

int rf__lock_claimed(const rf_lock *lock)
{
    return lock->claimed;
}

void rf__lock_set_claimed(rf_lock *lock)
{
    lock->claimed = 1;
}

void rf__lock_set_over(rf_lock *lock, rf_status why)
{
    int usable = RF_OK;

    atomic_compare_exchange_strong(&lock->over, &usable, (int)why);
}

void rf__lock_renewed(rf_lock *lock, int64_t deadline_ms)
{
    lock->deadline_ms = deadline_ms;
}

void rf__lock_lost(rf_lock *lock, int gone)
{
    rf__lock_set_over(lock, RF_LOST);
    if (gone)
        lock->gone = 1;
}

/* ---- Renew, reissue ----------------------------------------------------------- */

rf_status rf__lock_check_renew(rf_lock *lock, int64_t ttl_ms)
{
    rf_client *client = lock->client;
    rf_status status = rf__lock_check(lock);

    if (status == RF_OK)
        status = rf__check_ttl(client, ttl_ms);
    if (status == RF_OK && lock->kept != NULL)
        return rf__misuse(client, "the lock is being kept: its keeper renews "
                                  "it");
    return status;
}

void rf__lock_settle_renew(rf_lock *lock, int64_t sent_ms, int64_t ttl_ms,
                           rf_status status)
{
    if (status == RF_LOST)
        rf__lock_lost(lock, 1);
    if (status == RF_OK)
        lock->deadline_ms = rf__deadline_ms(sent_ms, ttl_ms);
}

static rf_status renew(rf_lock *lock, int64_t ttl_ms)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = rf__grant_of(lock);
    rf_status status = rf__lock_check_renew(lock, ttl_ms);
    int64_t until_ms;

    if (status != RF_OK)
        return status;
    grant.ttl_ms = ttl_ms;
    until_ms = limit_ms(client);
    status = source->ops->renew(source, &grant, until_ms);
    if (status == RF_UNKNOWN && rf__left_ms(until_ms) > 0)
        status = source->ops->renew(source, &grant, until_ms);
    rf__lock_settle_renew(lock, grant.sent_ms, ttl_ms, status);
    return status;
}

rf_status rf_renew(rf_lock *lock, int64_t ttl_ms)
{
    int64_t begin_us = rf__now_us();
    rf_status status = renew(lock, ttl_ms);

    rf__metrics_time(&lock->client->metrics, RF_TIME_RENEW,
                     rf__now_us() - begin_us);
    rf__lock_note_call(lock, RF_CALL_RENEW, status, begin_us);
    return status;
}

static rf_status reissue(rf_lock *lock, rf_fence floor)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = rf__grant_of(lock);
    rf_status status = rf__lock_check(lock);
    int64_t until_ms;
    int again;

    if (status == RF_OK)
        status = rf__check_floor(client, floor);
    if (status != RF_OK)
        return status;
    if (lock->shared)
        return rf__misuse(client, "a shared lock has no fence");
    if (lock->claimed)
        return rf__misuse(client, "the lock has been claimed: its fence must "
                                  "not be raised any more");
    if (lock->attached)
        return rf__misuse(client, "the lock was taken by another process, "
                                  "which may have claimed it: its fence must "
                                  "not be raised any more");
    if (lock->kept != NULL)
        return rf__misuse(client, "the lock is being kept: its fence must not "
                                  "be raised any more");
    if (floor < lock->fence)
        floor = lock->fence;
    until_ms = limit_ms(client);
    status = source->ops->reissue(source, &grant, floor, until_ms);
    again = status == RF_UNKNOWN;
    if (again && rf__left_ms(until_ms) > 0)
        status = source->ops->reissue(source, &grant, floor, until_ms);
    if (status == RF_LOST)
        rf__lock_lost(lock, 1);
    if (status == RF_OK)
        lock->fence = grant.fence;
    if (status == RF_LOST || status == RF_OK)
        return status;
    /* Too few replicas: the source has given it back. */
    if (status == RF_REFUSED)
        rf__lock_set_over(lock, RF_REFUSED);
    if (!again)
        return status;
    /* The number in Redis may be the old one or a new one. */
    rf__lock_set_over(lock, RF_UNKNOWN);
    return RF_UNKNOWN;
}

rf_status rf_reissue(rf_lock *lock, rf_fence floor)
{
    int64_t begin_us = rf__now_us();
    rf_status status = reissue(lock, floor);

    rf__lock_note_call(lock, RF_CALL_REISSUE, status, begin_us);
    return status;
}

/* ---- The end --------------------------------------------------------------- */

rf_status rf__lock_check_release(rf_lock *lock)
{
    if (lock->pid != rf__process_id())
        return rf__misuse(lock->client, "the lock belongs to the process that "
                                        "took it");
    if (lock->client->source == NULL)
        return rf__misuse(lock->client, "the client is closed: the lock runs "
                                        "out by itself");
    return lock->gone ? RF_LOST : RF_OK;
}

void rf__lock_free(rf_lock *lock)
{
    rf_client *client = lock->client;

    if (lock->next != NULL)
        lock->next->before = lock->before;
    if (lock->before != NULL)
        lock->before->next = lock->next;
    else
        client->locks = lock->next;
    free(lock);
    rf__client_drop(client);
}

int rf__lock_released_before(rf_lock *lock, rf_status *status)
{
    if (lock->count == 0)
        return 0;
    lock->count--;
    *status = rf__lock_state(lock);
    return 1;
}
