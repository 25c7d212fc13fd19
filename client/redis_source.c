/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_source.c - one Redis as a source of locks and fences
 *
 * Turns a grant into a script call and the outcome in its reply into an
 * rf_status.  Connections and scripts know nothing of grants, and this file
 * knows nothing of bytes.
 */
#include "redis_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rf__redis_source_t *rf__rs(rf__source *s)
{
    return (rf__redis_source_t *)s;
}

/* A fresh tag, and what all calls have in common. */
void rf__rs_prepare(rf__redis_source_t *s, rf__call *call,
                    char tag[RF__TAG_LEN])
{
    size_t id = strlen(s->client_id);

    memcpy(tag, s->client_id, id);
    rf__decimal_write(tag + id, ++s->requests);
    call->prefix = s->prefix;
    call->tag = tag;
}

int rf__rs_outcome_is(const rf__reply *reply, const char *name)
{
    return strcmp(rf__reply_text(reply, RF__OUTCOME), name) == 0;
}

/* The text after the outcome: what, why, or a number. */
const char *rf__rs_detail(const rf__reply *reply)
{
    return rf__reply_text(reply, RF__OUTCOME + 1);
}

/* A canonical number from least to RF_FENCE_MAX in item i.  0 when it isn't. */
int rf__rs_number(const rf__reply *reply, size_t i, int64_t least, int64_t *out)
{
    const char *text = rf__reply_text(reply, i);

    return text != NULL && rf__decimal_read(text, least, RF_FENCE_MAX, out);
}

int rf__rs_owner(const rf__reply *reply, size_t i, rf__owner *out)
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
rf_status rf__rs_nonsense(rf__redis_source_t *s)
{
    rf__redis_close(s->redis);
    rf__set_error(s->base.error, "Redis' answer makes no sense");
    return RF_UNKNOWN;
}

/* Outcomes that several scripts share and that are not success. */
rf_status rf__rs_failed(rf__redis_source_t *s, rf__grant *grant,
                        const rf__reply *reply)
{
    rf__error *error = s->base.error;

    if (rf__rs_outcome_is(reply, "LOST")) {
        grant->taken = strcmp(rf__rs_detail(reply), "taken") == 0;
        rf__set_error(error, grant->taken ? "another has the lock now"
                                          : "the lock has run out");
        return RF_LOST;
    }
    if (rf__rs_outcome_is(reply, "NEEDS_FLOOR")) {
        grant->needs_floor = 1;
        rf__set_error(error, "the fence counter is missing");
        return RF_RETRY;
    }
    if (rf__rs_outcome_is(reply, "COUNTER_BAD"))
        rf__set_error(error, "the fence counter is not ours: %.64s",
                      rf__rs_detail(reply));
    else if (rf__rs_outcome_is(reply, "LOCK_BAD"))
        rf__set_error(error, "the lock's key is not a lock: %.64s",
                      rf__rs_detail(reply));
    else if (rf__rs_outcome_is(reply, "EXHAUSTED"))
        rf__set_error(error, "the fences of this resource are used up");
    else if (rf__rs_outcome_is(reply, "ARGUMENT_BAD"))
        rf__set_error(error, "the script refuses its argument %.64s",
                      rf__rs_detail(reply));
    else
        return rf__rs_nonsense(s);
    return RF_MISUSE;
}

void rf__rs_write_floor(char *out, rf_fence floor)
{
    if (floor == RF__FLOOR_ASK)
        memcpy(out, "?", 2);
    else
        rf__decimal_write(out, floor);
}

/* What both scripts that take one lock answer. */
rf_status rf__rs_acquired(rf__redis_source_t *s, rf__grant *grant,
                          const rf__reply *reply)
{
    int64_t left;

    if (rf__rs_outcome_is(reply, "BUSY")) {
        if (!rf__rs_number(reply, RF__OUTCOME + 1, -1, &grant->busy_ms) ||
            !rf__rs_owner(reply, RF__OUTCOME + 2, &grant->busy_by))
            return rf__rs_nonsense(s);
        rf__set_error(s->base.error, "held by another");
        return RF_BUSY;
    }
    if (!rf__rs_outcome_is(reply, "OK") && !rf__rs_outcome_is(reply, "REPLAY"))
        return rf__rs_failed(s, grant, reply);
    if (!rf__rs_number(reply, RF__OUTCOME + 1, grant->shared ? 0 : 1,
                       &grant->fence) ||
        !rf__rs_number(reply, RF__OUTCOME + 2, -1, &left))
        return rf__rs_nonsense(s);
    /* -1: somebody has taken its time limit away.  Ours stays. */
    if (left >= 0)
        grant->ttl_ms = left;
    return RF_OK;
}

