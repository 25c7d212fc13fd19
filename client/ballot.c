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
        b->result[i] = RF__PENDING;
    }
}

/* The arguments of each script, as it wants them; see the scripts. */
static void set_arguments(const rf__ballot *b, rf__request *r,
                          const rf__grant *grant)
{
    rf__call *call = &r->call;

    rf__decimal_write(r->fence, grant->fence);
    rf__decimal_write(r->ttl, grant->ttl_ms);
    if (call->script == &rf__script_inspect) {
        call->echo = "";
        return;
    }
    call->args[call->n++] = grant->holder;
    if (call->script == &rf__script_withdraw)
        return;
    if (call->script == &rf__script_acquire) {
        rf__rs_write_floor(r->fence, b->floor);
        call->args[call->n++] = r->ttl;
        call->args[call->n++] = r->fence;
        /* No master knows when the others are free: nobody waits on one. */
        call->args[call->n++] = "0";
        call->args[call->n++] = "";
        return;
    }
    call->args[call->n++] = r->fence;
    if (call->script == &rf__script_reissue)
        rf__decimal_write(r->ttl, b->floor);
    if (call->script != &rf__script_raise)
        call->args[call->n++] = r->ttl;
}

void rf__ballot_ask(rf__ballot *b, size_t i, const rf__script *script)
{
    rf__redis_source_t *s = rf__rs(b->q->node[i]);
    rf__request *r = &b->request[i];
    rf__exchange *x = &b->x[i];

    memset(&r->call, 0, sizeof(r->call));
    r->call.script = script;
    r->call.resource = b->grant[i].resource;
    r->call.echo = b->grant[i].holder;
    rf__rs_prepare(s, &r->call, r->tag);
    set_arguments(b, r, &b->grant[i]);
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

    b->replayed[i] = rf__rs_outcome_is(reply, "REPLAY");
    if (script == &rf__script_acquire)
        return rf__rs_acquired(s, &b->grant[i], reply);
    if (script == &rf__script_reissue)
        return rf__rs_reissued(s, &b->grant[i], b->floor, reply);
    if (script == &rf__script_inspect)
        return rf__rs_info(reply, &b->info[i]) ? RF_OK : rf__rs_nonsense(s);
    if (rf__rs_outcome_is(reply, "OK"))
        return RF_OK;
    return rf__rs_failed(s, &b->grant[i], reply);
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
