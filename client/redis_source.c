/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_source.c - one Redis as a source of locks and fences
 *
 * Turns a grant into a script call and the outcome in its reply into an
 * rf_status.  Connections and scripts know nothing of grants, and this file
 * knows nothing of bytes.
 */
#include "redis_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct redis_source {
    rf__source base;
    rf__redis *redis;
    int timeout_ms;
    char prefix[RF__PREFIX_MAX + 1];
    char client_id[16]; /* random, and "-": tags of two clients never meet */
    int64_t requests;
} redis_source;

static redis_source *self(rf__source *s)
{
    return (redis_source *)s;
}

/* A fresh tag, and what all calls have in common. */
static void prepare(redis_source *s, rf__call *call, char tag[RF__TAG_LEN])
{
    size_t id = strlen(s->client_id);

    memcpy(tag, s->client_id, id);
    rf__decimal_write(tag + id, ++s->requests);
    call->prefix = s->prefix;
    call->tag = tag;
}

static int outcome_is(const rf__reply *reply, const char *name)
{
    return strcmp(rf__reply_text(reply, RF__OUTCOME), name) == 0;
}

/* The text after the outcome: what, why, or a number. */
static const char *detail(const rf__reply *reply)
{
    return rf__reply_text(reply, RF__OUTCOME + 1);
}

/* A canonical number from least to RF_FENCE_MAX in item i.  0 when it isn't. */
static int read_number(const rf__reply *reply, size_t i, int64_t least,
                       int64_t *out)
{
    const char *text = rf__reply_text(reply, i);

    return text != NULL && rf__decimal_read(text, least, RF_FENCE_MAX, out);
}

static int read_owner(const rf__reply *reply, size_t i, rf__owner *out)
{
    const char *text = rf__reply_text(reply, i);

    if (text == NULL)
        return 0;
    if (strcmp(text, "ours") == 0)
        *out = RF__OWNER_OURS;
    else if (strcmp(text, "kept") == 0)
        *out = RF__OWNER_KEPT;
    else if (strcmp(text, "foreign") == 0)
        *out = RF__OWNER_FOREIGN;
    else
        return 0;
    return 1;
}

/* It answered this very request, but with something no script of ours says. */
static rf_status nonsense(redis_source *s)
{
    rf__redis_close(s->redis);
    rf__set_error(s->base.error, "Redis' answer makes no sense");
    return RF_UNKNOWN;
}

/* Outcomes that several scripts share and that are not success. */
static rf_status failed(redis_source *s, rf__grant *grant,
                        const rf__reply *reply)
{
    rf__error *error = s->base.error;

    if (outcome_is(reply, "LOST")) {
        grant->taken = strcmp(detail(reply), "taken") == 0;
        rf__set_error(error, grant->taken ? "another has the lock now"
                                          : "the lock has run out");
        return RF_LOST;
    }
    if (outcome_is(reply, "COUNTER_BAD"))
        rf__set_error(error, "the fence counter is not ours: %.64s",
                      detail(reply));
    else if (outcome_is(reply, "LOCK_BAD"))
        rf__set_error(error, "the lock's key is not a lock: %.64s",
                      detail(reply));
    else if (outcome_is(reply, "EXHAUSTED"))
        rf__set_error(error, "the fences of this resource are used up");
    else if (outcome_is(reply, "ARGUMENT_BAD"))
        rf__set_error(error, "the script refuses its argument %.64s",
                      detail(reply));
    else
        return nonsense(s);
    return RF_MISUSE;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    redis_source *s = self(base);
    char tag[RF__TAG_LEN], ttl[RF__DECIMAL_MAX], least[RF__DECIMAL_MAX],
        wait[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_acquire,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, ttl, least, wait, grant->token },
                      .n = 5 };
    const rf__reply *reply;
    rf_status status;

    prepare(s, &call, tag);
    rf__decimal_write(ttl, grant->ttl_ms);
    rf__decimal_write(least, floor);
    rf__decimal_write(wait, grant->wait_ms);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    grant->sent_ms = call.sent_ms;
    if (status != RF_OK)
        return status;

    if (outcome_is(reply, "BUSY")) {
        if (!read_number(reply, RF__OUTCOME + 1, -1, &grant->busy_ms) ||
            !read_owner(reply, RF__OUTCOME + 2, &grant->busy_by))
            return nonsense(s);
        rf__set_error(base->error, "held by another");
        return RF_BUSY;
    }
    if (outcome_is(reply, "OK") || outcome_is(reply, "REPLAY")) {
        int64_t left;

        if (!read_number(reply, RF__OUTCOME + 1, 1, &grant->fence) ||
            !read_number(reply, RF__OUTCOME + 2, -1, &left))
            return nonsense(s);
        /* -1: somebody has taken its time limit away.  Ours stays. */
        if (left >= 0)
            grant->ttl_ms = left;
        return RF_OK;
    }
    return failed(s, grant, reply);
}

