/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_many.c - several locks at once
 *
 * Taken in one script, because half of them is none; renewed and given back in
 * as few round trips as their requests fit into.
 */
#include "redis_steps.h"

#include <stdlib.h>
#include <string.h>

/* ---- All or none --------------------------------------------------------- */

/* {..., "BUSY", left_ms, who, which} */
static rf_status busy(rf__grants *grants, const rf__reply *reply,
                      rf__error *error)
{
    rf__grant *grant;
    int64_t which;

    if (!rf__answer_number(reply, RF__OUTCOME + 3, 1, &which) ||
        (size_t)which > grants->n)
        return RF__NONSENSE;
    grants->busy = (size_t)which - 1;
    grant = &grants->grant[grants->busy];
    if (!rf__answer_number(reply, RF__OUTCOME + 1, -1, &grant->busy_ms) ||
        !rf__answer_owner(reply, RF__OUTCOME + 2, &grant->busy_by))
        return RF__NONSENSE;
    rf__set_error(error, "held by another: %.200s", grant->resource);
    return RF_BUSY;
}

/* {..., "OK", fence, left_ms, fence, left_ms, ...} */
static rf_status granted(rf__grants *grants, const rf__reply *reply,
                         int *given_back)
{
    if (rf__reply_count(reply) != RF__OUTCOME + 1 + 2 * grants->n)
        return RF__NONSENSE;
    for (size_t i = 0; i < grants->n; i++) {
        rf__grant *grant = &grants->grant[i];
        rf_fence before = grant->fence;
        int64_t left;

        if (!rf__answer_number(reply, RF__OUTCOME + 1 + 2 * i, 1,
                               &grant->fence) ||
            !rf__answer_number(reply, RF__OUTCOME + 2 + 2 * i, -1, &left))
            return RF__NONSENSE;
        *given_back |= grant->fence == before;
        if (left >= 0 && left < grant->ttl_ms)
            grant->ttl_ms = left;
    }
    return RF_OK;
}

/* The texts of a request for all of them; the first grant speaks for all. */
typedef struct texts {
    char tag[RF__TAG_LEN], ttl[RF__DECIMAL_MAX], floor[RF__DECIMAL_MAX],
        wait[RF__DECIMAL_MAX], which[RF__DECIMAL_MAX];
    const char *more[RF_ALL_MAX];
} texts;

static void prepare_all(rf__redis_source_t *s, rf__call *call, texts *t,
                        rf__grants *grants)
{
    rf__grant *first = grants->grant, *woken = first + grants->busy;

    memset(call, 0, sizeof(*call));
    call->script = &rf__script_acquire_all;
    call->resource = first->resource;
    for (size_t i = 1; i < grants->n; i++)
        t->more[i - 1] = first[i].resource;
    call->more = t->more;
    call->n_more = grants->n - 1;
    call->echo = first->holder;
    call->args[0] = first->holder;
    call->args[1] = t->ttl;
    call->args[2] = t->floor;
    call->args[3] = t->wait;
    call->args[4] = woken->token;
    call->args[5] = t->which;
    call->n = 6;
    rf__author_sign(&s->author, call, t->tag);
    call->idle = rf__author_idle(&s->author, first);
    rf__decimal_write(t->ttl, first->ttl_ms);
    rf__decimal_write(t->wait, first->wait_ms);
    rf__decimal_write(t->which, (int64_t)grants->busy + 1);
}

rf_status rf__rs_acquire_all(rf__source *base, rf__grants *grants,
                             rf_fence floor, int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    const rf__reply *reply;
    rf__call call;
    texts t;
    rf_status status;
    int given_back = 0;

    prepare_all(s, &call, &t, grants);
    rf__floor_write(t.floor, floor);
    rf__rs_ask_replicas(s, &call, deadline_ms);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    for (size_t i = 0; i < grants->n; i++)
        grants->grant[i].sent_ms = call.sent_ms;
    if (status != RF_OK)
        return status;
    if (rf__answer_is(reply, "BUSY"))
        return rf__rs_settle(s, busy(grants, reply, base->error));
    status = rf__answer_done(grants->grant, reply, base->error);
    if (status == RF_OK)
        status = granted(grants, reply, &given_back);
    status = rf__rs_settle(s, status);
    if (status != RF_OK)
        return status;
    if (given_back)
        return rf__rs_give_back_again(s, grants, deadline_ms);
    return rf__rs_confirm(s, &call, grants, deadline_ms);
}

/* ---- Many requests on their way at once ------------------------------------- */

typedef struct batch {
    rf__redis_source_t *source;
    rf__step step;
    const rf__grants *all;
    rf_status *results;
    int64_t deadline_ms;
    int by_text; /* the first of each script, so that the others find it */
    size_t n;
    size_t at[RF_ALL_MAX]; /* among all */
    rf__request requests[RF_ALL_MAX];
} batch;

