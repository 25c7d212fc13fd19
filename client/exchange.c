/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * exchange.c - requests to several servers, all at once
 *
 * One loop over sockets that never block, so that the slowest server costs no
 * more than itself.  Knows scripts, and nothing of what their outcomes mean.
 */
#include "exchange.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/*
 * Once all that matters is known, the others may take this much longer than
 * twice as long.
 */
#define GRACE_MS 20

static rf_status put(rf__exchange *x)
{
    rf_status status = RF_OK;

    if (x->by_text) {
        /* Another tag: an answer to the first must not pass for this. */
        snprintf(x->tag, sizeof(x->tag), "%s+", x->calls[0]->tag);
        x->calls[0]->tag = x->tag;
        return rf__script_put_text(x->redis, x->calls[0], x->error);
    }
    for (size_t i = 0; i < x->n && status == RF_OK; i++)
        status = rf__script_put(x->redis, x->calls[i], x->error);
    return status;
}

static rf_status take(rf__exchange *x, short *events)
{
    rf_status status = rf__redis_step_reply(x->redis, events, &x->reply,
                                            x->error);

    if (status == RF_OK)
        status = rf__script_judge(x->redis, x->calls[x->at], x->reply,
                                  x->error);
    if (status != RF__UNSENT || x->n > 1)
        return status;
    if (x->by_text) {
        rf__redis_close(x->redis);
        rf__set_error(x->error, "Redis' answer does not belong to the request");
        return RF_UNKNOWN;
    }
    x->by_text = 1;
    x->stage = RF__CONNECT;
    return RF_OK;
}

/* As far as it goes.  RF__PENDING with what to wait for, or how it ended. */
static rf_status step(rf__exchange *x, short *events)
{
    rf_status status = RF_OK;

    while (status == RF_OK) {
        if (x->stage == RF__CONNECT) {
            status = rf__redis_step_connect(x->redis, events, x->error);
            if (status == RF_OK)
                status = put(x);
            if (status == RF_OK)
                x->stage = RF__SEND;
        } else if (x->stage == RF__SEND) {
            status = rf__redis_step_send(x->redis, events, x->error);
            if (status == RF_OK)
                x->stage = RF__TAKE;
        } else {
            status = take(x, events);
            if (status == RF_OK && x->stage == RF__TAKE)
                return RF_OK;
        }
    }
    return status;
}

/* What became of the request whose turn it is, and of those behind it. */
static int tell(rf__round *round, size_t i, rf_status status)
{
    rf__exchange *x = &round->x[i];
    int settled;

    x->status = status;
    settled = round->over(round, i);
    x->at++;
    return settled;
}

static int tell_rest(rf__round *round, size_t i, rf_status status)
{
    int settled = 0;

    while (round->x[i].at < round->x[i].n)
        settled |= tell(round, i, status);
    return settled;
}

/* 1 when nothing else has to be waited for. */
static int advance(rf__round *round, size_t i, struct pollfd *p)
{
    rf__exchange *x = &round->x[i];
    int settled = 0;
    short events = 0;

    while (x->at < x->n) {
        rf_status status = step(x, &events);
        int answered = x->stage == RF__TAKE;

        x->status = status;
        if (status == RF__PENDING)
            break;
        settled |= tell(round, i, status);
        if (!answered)
            settled |= tell_rest(round, i, status);
        else if (!rf__redis_connected(x->redis))
            settled |= tell_rest(round, i, RF_UNKNOWN);
        else if (x->at < x->n)
            x->status = RF__PENDING;
    }
    p->fd = x->status == RF__PENDING ? rf__redis_fd(x->redis) : -1;
    p->events = events;
    p->revents = 0;
    return settled;
}

static void give_up(rf__round *round, size_t i)
{
    rf__exchange *x = &round->x[i];
    int unsent = x->stage == RF__CONNECT && !x->by_text;

    rf__redis_close(x->redis);
    rf__set_error(x->error, "no answer from Redis in time");
    tell_rest(round, i, unsent ? RF_RETRY : RF_UNKNOWN);
}

void rf__exchange_all(rf__round *round)
{
    struct pollfd p[RF__NODES_MAX];
    int64_t begun_ms = rf__now_ms(), until_ms = round->deadline_ms;
    int settled = 0, pending = 1;

    for (size_t i = 0; i < round->n; i++)
        p[i] = (struct pollfd){ .fd = -1, .revents = POLLIN };
    while (pending) {
        pending = 0;
        for (size_t i = 0; i < round->n; i++) {
            if (round->x[i].redis == NULL || round->x[i].status != RF__PENDING)
                continue;
            if (p[i].revents != 0 && advance(round, i, &p[i]) && !settled) {
                int64_t now_ms = rf__now_ms();

                settled = 1;
                if (2 * now_ms - begun_ms + GRACE_MS < until_ms)
                    until_ms = 2 * now_ms - begun_ms + GRACE_MS;
            }
            pending += round->x[i].status == RF__PENDING;
        }
        /* A signal ends it early: then nobody is ready. */
        if (pending > 0 &&
            poll(p, (nfds_t)round->n, rf__left_ms(until_ms)) <= 0 &&
            rf__left_ms(until_ms) == 0)
            break;
    }
    for (size_t i = 0; i < round->n; i++) {
        if (round->x[i].redis != NULL && round->x[i].status == RF__PENDING)
            give_up(round, i);
    }
}