static rf_status acquire_shared(rf__source *base, rf__grant *grant,
                                int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    char tag[RF__TAG_LEN], ttl[RF__DECIMAL_MAX], wait[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_acquire_shared,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, ttl, wait, grant->token },
                      .n = 4 };
    const rf__reply *reply;
    rf_status status;

    rf__rs_prepare(s, &call, tag);
    rf__decimal_write(ttl, grant->ttl_ms);
    rf__decimal_write(wait, grant->wait_ms);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    grant->sent_ms = call.sent_ms;
    return status == RF_OK ? rf__rs_acquired(s, grant, reply) : status;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    char tag[RF__TAG_LEN], ttl[RF__DECIMAL_MAX], least[RF__DECIMAL_MAX],
        wait[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_acquire,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, ttl, least, wait, grant->token },
                      .n = 5 };
    rf__grants one = { .grant = grant, .n = 1 };
    const rf__reply *reply;
    rf_status status;

    if (grant->shared)
        return acquire_shared(base, grant, deadline_ms);
    rf__rs_prepare(s, &call, tag);
    rf__decimal_write(ttl, grant->ttl_ms);
    rf__rs_write_floor(least, floor);
    rf__decimal_write(wait, grant->wait_ms);
    rf__rs_ask_replicas(s, &call, deadline_ms);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    grant->sent_ms = call.sent_ms;
    if (status == RF_OK)
        status = rf__rs_acquired(s, grant, reply);
    if (status != RF_OK)
        return status;
    return rf__rs_confirm(s, &call, &one, deadline_ms);
}

static const rf__script *script_for(rf__step step, const rf__grant *grant)
{
    if (step == RF__STEP_RENEW)
        return grant->shared ? &rf__script_renew_shared : &rf__script_renew;
    return grant->shared ? &rf__script_release_shared : &rf__script_release;
}

void rf__rs_request(rf__redis_source_t *s, rf__request *r, rf__step step,
                    const rf__grant *grant)
{
    memset(&r->call, 0, sizeof(r->call));
    r->call.script = script_for(step, grant);
    r->call.resource = grant->resource;
    r->call.echo = grant->holder;
    r->call.args[r->call.n++] = grant->holder;
    if (!grant->shared)
        r->call.args[r->call.n++] = r->fence;
    if (step == RF__STEP_RENEW)
        r->call.args[r->call.n++] = r->ttl;
    rf__rs_prepare(s, &r->call, r->tag);
    rf__decimal_write(r->fence, grant->fence);
    rf__decimal_write(r->ttl, grant->ttl_ms);
}

static rf_status run(rf__source *base, rf__step step, rf__grant *grant,
                     int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    const rf__reply *reply;
    rf__request r;
    rf_status status;

    rf__rs_request(s, &r, step, grant);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    grant->sent_ms = r.call.sent_ms;
    if (status != RF_OK || rf__rs_outcome_is(reply, "OK"))
        return status;
    return rf__rs_failed(s, grant, reply);
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    return run(base, RF__STEP_RENEW, grant, deadline_ms);
}

static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    return run(base, RF__STEP_RELEASE, grant, deadline_ms);
}

rf_status rf__rs_reissued(rf__redis_source_t *s, rf__grant *grant,
                          rf_fence floor, const rf__reply *reply)
{
    int64_t issued;

    if (!rf__rs_outcome_is(reply, "OK") && !rf__rs_outcome_is(reply, "REPLAY"))
        return rf__rs_failed(s, grant, reply);
    if (!rf__rs_number(reply, RF__OUTCOME + 1, 1, &issued) || issued <= floor ||
        issued <= grant->fence)
        return rf__rs_nonsense(s);
    grant->fence = issued;
    return RF_OK;
}

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    char tag[RF__TAG_LEN], fence[RF__DECIMAL_MAX], least[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_reissue,
                      .resource = grant->resource,
                      .echo = grant->holder,
                      .args = { grant->holder, fence, least },
                      .n = 3 };
    rf__grants one = { .grant = grant, .n = 1 };
    const rf__reply *reply;
    rf_status status;

    rf__rs_prepare(s, &call, tag);
    rf__decimal_write(fence, grant->fence);
    rf__decimal_write(least, floor);
    rf__rs_ask_replicas(s, &call, deadline_ms);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status != RF_OK)
        return status;
    status = rf__rs_reissued(s, grant, floor, reply);
    if (status == RF_OK)
        status = rf__rs_confirm(s, &call, &one, deadline_ms);
    return status;
}