static rf_status put(batch *b, size_t i, int told[2])
{
    rf__redis_source_t *s = b->source;
    rf__grant *grant = &b->all->grant[b->at[i]];
    rf__call *call = &b->requests[i].call;
    int shared = grant->shared != 0;

    rf__request_write(&b->requests[i], &s->author,
                      rf__step_script(b->step, grant), grant, 0);
    if (!b->by_text || told[shared])
        return rf__script_put(s->redis, call, s->base.error);
    told[shared] = 1;
    return rf__script_put_text(s->redis, call, s->base.error);
}

/* Put and send them; RF_OK when all answers may be waited for. */
static rf_status send_batch(batch *b)
{
    rf__redis_source_t *s = b->source;
    rf_status status = rf__redis_connect(s->redis, b->deadline_ms,
                                         s->base.error);
    int64_t sent_ms = rf__now_ms();
    int told[2] = { 0 };

    for (size_t i = 0; i < b->n && status == RF_OK; i++) {
        status = put(b, i, told);
        b->all->grant[b->at[i]].sent_ms = sent_ms;
    }
    if (status == RF_OK)
        status = rf__redis_send(s->redis, b->deadline_ms, s->base.error);
    return status;
}

static void run_batch(batch *b)
{
    rf__redis_source_t *s = b->source;
    rf_status status = send_batch(b);
    const rf__reply *reply;

    for (size_t i = 0; i < b->n; i++) {
        rf_status *result = &b->results[b->at[i]];

        *result = status;
        if (status != RF_OK)
            continue;
        *result = rf__script_take(s->redis, &b->requests[i].call,
                                  b->deadline_ms, &reply, s->base.error);
        if (*result == RF_OK)
            *result = rf__rs_settle(s, rf__answer_done(&b->all->grant[b->at[i]],
                                                       reply, s->base.error));
        /* Closed: what was still to come is gone. */
        if (!rf__redis_connected(s->redis))
            status = RF_UNKNOWN;
    }
}

/* Those of RF_ALL_MAX from first on whose result this is. */
static void choose(batch *b, size_t first, rf_status result)
{
    size_t end = b->all->n - first < RF_ALL_MAX ? b->all->n
                                                : first + RF_ALL_MAX;

    b->by_text = result == RF__UNSENT;
    b->n = 0;
    for (size_t i = first; i < end; i++) {
        if (b->results[i] == result)
            b->at[b->n++] = i;
    }
}

static void run_alone(batch *b, size_t i)
{
    rf__source *base = &b->source->base;
    rf__grant *grant = &b->all->grant[i];

    if (b->step == RF__STEP_RENEW)
        b->results[i] = base->ops->renew(base, grant, b->deadline_ms);
    else
        b->results[i] = base->ops->release(base, grant, b->deadline_ms);
}

/*
 * Nothing went out.  The first goes alone, which waits for a server that has
 * moved; once it is there, the others follow.
 */
static void run_rest(batch *b, size_t first)
{
    choose(b, first, RF_RETRY);
    if (b->n == 0 || rf__left_ms(b->deadline_ms) == 0)
        return;
    run_alone(b, b->at[0]);
    if (b->results[b->at[0]] == RF_RETRY)
        return;
    choose(b, first, RF_RETRY);
    if (b->n > 0)
        run_batch(b);
}

/*
 * What was not done because Redis did not know the script goes once more, still
 * together.  The requests need no zeros: each is written when its turn comes.
 */
static void run_all(rf__source *base, rf__step step, const rf__grants *all,
                    rf_status *results, int64_t deadline_ms)
{
    batch b;

    b.source = rf__rs(base);
    b.step = step;
    b.all = all;
    b.results = results;
    b.deadline_ms = deadline_ms;
    for (size_t i = 0; i < all->n; i++)
        results[i] = RF__PENDING;
    for (size_t first = 0; first < all->n; first += RF_ALL_MAX) {
        choose(&b, first, RF__PENDING);
        run_batch(&b);
        choose(&b, first, RF__UNSENT);
        if (b.n > 0)
            run_batch(&b);
        /* A keeper has others to look after: it comes back by itself. */
        if (step == RF__STEP_RELEASE)
            run_rest(&b, first);
    }
    /* Not even the text was known: it was forgotten in between. */
    for (size_t i = 0; i < all->n; i++) {
        if (results[i] == RF__UNSENT)
            run_alone(&b, i);
    }
}

void rf__rs_renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms)
{
    const rf__grants all = { .grant = grants, .n = n };

    run_all(base, RF__STEP_RENEW, &all, results, deadline_ms);
}

void rf__rs_release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms)
{
    const rf__grants all = { .grant = grants, .n = n };

    run_all(base, RF__STEP_RELEASE, &all, results, deadline_ms);
}
