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

#include <stdlib.h>

rf__redis_source_t *rf__rs(rf__source *s)
{
    return (rf__redis_source_t *)s;
}

rf_status rf__rs_settle(rf__redis_source_t *s, rf_status status)
{
    if (status != RF__NONSENSE)
        return status;
    rf__redis_close(s->redis);
    rf__set_error(s->base.error, "Redis' answer makes no sense");
    return RF_UNKNOWN;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    rf__grants one = { .grant = grant, .n = 1 };
    rf_fence given_back = grant->fence;
    const rf__reply *reply;
    rf__request r;
    rf_status status;

    rf__request_write(&r, &s->author, rf__step_script(RF__STEP_ACQUIRE, grant),
                      grant, floor);
    rf__rs_ask_replicas(s, &r.call, deadline_ms);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    grant->sent_ms = r.call.sent_ms;
    if (status == RF_OK)
        status = rf__rs_settle(s,
                               rf__answer_acquired(grant, reply, base->error));
    if (status != RF_OK)
        return status;
    if (given_back != 0 && grant->fence == given_back)
        return rf__rs_give_back_again(s, &one, deadline_ms);
    return rf__rs_confirm(s, &r.call, &one, deadline_ms);
}

static rf_status run(rf__source *base, rf__step step, rf__grant *grant,
                     int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    const rf__reply *reply;
    rf__request r;
    rf_status status;

    rf__request_write(&r, &s->author, rf__step_script(step, grant), grant, 0);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    grant->sent_ms = r.call.sent_ms;
    if (status != RF_OK)
        return status;
    return rf__rs_settle(s, rf__answer_done(grant, reply, base->error));
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

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    rf__grants one = { .grant = grant, .n = 1 };
    const rf__reply *reply;
    rf__request r;
    rf_status status;

    rf__request_write(&r, &s->author, &rf__script_reissue, grant, floor);
    rf__rs_ask_replicas(s, &r.call, deadline_ms);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    if (status != RF_OK)
        return status;
    status = rf__rs_settle(
        s, rf__answer_reissued(grant, floor, reply, base->error));
    if (status == RF_OK)
        status = rf__rs_confirm(s, &r.call, &one, deadline_ms);
    return status;
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    rf__grant what = { .resource = resource, .holder = "" };
    const rf__reply *reply;
    rf__request r;
    rf_status status;

    rf__request_write(&r, &s->author, &rf__script_inspect, &what, 0);
    status = rf__script_run(s->redis, &r.call, deadline_ms, &reply,
                            base->error);
    if (status == RF_OK && !rf__answer_info(reply, info))
        status = rf__rs_settle(s, RF__NONSENSE);
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
    .examine = rf__rs_examine,
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
    rf__author_init(&s->author, opts);
    return &s->base;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__redis_source_t *s = rf__rs(base);
    rf_options opts = { .prefix = s->author.prefix,
                        .timeout_ms = s->timeout_ms,
                        .min_replicas = s->min_replicas,
                        .replicas_ms = s->replicas_ms,
                        .counter_idle_ms = s->author.idle_ms };

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
