/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async.c - a client that never blocks: its time, its links, its callbacks
 *
 * Callbacks wait for the tick, so that they come from one place alone: whatever
 * a caller does in one, nothing is going on around it.  Knows nothing of locks.
 */
#include "async.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define NAP_MS 1000 /* a suspended machine is noticed after this at most */

rf__async *rf__async_of(rf_client *client)
{
    rf__async *async;

    if (client == NULL)
        return NULL;
    if (client->source == NULL) {
        rf__misuse(client, "the client is closed");
        return NULL;
    }
    if (!client->looped) {
        rf__misuse(client, "the client was not opened by rf_async_open");
        return NULL;
    }
    async = (rf__async *)client->source;
    if (async->pid == rf__process_id())
        return async;
    rf__misuse(client, "the client belongs to the process that opened it");
    return NULL;
}

/* ---- Time ------------------------------------------------------------------ */

static int64_t next_ms(const rf__async *async)
{
    const rf__due *first = rf__due_first(&async->alarms);
    int64_t now_ms = rf__now_ms();

    if (async->told_first != NULL)
        return now_ms;
    if (first == NULL)
        return INT64_MAX;
    return first->ms < now_ms + NAP_MS ? first->ms : now_ms + NAP_MS;
}

/* The loop may call too early, never too late. */
static void arm(rf__async *async)
{
    int64_t due_ms = next_ms(async);

    if (async->ticking || async->closing || due_ms >= async->armed_ms)
        return;
    async->armed_ms = due_ms;
    if (async->loop.timer != NULL)
        async->loop.timer(rf__left_ms(due_ms), async->loop.arg);
}

void rf__async_set(rf__async *async, rf__alarm *alarm, int64_t at_ms)
{
    rf__due_take(&async->alarms, &alarm->due);
    alarm->due.ms = at_ms;
    rf__due_put(&async->alarms, &alarm->due);
    arm(async);
}

void rf__async_unset(rf__async *async, rf__alarm *alarm)
{
    rf__due_take(&async->alarms, &alarm->due);
}

static void ring_due(rf__async *async)
{
    int64_t now_ms = rf__now_ms();
    rf__due *first;

    while ((first = rf__due_first(&async->alarms)) != NULL &&
           first->ms <= now_ms) {
        rf__alarm *alarm = (rf__alarm *)first;

        rf__due_take(&async->alarms, first);
        alarm->ring(alarm);
    }
}

/* ---- Jobs ------------------------------------------------------------------- */

/* Of a job: its ask's, its own, and its line's. */
#define ALARMS_EACH 3

rf_status rf__async_begin(rf__async *async, rf__job *job)
{
    if (!rf__due_reserve(&async->alarms, async->n_alarms + ALARMS_EACH)) {
        rf__set_error(&async->client->error, "out of memory");
        return RF_NOMEM;
    }
    async->n_alarms += ALARMS_EACH;
    job->async = async;
    job->busy_ms = -1;
    job->begin_us = rf__now_us();
    job->next = async->jobs;
    if (job->next != NULL)
        job->next->before = job;
    async->jobs = job;
    return RF_OK;
}

static void forget(rf__job *job)
{
    if (job->next != NULL)
        job->next->before = job->before;
    if (job->before != NULL)
        job->before->next = job->next;
    else
        job->async->jobs = job->next;
    job->next = NULL;
    job->before = NULL;
    job->async->n_alarms -= ALARMS_EACH;
}

void rf__async_over(rf__job *job, rf_status status)
{
    rf__async *async = job->async;

    job->status = status;
    if (status != RF_OK)
        memcpy(job->message, async->client->error.text, sizeof(job->message));
    forget(job);
    if (async->told_last != NULL)
        async->told_last->next_told = job;
    else
        async->told_first = job;
    async->told_last = job;
    arm(async);
}

void rf__async_free(rf__job *job)
{
    forget(job);
    free(job);
}

/* What comes to an end while it tells is told the next time. */
static void tell(rf__async *async)
{
    rf__job *job = async->told_first;
    rf_client *client = async->client;

    async->told_first = NULL;
    async->told_last = NULL;
    while (job != NULL) {
        rf__job *next = job->next_told;

        client->busy_ms = job->busy_ms;
        memcpy(client->error.text, job->message, sizeof(job->message));
        client->error.sqlstate[0] = '\0';
        job->tell(job);
        job = next;
    }
}

