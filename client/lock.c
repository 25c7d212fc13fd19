/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lock.c - what a grant means: who may believe in it, and until when
 *
 * Checks everything that comes from outside before anything is sent.  Knows
 * no wire format: the source does the talking.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

#include "wait.h"

struct rf_lock {
    rf_client *client;
    pid_t pid;      /* a forked child may look, but the lock is not its own */
    rf_status over; /* RF_OK while nothing final was heard                  */
    int gone;       /* Redis itself said that it is no longer ours          */
    int claimed;
    rf_fence fence;
    int64_t deadline_ms;
    char holder[RF_HOLDER_LEN + 1];
    char resource[];
};

static rf_status misuse(rf_client *client, const char *what)
{
    rf__set_error(&client->error, "%s", what);
    return RF_MISUSE;
}

/* ---- Validation ----------------------------------------------------------- */

/* Length of the UTF-8 sequence at s, 0 when it is none. */
static size_t sequence_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, and what is above U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static int is_control(const unsigned char *s)
{
    return s[0] < ' ' || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

static rf_status check_resource(rf_client *client, const char *resource)
{
    const unsigned char *s = (const unsigned char *)resource;
    size_t at = 0;

    if (s == NULL || s[0] == '\0')
        return misuse(client, "the resource has no name");
    while (s[at] != '\0') {
        size_t n = sequence_length(s + at);

        if (n == 0)
            return misuse(client, "the resource's name is not valid UTF-8");
        if (is_control(s + at))
            return misuse(client, "the resource's name has a control "
                                  "character");
        at += n;
        if (at > RF_RESOURCE_MAX)
            return misuse(client, "the resource's name is longer than 255 "
                                  "bytes");
    }
    return RF_OK;
}

static rf_status check_ttl(rf_client *client, int64_t ttl_ms)
{
    if (ttl_ms < 1 || ttl_ms > RF_TTL_MAX_MS)
        return misuse(client, "ttl_ms must be from 1 to 86400000 (24 hours)");
    return RF_OK;
}

static rf_status check_floor(rf_client *client, rf_fence floor)
{
    if (floor < 0 || floor > RF_FENCE_MAX)
        return misuse(client, "floor must be from 0 to 2^53-1");
    return RF_OK;
}

static rf_status check_acquire(rf_client *client, const char *resource,
                               const rf_acquire_options *opts)
{
    rf_status status;

    if (client->source == NULL)
        return misuse(client, "the client is closed");
    status = check_resource(client, resource);
    if (status == RF_OK)
        status = check_ttl(client, opts->ttl_ms);
    if (status == RF_OK)
        status = check_floor(client, opts->floor);
    if (status != RF_OK)
        return status;
    if (opts->wait_ms < 0 || opts->wait_ms > RF_TTL_MAX_MS)
        return misuse(client, "wait_ms must be from 0 to 86400000 (24 hours)");
    if (opts->holder != NULL && !rf__holder_valid(opts->holder))
        return misuse(client, "holder must be 32 lower-case hex digits");
    return RF_OK;
}

/* ---- Acquire -------------------------------------------------------------- */

/* Everything that can fail for want of memory comes before the request. */
static rf_status new_lock(rf_client *client, const char *resource,
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

static rf__grant grant_of(const rf_lock *lock)
{
    rf__grant grant = { .resource = lock->resource,
                        .holder = lock->holder,
                        .fence = lock->fence };

    return grant;
}

static int64_t limit_ms(const rf_client *client)
{
    return rf__now_ms() + client->timeout_ms;
}

/* The answer came when there was nothing left of what it grants. */
static rf_status refuse_late_grant(rf_client *client, rf__grant *grant)
{
    client->source->ops->release(client->source, grant, limit_ms(client));
    rf__set_error(&client->error, "granted too late: its time was over when "
                                  "the answer came");
    return RF_RETRY;
}

rf_status rf_acquire(rf_client *client, const char *resource,
                     const rf_acquire_options *opts, rf_lock **out)
{
    static const rf_acquire_options defaults = RF_ACQUIRE_INIT;
    rf_lock *lock;
    rf__grant grant;
    rf_status status;

    *out = NULL;
    if (opts == NULL)
        opts = &defaults;
    if (client == NULL)
        return RF_MISUSE;
    client->busy_ms = -1;
    status = check_acquire(client, resource, opts);
    if (status == RF_OK)
        status = new_lock(client, resource, opts->holder, &lock);
    if (status != RF_OK)
        return status;

    grant = grant_of(lock);
    grant.ttl_ms = opts->ttl_ms;
    grant.wait_ms = opts->wait_ms;
    status = rf__wait_acquire(client, &grant, opts->floor);
    if (status != RF_OK)
        goto failed;
    lock->fence = grant.fence;
    lock->deadline_ms = rf__deadline_ms(grant.sent_ms, grant.ttl_ms);
    if (rf__left_ms(lock->deadline_ms) == 0) {
        status = refuse_late_grant(client, &grant);
        goto failed;
    }
    rf__client_keep(client);
    *out = lock;
    return RF_OK;

failed:
    free(lock);
    return status;
}

/* ---- What a lock says of itself -------------------------------------------- */

rf_status rf__lock_state(const rf_lock *lock)
{
    if (lock->pid != rf__process_id() || lock->client->source == NULL)
        return RF_MISUSE;
    if (lock->over != RF_OK)
        return lock->over;
    return rf__left_ms(lock->deadline_ms) > 0 ? RF_OK : RF_LOST;
}

/* The same, with a text for the caller. */
static rf_status check_usable(rf_lock *lock)
{
    rf_client *client = lock->client;
    rf_status status = rf__lock_state(lock);

    if (lock->pid != rf__process_id())
        return misuse(client, "the lock belongs to the process that took it");
    if (client->source == NULL)
        return misuse(client, "the client is closed");
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
    if (lock->over == RF_OK)
        lock->over = why;
}

/* ---- Renew, reissue, release ------------------------------------------------ */

static rf_status lost(rf_lock *lock)
{
    lock->gone = 1;
    rf__lock_set_over(lock, RF_LOST);
    return RF_LOST;
}

rf_status rf_renew(rf_lock *lock, int64_t ttl_ms)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = grant_of(lock);
    rf_status status = check_usable(lock);
    int64_t until_ms;

    if (status == RF_OK)
        status = check_ttl(client, ttl_ms);
    if (status != RF_OK)
        return status;
    grant.ttl_ms = ttl_ms;
    until_ms = limit_ms(client);
    status = source->ops->renew(source, &grant, until_ms);
    if (status == RF_UNKNOWN && rf__left_ms(until_ms) > 0)
        status = source->ops->renew(source, &grant, until_ms);
    if (status == RF_LOST)
        return lost(lock);
    if (status == RF_OK)
        lock->deadline_ms = rf__deadline_ms(grant.sent_ms, ttl_ms);
    return status;
}

rf_status rf_reissue(rf_lock *lock, rf_fence floor)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = grant_of(lock);
    rf_status status = check_usable(lock);
    int64_t until_ms;
    int again;

    if (status == RF_OK)
        status = check_floor(client, floor);
    if (status != RF_OK)
        return status;
    if (lock->claimed)
        return misuse(client, "the lock has been claimed: its fence must not "
                              "be raised any more");
    if (floor < lock->fence)
        floor = lock->fence;
    until_ms = limit_ms(client);
    status = source->ops->reissue(source, &grant, floor, until_ms);
    again = status == RF_UNKNOWN;
    if (again && rf__left_ms(until_ms) > 0)
        status = source->ops->reissue(source, &grant, floor, until_ms);
    if (status == RF_LOST)
        return lost(lock);
    if (status == RF_OK) {
        lock->fence = grant.fence;
        return RF_OK;
    }
    if (!again)
        return status;
    /* The number in Redis may be the old one or a new one. */
    rf__lock_set_over(lock, RF_UNKNOWN);
    return RF_UNKNOWN;
}