/* A request to renew, with the room that its arguments need. */
typedef struct renewal {
    rf__call call;
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX], ttl[RF__DECIMAL_MAX];
} renewal;

static void prepare_renewal(redis_source *s, renewal *r, const rf__grant *grant)
{
    memset(&r->call, 0, sizeof(r->call));
    r->call.script = &rf__script_renew;
    r->call.resource = grant->resource;
    r->call.echo = grant->holder;
    r->call.args[0] = grant->holder;
    r->call.args[1] = r->fence;
    r->call.args[2] = r->ttl;
    r->call.n = 3;
    prepare(s, &r->call, r->tag);
    rf__decimal_write(r->fence, grant->fence);
    rf__decimal_write(r->ttl, grant->ttl_ms);
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    redis_source *s = self(base);
    const rf__reply *reply;
    renewal r;
    rf_status status;

    prepare_renewal(s, &r, grant);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    grant->sent_ms = r.call.sent_ms;
    if (status != RF_OK || outcome_is(reply, "OK"))
        return status;
    return failed(s, grant, reply);
}

/* How many requests are on their way at once. */
#define BATCH 64

/* Put and send them; RF_OK when all answers may be waited for. */
static rf_status send_batch(redis_source *s, renewal *r, rf__grant *grants,
                            size_t n, int64_t deadline_ms)
{
    rf_status status = rf__redis_connect(s->redis, deadline_ms, s->base.error);
    int64_t sent_ms = rf__now_ms();

    for (size_t i = 0; i < n && status == RF_OK; i++) {
        prepare_renewal(s, &r[i], &grants[i]);
        grants[i].sent_ms = sent_ms;
        status = rf__script_put(s->redis, &r[i].call, s->base.error);
    }
    if (status == RF_OK)
        return rf__redis_send(s->redis, deadline_ms, s->base.error);
    /* Also drops what was put before memory ran out. */
    rf__redis_close(s->redis);
    return status;
}

static void renew_batch(redis_source *s, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms)
{
    renewal r[BATCH];
    rf_status status = send_batch(s, r, grants, n, deadline_ms);
    const rf__reply *reply;

    for (size_t i = 0; i < n; i++) {
        if (status != RF_OK) {
            results[i] = status;
            continue;
        }
        results[i] = rf__script_take(s->redis, &r[i].call, deadline_ms, &reply,
                                     s->base.error);
        if (results[i] == RF_OK && !outcome_is(reply, "OK"))
            results[i] = failed(s, &grants[i], reply);
        /* Closed: what was still to come is gone. */
        if (!rf__redis_connected(s->redis))
            status = RF_UNKNOWN;
    }
}

static void renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms)
{
    for (size_t i = 0; i < n; i += BATCH)
        renew_batch(self(base), grants + i, results + i,
                    n - i < BATCH ? n - i : BATCH, deadline_ms);
    for (size_t i = 0; i < n; i++) {
        if (results[i] == RF__UNSENT)
            results[i] = renew(base, &grants[i], deadline_ms);
    }
}

static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    redis_source *s = self(base);
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_release,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, fence },
                      .n = 2 };
    const rf__reply *reply;
    rf_status status;

    prepare(s, &call, tag);
    rf__decimal_write(fence, grant->fence);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status != RF_OK || outcome_is(reply, "OK"))
        return status;
    return failed(s, grant, reply);
}

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    redis_source *s = self(base);
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX], least[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_reissue,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, fence, least },
                      .n = 3 };
    const rf__reply *reply;
    int64_t issued;
    rf_status status;

    prepare(s, &call, tag);
    rf__decimal_write(fence, grant->fence);
    rf__decimal_write(least, floor);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status != RF_OK)
        return status;
    if (!outcome_is(reply, "OK") && !outcome_is(reply, "REPLAY"))
        return failed(s, grant, reply);
    if (!read_number(reply, RF__OUTCOME + 1, 1, &issued) || issued <= floor ||
        issued <= grant->fence)
        return nonsense(s);
    grant->fence = issued;
    return RF_OK;
}