/* ---- Links ------------------------------------------------------------------- */

static void link_ended(rf__link *link, void *arg)
{
    rf__async *async = arg;

    if (async->link == link)
        async->link = NULL;
    if (async->leaving == link)
        async->leaving = NULL;
}

rf__link *rf__async_link(rf__async *async, rf_status *status)
{
    rf__link_owner owner = { link_ended, async, &async->client->error };

    *status = RF_OK;
    if (async->link == NULL)
        async->link = rf__link_new(async->loop.connect(async->loop.arg), &owner,
                                   status);
    return async->link;
}

/* One at a time is waited for: who follows will hear the same. */
void rf__async_leave(rf__async *async, rf__link *link)
{
    if (link == NULL || link != async->link)
        return;
    if (async->leaving != NULL)
        rf__link_break(async->leaving, "it is not asked any more");
    async->link = NULL;
    async->leaving = link;
    rf__link_leave(link);
}

/* ---- Tick and close ----------------------------------------------------------- */

static void finish(rf__async *async)
{
    static const char why[] = "the client was closed";

    if (async->link != NULL)
        rf__link_break(async->link, why);
    if (async->leaving != NULL)
        rf__link_break(async->leaving, why);
    while (async->jobs != NULL)
        async->jobs->abandon(async->jobs);
    while (async->told_first != NULL)
        tell(async);
    for (int i = 0; i < RF__SPARE_LINKS; i++) {
        if (async->spare[i] != NULL)
            rf__link_break(async->spare[i], why);
    }
    rf__words_free(&async->words);
    free(async->alarms.heap);
    free(async);
}

int64_t rf_async_next_ms(const rf_client *client)
{
    const rf__async *async;
    int64_t due_ms;

    if (client == NULL || client->source == NULL || !client->looped)
        return -1;
    async = (const rf__async *)client->source;
    due_ms = next_ms(async);
    return due_ms == INT64_MAX ? -1 : rf__left_ms(due_ms);
}

void rf_async_tick(rf_client *client)
{
    rf__async *async = rf__async_of(client);

    if (async == NULL || async->ticking)
        return;
    rf__client_keep(client);
    async->ticking = 1;
    async->armed_ms = INT64_MAX;
    ring_due(async);
    tell(async);
    async->ticking = 0;
    if (async->closing)
        finish(async);
    else
        arm(async);
    rf__client_drop(client);
}

/* In a callback the tick around it does the rest. */
static void close_async(rf__source *base)
{
    rf__async *async = (rf__async *)base;

    /* What a forked child has of it is its parent's, the loop included. */
    if (async->pid != rf__process_id())
        return;
    async->closing = 1;
    if (!async->ticking)
        finish(async);
}

/* ---- Open --------------------------------------------------------------------- */

static rf_status check(const rf_loop *loop, const rf_options *opts)
{
    const char *what = NULL;

    if (loop == NULL || loop->connect == NULL)
        what = "the loop has no way to connect";
    else if (opts->min_replicas != 0)
        what = "option min_replicas: waiting for replicas would hold up all "
               "others on the connection";
    if (what == NULL)
        return RF_OK;
    rf__set_error(rf__open_error(), "%s", what);
    return RF_MISUSE;
}

rf_status rf_async_open(const rf_loop *loop, const rf_options *opts,
                        rf_client **out)
{
    static const rf_options defaults = RF_OPTIONS_INIT;
    rf_client *client;
    rf__async *async;
    rf_status status;

    *out = NULL;
    if (opts == NULL)
        opts = &defaults;
    status = check(loop, opts);
    if (status == RF_OK)
        status = rf__client_new(opts, &client);
    if (status != RF_OK)
        return status;
    async = calloc(1, sizeof(*async));
    if (async == NULL) {
        rf__client_free(client);
        rf__set_error(rf__open_error(), "out of memory");
        return RF_NOMEM;
    }
    async->ops = rf__refusing_ops;
    async->ops.close = close_async;
    async->base.ops = &async->ops;
    async->base.error = &client->error;
    async->client = client;
    async->loop = *loop;
    async->pid = rf__process_id();
    async->armed_ms = INT64_MAX;
    rf__author_init(&async->author, opts);
    client->source = &async->base;
    client->looped = 1;
    *out = client;
    return RF_OK;
}