/*
 * Sent again when the answer was lost.  A lock that is then no longer there
 * was given back by the first request, or had been lost before it.
 */
static rf_status give_back(rf_lock *lock)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = grant_of(lock);
    int64_t until_ms = limit_ms(client);
    rf_status status = source->ops->release(source, &grant, until_ms);

    if (status != RF_UNKNOWN || rf__left_ms(until_ms) == 0)
        return status;
    status = source->ops->release(source, &grant, until_ms);
    if (status == RF_LOST)
        rf__set_error(&client->error, "no longer ours, but whether this "
                                      "release ended it can't be told");
    return status == RF_OK ? RF_OK : RF_UNKNOWN;
}

rf_status rf_release(rf_lock *lock)
{
    rf_client *client;
    rf_status status;

    if (lock == NULL)
        return RF_OK;
    client = lock->client;
    if (lock->pid != rf__process_id())
        status = misuse(client, "the lock belongs to the process that took "
                                "it");
    else if (client->source == NULL)
        status = misuse(client, "the client is closed: the lock runs out by "
                                "itself");
    else if (lock->gone)
        status = RF_LOST;
    else
        status = give_back(lock);
    free(lock);
    rf__client_drop(client);
    return status;
}

rf_status rf_inspect(rf_client *client, const char *resource, rf_info *out)
{
    rf_status status;

    memset(out, 0, sizeof(*out));
    if (client == NULL)
        return RF_MISUSE;
    if (client->source == NULL)
        return misuse(client, "the client is closed");
    status = check_resource(client, resource);
    if (status != RF_OK)
        return status;
    status = client->source->ops->inspect(client->source, resource, out,
                                          limit_ms(client));
    if (status != RF_OK)
        memset(out, 0, sizeof(*out));
    return status;
}
