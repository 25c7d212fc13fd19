/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ballot.c - one step asked of all masters of a quorum, and counted
 */
#include "ballot.h"

#include <string.h>

void rf__ballot_init(rf__ballot *b, rf__quorum *q, const rf__grant *grant)
{
    memset(b, 0, sizeof(*b));
    b->q = q;
    b->enough = q->majority;
    for (size_t i = 0; i < q->n; i++) {
        b->grant[i] = *grant;
        /* No master knows when the others are free: nobody waits on one. */
        b->grant[i].wait_ms = 0;
        b->grant[i].token[0] = '\0';
        b->result[i] = RF__PENDING;
    }
}

void rf__ballot_ask(rf__ballot *b, size_t i, const rf__script *script)
{
    rf__redis_source_t *s = rf__rs(b->q->node[i]);

    rf__request_write(&b->request[i], &s->author, script, &b->grant[i],
                      b->floor);
    b->has_part[i] = 1;
    b->result[i] = RF__PENDING;
    b->asked++;
}

static rf_status read_answer(rf__ballot *b, size_t i, const rf__reply *reply)
{
    rf__redis_source_t *s = rf__rs(b->q->node[i]);
    const rf__script *script = b->request[i].call.script;
    rf__error *error = s->base.error;
    rf_status status;

    b->replayed[i] = rf__answer_is(reply, "REPLAY");
    if (script == &rf__script_acquire)
        status = rf__answer_acquired(&b->grant[i], reply, error);
    else if (script == &rf__script_reissue)
        status = rf__answer_reissued(&b->grant[i], b->floor, reply, error);
    else if (script == &rf__script_inspect)
        status = rf__answer_info(reply, &b->info[i]) ? RF_OK : RF__NONSENSE;
    else
        status = rf__answer_done(&b->grant[i], reply, error);
    return rf__rs_settle(s, status);
}

static void count(rf__ballot *b, size_t i, rf_status result)
{
    b->result[i] = result;
    if (result == RF_OK)
        b->ok++;
    else
        b->failed++;
    if (result == RF_LOST) {
        b->lost++;
        b->taken += b->grant[i].taken != 0;
    }
}

/* ---- Holding them ----------------------------------------------------------- */

typedef struct session {
    rf__ballot *ballots;
    size_t n, settled;
    rf__exchange x[RF__QUORUM_MAX];
    rf__call *calls[RF__QUORUM_MAX][RF__BALLOTS_MAX];
    size_t whose[RF__QUORUM_MAX][RF__BALLOTS_MAX]; /* calls[i][j] */
} session;

static int over(rf__round *round, size_t i)
{
    session *s = round->arg;
    rf__exchange *x = &s->x[i];
    rf__ballot *b = &s->ballots[s->whose[i][x->at]];
    rf_status status = x->status;

    if (status == RF__UNSENT) {
        b->result[i] = RF__UNSENT;
        return 0;
    }
    if (status == RF_OK)
        status = read_answer(b, i, x->reply);
    count(b, i, status);
    if (!b->settled &&
        (b->ok >= b->enough || b->asked - b->failed < b->enough)) {
        b->settled = 1;
        s->settled++;
    }
    return s->settled == s->n;
}

/* What node i is asked. */
static void gather(session *s, size_t i)
{
    rf__redis_source_t *node = rf__rs(s->ballots[0].q->node[i]);
    rf__exchange *x = &s->x[i];

    for (size_t k = 0; k < s->n; k++) {
        rf__ballot *b = &s->ballots[k];

        if (!b->has_part[i])
            continue;
        b->has_part[i] = 0;
        s->calls[i][x->n] = &b->request[i].call;
        s->whose[i][x->n++] = k;
    }
    if (x->n == 0)
        return;
    x->redis = node->redis;
    x->calls = s->calls[i];
    x->error = node->base.error;
    x->status = RF__PENDING;
}

static void hold(rf__ballot *ballots, size_t n, int64_t deadline_ms)
{
    session s = { .ballots = ballots, .n = n };
    rf__round round = { .x = s.x,
                        .n = ballots->q->n,
                        .deadline_ms = deadline_ms,
                        .over = over,
                        .arg = &s };

    for (size_t k = 0; k < n; k++) {
        if (ballots[k].sent_ms == 0)
            ballots[k].sent_ms = rf__now_ms();
    }
    for (size_t i = 0; i < round.n; i++)
        gather(&s, i);
    rf__exchange_all(&round);
}

/* A script was not known there, so nothing was done: by itself, as text. */
static void ask_again(rf__ballot *b, int64_t deadline_ms)
{
    size_t unsent = 0;

    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] != RF__UNSENT)
            continue;
        b->asked--;
        rf__ballot_ask(b, i, b->request[i].call.script);
        unsent++;
    }
    if (unsent > 0)
        hold(b, 1, deadline_ms);
}

void rf__ballots_hold(rf__ballot *b, size_t n, int64_t deadline_ms)
{
    hold(b, n, deadline_ms);
    for (size_t k = 0; k < n; k++)
        ask_again(&b[k], deadline_ms);
}

void rf__ballot_hold(rf__ballot *b, int64_t deadline_ms)
{
    rf__ballots_hold(b, 1, deadline_ms);
}

size_t rf__ballot_count(const rf__ballot *b, rf_status result)
{
    size_t n = 0;

    for (size_t i = 0; i < b->q->n; i++)
        n += b->result[i] == result;
    return n;
}

void rf__ballot_explain(rf__ballot *b, rf_status result)
{
    for (size_t i = 0; i < b->q->n; i++) {
        if (b->result[i] != result)
            continue;
        rf__set_error(b->q->base.error, "%d of %d masters; master %d: %.180s",
                      (int)rf__ballot_count(b, result), (int)b->q->n,
                      (int)i + 1, b->q->error[i].text);
        return;
    }
}

rf_status rf__ballot_judge(rf__ballot *b, rf__grant *grant)
{
    size_t against = b->q->n - b->q->majority + 1;
    rf_status status = RF_RETRY;

    if (b->ok >= b->q->majority)
        return RF_OK;
    if (b->lost >= against) {
        grant->taken = b->taken > 0;
        status = RF_LOST;
    } else if (rf__ballot_count(b, RF_MISUSE) >= against) {
        status = RF_MISUSE;
    } else if (rf__ballot_count(b, RF_UNKNOWN) > 0) {
        status = RF_UNKNOWN;
    } else if (rf__ballot_count(b, RF_RETRY) == 0) {
        rf__set_error(b->q->base.error, "the masters do not agree");
        return RF_RETRY;
    }
    rf__ballot_explain(b, status);
    return status;
}
