/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_ask.c - one script, asked until there is an answer or no time
 *
 * What script.c does in one call, in the steps that a loop allows: by digest,
 * by text when Redis does not know it, and once more when an answer was lost.
 */
#include "async.h"

#include <stdio.h>
#include <string.h>

static void answered(rf__sent *sent, rf_status status, const rf__reply *reply);
static void too_late(rf__alarm *alarm);

static rf__ask *of_alarm(rf__alarm *alarm)
{
    return (rf__ask *)((char *)alarm - offsetof(rf__ask, alarm));
}

void rf__ask_init(rf__ask *ask, rf__async *async, const rf__grant *grant,
                  void (*then)(rf__ask *ask, rf_status status))
{
    memset(ask, 0, sizeof(*ask));
    ask->sent.answered = answered;
    ask->alarm.ring = too_late;
    ask->async = async;
    ask->grant = *grant;
    ask->answered = then;
}

/* On its way, or why not. */
static rf_status transmit(rf__ask *ask)
{
    rf__async *async = ask->async;
    rf_status status;
    rf__link *link;

    if (async->closing || (ask->withdrawn != NULL && *ask->withdrawn)) {
        rf__set_error(&async->client->error,
                      async->closing ? "the client is closed"
                                     : "the lock was released meanwhile");
        return RF_RETRY;
    }
    link = rf__async_link(async, &status);
    if (link == NULL)
        return status;
    async->words.len = 0;
    if (!rf__script_write(&async->words, &ask->request.call, ask->by_text)) {
        rf__set_error(&async->client->error, "out of memory");
        return RF_NOMEM;
    }
    /* Before, not after: the lock runs from when Redis gets the request. */
    ask->grant.sent_ms = rf__now_ms();
    return rf__link_send(link, &async->words, &ask->sent);
}

static void over(rf__ask *ask, rf_status status)
{
    rf__async_unset(ask->async, &ask->alarm);
    ask->answered(ask, status);
}

static rf_status write_and_transmit(rf__ask *ask)
{
    rf__request_write(&ask->request, &ask->async->author, ask->script,
                      &ask->grant, ask->floor);
    ask->by_text = 0;
    return transmit(ask);
}

void rf__ask_send(rf__ask *ask, rf__step step, rf_fence floor,
                  int64_t deadline_ms)
{
    rf_status status;

    ask->script = rf__step_script(step, &ask->grant);
    ask->floor = floor;
    ask->deadline_ms = deadline_ms;
    ask->repeated = 0;
    status = write_and_transmit(ask);
    if (status == RF_OK)
        rf__async_set(ask->async, &ask->alarm, deadline_ms);
    else
        over(ask, status);
}

static void too_late(rf__alarm *alarm)
{
    rf__ask *ask = of_alarm(alarm);

    rf__link_break(ask->sent.link, "it did not come in time");
}

/* Another tag: an answer to the first request must not pass for this one. */
static rf_status transmit_text(rf__ask *ask)
{
    snprintf(ask->tag, sizeof(ask->tag), "%s+", ask->request.tag);
    ask->request.call.tag = ask->tag;
    ask->by_text = 1;
    return transmit(ask);
}

/* What the reply says; RF__UNSENT: by text then.  *leave as in script.h. */
static rf_status judge(rf__ask *ask, const rf__reply *reply, int *leave)
{
    rf__error *error = &ask->async->client->error;
    rf_status status = rf__script_verdict(&ask->request.call, reply, leave,
                                          error);

    if (status == RF__UNSENT && ask->by_text) {
        /* To the whole text nobody answers so: it is the answer to a double. */
        rf__set_error(error, "Redis' answer does not belong to the request");
        *leave = 1;
        return RF_UNKNOWN;
    }
    if (status != RF_OK)
        return status;
    if (ask->script == &rf__script_acquire ||
        ask->script == &rf__script_acquire_shared)
        status = rf__answer_acquired(&ask->grant, reply, error);
    else
        status = rf__answer_done(&ask->grant, reply, error);
    if (status != RF__NONSENSE)
        return status;
    *leave = 1;
    rf__set_error(error, "Redis' answer makes no sense");
    return RF_UNKNOWN;
}

/* Nothing more comes on it that can be trusted, or will be any better. */
static void turn_away(rf__ask *ask, rf__link *link, rf_status status)
{
    rf__async *async = ask->async;
    rf__error told = async->client->error;

    if (status == RF_UNKNOWN)
        rf__link_break(link, "an answer did not belong to its request");
    else
        rf__async_leave(async, link);
    async->client->error = told;
}

static int may_repeat(const rf__ask *ask, rf_status status)
{
    return status == RF_UNKNOWN && !ask->repeated &&
           rf__left_ms(ask->deadline_ms) > 0;
}

static void answered(rf__sent *sent, rf_status status, const rf__reply *reply)
{
    rf__ask *ask = (rf__ask *)sent;
    rf__link *link = sent->link;
    int leave = 0;

    sent->link = NULL;
    if (status == RF_OK)
        status = judge(ask, reply, &leave);
    if (status == RF__UNSENT) {
        status = transmit_text(ask);
        if (status == RF_OK)
            return;
    }
    if (leave)
        turn_away(ask, link, status);
    if (may_repeat(ask, status)) {
        ask->repeated = 1;
        if (write_and_transmit(ask) == RF_OK)
            return;
    }
    over(ask, status);
}
