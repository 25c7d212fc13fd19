/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_replicas.c - a grant that only counts when replicas have it
 *
 * WAIT goes out behind the script on the same connection and counts the replicas
 * that received all that was written before the script ended, by whomever: so a
 * replay is counted as well.  A shortfall does not undo the write, so it is given
 * back.
 */
#include "give_back.h"
#include "redis_steps.h"

void rf__rs_ask_replicas(rf__redis_source_t *s, rf__call *call,
                         int64_t deadline_ms)
{
    int half = rf__left_ms(deadline_ms) / 2;

    call->replicas = s->min_replicas;
    /* The other half is for giving it back. */
    call->replicas_ms = s->replicas_ms < half ? s->replicas_ms : half;
    call->confirmed = -1;
}

static int give_back(rf__redis_source_t *s, rf__grants *grants,
                     int64_t deadline_ms)
{
    return rf__give_back(&s->base, grants->grant, grants->n, deadline_ms);
}

/*
 * Without a fence, a request to give a shared lock back that comes late or twice
 * would end what the same holder is granted after it.
 */
static int give_back_for_good(rf__redis_source_t *s, rf__grants *grants,
                              int64_t deadline_ms)
{
    grants->grant->spent = grants->grant->shared;
    return give_back(s, grants, deadline_ms);
}

/*
 * Handed out again is what was given back before: that request is on its way yet,
 * and would take it away from under its holder.
 */
rf_status rf__rs_give_back_again(rf__redis_source_t *s, rf__grants *grants,
                                 int64_t deadline_ms)
{
    if (!give_back(s, grants, deadline_ms))
        return RF_UNKNOWN;
    rf__set_error(s->base.error, "it was given back before, and is now");
    return RF_RETRY;
}

rf_status rf__rs_confirm(rf__redis_source_t *s, const rf__call *call,
                         rf__grants *grants, int64_t deadline_ms)
{
    if (s->min_replicas == 0 || call->confirmed >= s->min_replicas)
        return RF_OK;
    if (!give_back_for_good(s, grants, deadline_ms))
        return RF_UNKNOWN;
    rf__set_error(s->base.error,
                  "%lld replicas have it and %d were demanded: given back",
                  call->confirmed > 0 ? call->confirmed : 0, s->min_replicas);
    return RF_REFUSED;
}