/*
 * {"inspect", "", tag, state, fence, holder, left_ms, counter, readers,
 * waited_for}
 */
int rf__rs_info(const rf__reply *reply, rf_info *info)
{
    const char *holder = rf__reply_text(reply, 6);
    const char *counter = rf__reply_text(reply, 8);
    int64_t readers, waited_for;

    if (rf__reply_count(reply) != 11 ||
        !rf__rs_number(reply, 10, 0, &waited_for))
        return 0;
    info->waited_for = waited_for != 0;
    if (strcmp(counter, "bad") == 0)
        info->counter = -1;
    else if (*counter != '\0' && !rf__rs_number(reply, 8, 1, &info->counter))
        return 0;
    if (!rf__rs_number(reply, 7, -1, &info->left_ms))
        return 0;
    if (rf__rs_outcome_is(reply, "free"))
        return 1;
    info->held = 1;
    if (rf__rs_outcome_is(reply, "shared")) {
        if (!rf__rs_number(reply, 9, 0, &readers))
            return 0;
        info->readers = (int)readers;
        return 1;
    }
    if (rf__rs_outcome_is(reply, "foreign"))
        return 1;
    if (!rf__rs_outcome_is(reply, "held") || !rf__holder_valid(holder) ||
        !rf__rs_number(reply, 5, 1, &info->fence))
        return 0;
    memcpy(info->holder, holder, sizeof(info->holder));
    return 1;
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    char tag[RF__TAG_LEN];
    rf__call call = { .script = &rf__script_inspect,
                      .resource = resource,
                      .echo = "" };
    const rf__reply *reply;
    rf_status status;

    rf__rs_prepare(s, &call, tag);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status == RF_OK && !rf__rs_info(reply, info))
        status = rf__rs_nonsense(s);
    /* It changes nothing, so it may always be done again. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static void close_source(rf__source *base)
{
    rf__redis_free(rf__rs(base)->redis);
    free(base);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = rf__rs_wait,
    .acquire_all = rf__rs_acquire_all,
    .force_release = rf__rs_force_release,
    .list = rf__rs_list,
    .renew_all = rf__rs_renew_all,
    .release_all = rf__rs_release_all,
    .clone = clone,
    .close = close_source,
};

/* Takes redis over, also when it fails. */
static rf__source *new_source(rf__redis *redis, const rf_options *opts,
                              rf__error *error)
{
    rf__redis_source_t *s = redis != NULL ? calloc(1, sizeof(*s)) : NULL;
    char holder[RF_HOLDER_LEN + 1];

    if (s == NULL) {
        rf__redis_free(redis);
        return NULL;
    }
    s->base.ops = &ops;
    s->base.error = error;
    s->redis = redis;
    s->timeout_ms = opts->timeout_ms;
    s->min_replicas = opts->min_replicas;
    s->replicas_ms = opts->replicas_ms;
    memcpy(s->prefix, opts->prefix, strlen(opts->prefix) + 1);
    if (rf_holder_new(holder) == RF_OK)
        memcpy(s->client_id, holder, 12);
    memcpy(s->client_id + strlen(s->client_id), "-", 2);
    return &s->base;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__redis_source_t *s = rf__rs(base);
    rf_options opts = { .prefix = s->prefix,
                        .timeout_ms = s->timeout_ms,
                        .min_replicas = s->min_replicas,
                        .replicas_ms = s->replicas_ms };

    return new_source(rf__redis_again(s->redis), &opts, error);
}

rf__source *rf__redis_source(const rf__url *url, const rf_options *opts,
                             rf__error *error)
{
    return new_source(rf__redis_new(url, opts->timeout_ms), opts, error);
}

rf__source *rf__redis_source_at(const rf__url *url, rf__locator *locator,
                                const rf_options *opts, rf__error *error)
{
    rf__redis *redis = NULL;

    if (locator != NULL)
        redis = rf__redis_new(url, opts->timeout_ms);
    if (redis != NULL)
        rf__redis_locate_by(redis, locator);
    else if (locator != NULL)
        locator->free(locator);
    return new_source(redis, opts, error);
}
