/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * kept.c - a lock that is being kept: when it is renewed, and when it is lost
 *
 * The rules alone: no thread, no loop, no connection.  One attempt that fails is
 * no loss: the lock is tried for until its own deadline.
 */
#include "kept.h"

#include <stdlib.h>

#include "lock.h"

#define RETRY_MS 20 /* after the first failure; doubles */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

rf__kept *rf__kept_new(rf_lock *lock, const rf_keep_options *opts)
{
    rf__kept *kept = calloc(1, sizeof(*kept));

    if (kept == NULL)
        return NULL;
    kept->lock = lock;
    kept->grant.resource = lock->resource;
    kept->grant.holder = lock->holder;
    kept->grant.fence = lock->fence;
    kept->grant.shared = lock->shared;
    kept->grant.sent_ms = lock->granted_ms;
    kept->ttl_ms = opts->ttl_ms != 0 ? opts->ttl_ms : lock->ttl_ms;
    kept->deadline_ms = lock->deadline_ms;
    kept->until_ms = INT64_MAX;
    kept->on_lost = opts->on_lost;
    kept->arg = opts->arg;
    if (opts->hold_max_ms > 0)
        kept->until_ms = lock->granted_ms + opts->hold_max_ms;
    if (kept->deadline_ms > kept->until_ms) {
        kept->deadline_ms = kept->until_ms;
        lock->deadline_ms = kept->until_ms;
    }
    return kept;
}

/* A third of the time is used up: renew; and not later than the cap. */
static void schedule(rf__kept *kept, int64_t from_ms, int64_t ttl_ms)
{
    kept->due.ms = least(from_ms + ttl_ms / 3, kept->until_ms);
}

void rf__kept_schedule(rf__kept *kept)
{
    schedule(kept, kept->grant.sent_ms, kept->ttl_ms);
    /* What it was taken for may be less than what it is kept for. */
    kept->due.ms = least(kept->due.ms,
                         (kept->grant.sent_ms * 2 + kept->deadline_ms) / 3);
}

/* The service may have granted less than was asked for. */
static void renewed(rf__kept *kept, const rf__grant *answer)
{
    int64_t ttl_ms = least(kept->ttl_ms, answer->ttl_ms);
    int64_t deadline_ms = rf__deadline_ms(answer->sent_ms, ttl_ms);

    kept->grant.sent_ms = answer->sent_ms;

    kept->failures = 0;
    kept->deadline_ms = least(deadline_ms, kept->until_ms);
    rf__lock_renewed(kept->lock, kept->deadline_ms);
    schedule(kept, answer->sent_ms, ttl_ms);
}

static void not_renewed(rf__kept *kept, int64_t now_ms)
{
    int64_t pause_ms = RETRY_MS << (kept->failures < 6 ? kept->failures : 6);

    kept->failures++;
    pause_ms = least(pause_ms, 1 + kept->ttl_ms / 10);
    kept->due.ms = least(least(now_ms + pause_ms, kept->deadline_ms),
                         kept->until_ms);
}

rf__kept_next rf__kept_renewed(rf__kept *kept, rf_status result,
                               const rf__grant *answer, rf_lost_reason *reason)
{
    int64_t now_ms = rf__now_ms();

    if (result == RF_OK && now_ms < kept->deadline_ms) {
        renewed(kept, answer);
        return RF__KEPT_ON;
    }
    if (result == RF_LOST) {
        *reason = answer->taken ? RF_LOST_TAKEN : RF_LOST_EXPIRED;
        return RF__KEPT_LOST;
    }
    if (now_ms >= kept->until_ms)
        return RF__KEPT_OVER;
    if (now_ms >= kept->deadline_ms) {
        *reason = RF_LOST_UNREACHABLE;
        return RF__KEPT_LOST;
    }
    not_renewed(kept, now_ms);
    return RF__KEPT_ON;
}

rf__kept_next rf__kept_look(const rf__kept *kept, rf_lost_reason *reason)
{
    int64_t now_ms = rf__now_ms();

    if (now_ms < kept->deadline_ms)
        return RF__KEPT_ON;
    if (now_ms >= kept->until_ms)
        return RF__KEPT_OVER;
    /* Not asked for any more: what is past its deadline stays past it. */
    *reason = kept->failures > 0 ? RF_LOST_UNREACHABLE : RF_LOST_EXPIRED;
    return RF__KEPT_LOST;
}
