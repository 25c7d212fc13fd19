/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * kept.c - locks that the keeper keeps alive, and what it tells of them
 */
#include "section.h"

#include "lock.h"

#define KEEPINGS_MAX 64

/* A loss has to be told in this time, ms: a nap, an answer that does not come
 * and a pause or two. */
#define TOLD_MS 6000

struct keeping {
    int told, over;
};

static keeping keepings[KEEPINGS_MAX];
static int count;

void keepings_begin(void)
{
    count = 0;
}

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    keeping *k = arg;

    sim_trace("on_lost: %.8s, reason %d", rf_lock_holder(lock), (int)reason);
    sums[SUM_TOLD_LOST]++;
    sums[SUM_CAPPED] += reason == RF_LOST_CAP;
    if (k->over)
        sim_fail("I15: %.8s is told of a loss after the release",
                 rf_lock_holder(lock));
    if (k->told++)
        sim_fail("I15: %.8s is told twice of one loss", rf_lock_holder(lock));
    if (rf_lock_fence(lock) != 0)
        sim_fail("I15: %.8s is told of a loss and has its fence",
                 rf_lock_holder(lock));
    sim_wake_all(k);
}

void keeping_begins(section *s)
{
    rf_keep_options opts = RF_KEEP_INIT;
    keeping *k = &keepings[count];
    rf_status status;

    /* Who proves that all is well again wants no limit. */
    if (s->w->id == HOLDERS || !sim_chance(300))
        return;
    if (++count == KEEPINGS_MAX)
        sim_fail("%s", "simulator: too many kept locks");
    k->told = k->over = 0;
    opts.on_lost = on_lost;
    opts.arg = k;
    if (sim_chance(300))
        opts.hold_max_ms = sim_between(20, 150);
    if (sim_chance(200))
        opts.ttl_ms = sim_between(20, 150);
    status = rf_keep(s->lock, &opts);
    expect(status, ONE_OF(RF_OK, RF_LOST, RF_LOST, RF_LOST), "rf_keep", s->w);
    if (status != RF_OK)
        return;
    sums[SUM_KEPT]++;
    s->keeping = k;
    if (opts.hold_max_ms > 0)
        check_has(s->w->id, s->resource, s->lock,
                  s->lock->granted_ms + opts.hold_max_ms);
}

/*
 * Past its deadline nothing makes it ours again: that has to be told, if the
 * holder waits for it.
 */
void keeping_ends(section *s)
{
    int64_t until = sim_now() + TOLD_MS;
    keeping *k = s->keeping;

    if (k == NULL)
        return;
    if (sim_clock(sim_here()) >= s->lock->deadline_ms && sim_chance(500)) {
        while (!k->told && sim_now() < until)
            sim_wait_for(k, until);
        if (!k->told)
            sim_fail("I15: %.8s is never told of its loss",
                     rf_lock_holder(s->lock));
    }
    /* From the moment at which the release returns; nothing comes between. */
    s->keeping = NULL;
}