/* {"inspect", "", tag, state, fence, holder, left_ms, counter} */
static int read_info(const rf__reply *reply, rf_info *info)
{
    const char *holder = rf__reply_text(reply, 6);
    const char *counter = rf__reply_text(reply, 8);

    if (rf__reply_count(reply) != 9)
        return 0;
    if (strcmp(counter, "bad") == 0)
        info->counter = -1;
    else if (*counter != '\0' && !read_number(reply, 8, 1, &info->counter))
        return 0;
    if (!read_number(reply, 7, -1, &info->left_ms))
        return 0;
    if (outcome_is(reply, "free"))
        return 1;
    info->held = 1;
    if (outcome_is(reply, "foreign"))
        return 1;
    if (!outcome_is(reply, "held") || !rf__holder_valid(holder) ||
        !read_number(reply, 5, 1, &info->fence))
        return 0;
    memcpy(info->holder, holder, sizeof(info->holder));
    return 1;
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    redis_source *s = self(base);
    char tag[RF__TAG_LEN];
    rf__call call = { .script = &rf__script_inspect,
                      .resource = resource,
                      .echo = "" };
    const rf__reply *reply;
    rf_status status;

    prepare(s, &call, tag);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status == RF_OK && !read_info(reply, info))
        status = nonsense(s);
    /* It changes nothing, so it may always be done again. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static void close_source(rf__source *base)
{
    rf__redis_free(self(base)->redis);
    free(base);
}

/* {key, token}, from the list that was asked about and no other. */
static rf_status read_token(redis_source *s, rf__grant *grant,
                            const rf__reply *reply, const char *key)
{
    const char *from = rf__reply_text(reply, 1);
    const char *token = rf__reply_text(reply, 2);

    if (rf__reply_kind(reply, 0) == RF__ERROR)
        return rf__script_refused(s->redis, reply, s->base.error);
    if (rf__reply_count(reply) != 3 || from == NULL || token == NULL ||
        strcmp(from, key) != 0 || strlen(token) >= sizeof(grant->token)) {
        nonsense(s);
        return RF_RETRY;
    }
    memcpy(grant->token, token, strlen(token) + 1);
    return RF_OK;
}

/*
 * Redis serves the longest waiter first and ends the wait itself; the limit
 * here is for a Redis that has stopped answering.
 */
static rf_status wait_for_wake(rf__source *base, rf__grant *grant,
                               int64_t for_ms)
{
    redis_source *s = self(base);
    int64_t deadline_ms = rf__now_ms() + for_ms + s->timeout_ms;
    char key[RF__KEY_MAX], seconds[RF__DECIMAL_MAX];
    const char *argv[] = { "BLPOP", key, seconds };
    size_t lengths[] = { 5, 0, 0 };
    const rf__reply *reply;
    rf_status status;

    grant->token[0] = '\0';
    lengths[1] = rf__key_name(key, RF__KEY_WAKE, s->prefix, grant->resource);
    lengths[2] = (size_t)snprintf(seconds, sizeof(seconds), "%" PRId64 ".%03d",
                                  for_ms / 1000, (int)(for_ms % 1000));
    status = rf__redis_connect(s->redis, deadline_ms, base->error);
    if (status != RF_OK)
        return status;
    if (rf__redis_append(s->redis, 3, argv, lengths) != RF_OK)
        return RF_NOMEM;
    status = rf__redis_send(s->redis, deadline_ms, base->error);
    if (status == RF_OK)
        status = rf__redis_await(s->redis, grant->cancel_fd, deadline_ms,
                                 base->error);
    if (status == RF_OK)
        status = rf__redis_reply(s->redis, deadline_ms, &reply, base->error);
    /* A wake-up may have been on its way to us and to nobody else. */
    if (status == RF_TIMEOUT || status == RF_UNKNOWN)
        memcpy(grant->token, "?", 2);
    if (status == RF_TIMEOUT)
        return RF_OK;
    if (status != RF_OK)
        return status == RF_UNKNOWN ? RF_RETRY : status;
    if (rf__reply_kind(reply, 0) == RF__NIL)
        return RF_OK;
    return read_token(s, grant, reply, key);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_for_wake,
    .renew_all = renew_all,
    .clone = clone,
    .close = close_source,
};

static rf__source *new_source(rf__redis *redis, const char *prefix,
                              int timeout_ms, rf__error *error)
{
    redis_source *s = redis != NULL ? calloc(1, sizeof(*s)) : NULL;
    char holder[RF_HOLDER_LEN + 1];

    if (s == NULL) {
        rf__redis_free(redis);
        return NULL;
    }
    s->base.ops = &ops;
    s->base.error = error;
    s->redis = redis;
    s->timeout_ms = timeout_ms;
    memcpy(s->prefix, prefix, strlen(prefix) + 1);
    if (rf_holder_new(holder) == RF_OK)
        memcpy(s->client_id, holder, 12);
    memcpy(s->client_id + strlen(s->client_id), "-", 2);
    return &s->base;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    redis_source *s = self(base);

    return new_source(rf__redis_again(s->redis), s->prefix, s->timeout_ms,
                      error);
}

rf__source *rf__redis_source(const rf__url *url, const rf_options *opts,
                             rf__error *error)
{
    return new_source(rf__redis_new(url, opts->timeout_ms), opts->prefix,
                      opts->timeout_ms, error);
}
