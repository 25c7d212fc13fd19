/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wait.c - getting a lock that another may hold
 *
 * Sleeps in the lock service where somebody will wake us, else by itself with
 * full jitter.  Knows neither keys nor connections.  All requests of one call
 * carry the same holder, so that asking twice never grants twice.
 */
#include "wait.h"

#include "give_back.h"
#include "patience.h"

typedef struct waiting {
    rf_client *client;
    rf__grants *grants;
    rf__grant *grant; /* the one that is or was in the way, or the first  */
    const rf_acquire_options *opts;
    rf_fence floor;
    int64_t ttl_ms; /* wanted: an answer may leave less in the grants   */
    int64_t end_ms;
    int64_t ceiling_ms; /* of the next pause                              */
    int maybe;          /* a request may have landed that nobody answered */
    int unanswered;     /* there was one, whatever was answered since    */
} waiting;

/* Nothing of the last answer may pass for what comes next. */
static void forget_answer(waiting *w)
{
    for (size_t i = 0; i < w->grants->n; i++) {
        w->grants->grant[i].ttl_ms = w->ttl_ms;
        w->grants->grant[i].needs_floor = 0;
    }
}

static rf_status send_request(waiting *w, int64_t deadline_ms)
{
    rf__source *s = w->client->source;
    int64_t begin_us = rf__now_us();
    rf_status status;

    if (w->grants->n == 1)
        status = s->ops->acquire(s, w->grant, w->floor, deadline_ms);
    else
        status = s->ops->acquire_all(s, w->grants, w->floor, deadline_ms);
    rf__metrics_time(&w->client->metrics, RF_TIME_ACQUIRE,
                     rf__now_us() - begin_us);
    return status;
}

/* Nothing was issued, because a counter is missing.  One speaks for all. */
static int needs_floor(const waiting *w)
{
    return w->grants->grant->needs_floor;
}

/*
 * One request, sent again once when its answer was lost and there is time.
 * Only a clear answer about this lock tells what became of the first.
 */
static rf_status request(waiting *w)
{
    int64_t deadline_ms = rf__now_ms() + w->client->timeout_ms;
    rf_status status = rf__limits_pass(&w->client->limits, &w->client->error);

    forget_answer(w);
    if (status != RF_OK)
        return w->maybe ? RF_UNKNOWN : status;
    status = send_request(w, deadline_ms);
    if (status == RF_UNKNOWN) {
        w->maybe = 1;
        w->unanswered = 1;
        if (rf__left_ms(deadline_ms) > 0 && !w->grant->spent) {
            forget_answer(w);
            status = send_request(w, deadline_ms);
        }
    }
    if (needs_floor(w))
        rf__limits_note(&w->client->limits, RF_OK);
    else
        rf__limits_note(&w->client->limits, status);
    /* What woke us is needed once more when the request is to come again. */
    if (!needs_floor(w))
        w->grant->token[0] = '\0';
    w->grant = &w->grants->grant[w->grants->busy];
    if (status == RF_OK || status == RF_BUSY || needs_floor(w))
        w->maybe = 0;
    return w->maybe ? RF_UNKNOWN : status;
}

static rf_status ask(waiting *w)
{
    rf_status status = request(w);

    if (needs_floor(w)) {
        status = rf__learn_floor(w->grants, w->opts, &w->floor,
                                 &w->client->error);
        if (status == RF_OK)
            status = request(w);
    }
    /* It may be on its way yet, and then something lands all the same. */
    return status == RF_RETRY && w->unanswered ? RF_UNKNOWN : status;
}

static void pause_a_while(waiting *w, int64_t now_ms)
{
    int64_t until_ms = now_ms + rf__pause_ms(&w->ceiling_ms);

    rf__sleep_or_fd(until_ms < w->end_ms ? until_ms : w->end_ms,
                    w->grant->cancel_fd);
}

static void wait_for_turn(waiting *w, rf_status status)
{
    rf__source *s = w->client->source;
    int64_t now_ms = rf__now_ms(), left_ms = w->end_ms - now_ms;

    if (status == RF_BUSY && w->grant->busy_by != RF__OWNER_FOREIGN &&
        s->ops->wait(s, w->grant, rf__sleep_limit_ms(w->grant, left_ms)) ==
            RF_OK) {
        w->ceiling_ms = RF__PAUSE_FIRST_MS;
        return;
    }
    pause_a_while(w, now_ms);
}

static void set_wait(rf__grants *grants, int64_t wait_ms)
{
    for (size_t i = 0; i < grants->n; i++)
        grants->grant[i].wait_ms = wait_ms;
}

/*
 * The wait was ended from outside.  A wake-up that came just then, or may have,
 * is passed on: by taking the lock and giving it back.
 */
static rf_status give_up(waiting *w)
{
    rf_client *client = w->client;

    if (w->grant->token[0] != '\0') {
        w->grant->wait_ms = 0;
        if (ask(w) == RF_OK)
            w->maybe = !rf__give_back(client->source, w->grants->grant,
                                      w->grants->n,
                                      rf__now_ms() + client->timeout_ms);
    }
    rf__set_error(&client->error, "the wait was cancelled");
    return w->maybe ? RF_UNKNOWN : RF_TIMEOUT;
}

rf_status rf__wait_acquire(rf_client *client, rf__grants *grants,
                           const rf_acquire_options *opts)
{
    int asks = opts->floor == 0 && opts->ask_floor != NULL;
    int64_t wait_ms = grants->grant->wait_ms;
    waiting w = { .client = client,
                  .grants = grants,
                  .grant = grants->grant,
                  .opts = opts,
                  .floor = asks ? RF__FLOOR_ASK : opts->floor,
                  .ttl_ms = grants->grant->ttl_ms,
                  .end_ms = rf__now_ms() + wait_ms,
                  .ceiling_ms = RF__PAUSE_FIRST_MS };
    int64_t begin_us = rf__now_us();
    int waited = 0;

    for (;;) {
        rf_status status = ask(&w);

        client->busy_ms = status == RF_BUSY ? w.grant->busy_ms : -1;
        if (status == RF_OK && waited)
            rf__metrics_time(&client->metrics, RF_TIME_WAIT,
                             rf__now_us() - begin_us);
        waited = 1;
        if (!rf__worth_waiting(status) || wait_ms == 0 || w.grant->spent)
            return status;
        if (rf__left_ms(w.end_ms) == 0)
            return status == RF_BUSY ? RF_TIMEOUT : status;
        wait_for_turn(&w, status);
        if (rf__client_cancelled(client))
            return give_up(&w);
        /* 0 would tell the service that nobody waits; one more try follows. */
        set_wait(grants, rf__left_ms(w.end_ms) + 1);
    }
}
