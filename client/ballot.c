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
    rf__request *r = &b->request[i];
    rf__exchange *x = &b->x[i];

    rf__request_write(r, &s->author, script, &b->grant[i], b->floor);
    x->redis = s->redis;
    x->call = &r->call;
    x->error = s->base.error;
    x->status = RF__PENDING;
    b->result[i] = RF__PENDING;
    b->asked++;
}

static rf_status read_answer(rf__ballot *b, size_t i)
{
    rf__redis_source_t *s = rf__rs(b->q->node[i]);
    const rf__reply *reply = b->x[i].reply;
    const rf__script *script = b->x[i].call->script;
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

static int over(rf__round *round, size_t i)
{
    rf__ballot *b = round->arg;

    b->result[i] = b->x[i].status;
    if (b->result[i] == RF_OK)
        b->result[i] = read_answer(b, i);
    if (b->result[i] == RF_OK)
        b->ok++;
    else
        b->failed++;
    if (b->result[i] == RF_LOST) {
        b->lost++;
        b->taken += b->grant[i].taken != 0;
    }
    return b->ok >= b->enough || b->asked - b->failed < b->enough;
}

void rf__ballot_hold(rf__ballot *b, int64_t deadline_ms)
{
    rf__round round = { .x = b->x,
                        .n = b->q->n,
                        .deadline_ms = deadline_ms,
                        .over = over,
                        .arg = b };

    b->sent_ms = rf__now_ms();
    rf__exchange_all(&round);
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
