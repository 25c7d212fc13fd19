/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * many.c - several locks at once, all or none
 */
#include "section.h"

/* What is asked for, in the order of asking. */
typedef struct wanted {
    worker *w;
    int resource[RESOURCES];
    const char *name[RESOURCES];
    check_mark before[RESOURCES];
    rf_lock *locks[RESOURCES];
} wanted;

static void choose_order(wanted *all, const rf_acquire_options *opts)
{
    static const char *const names[RESOURCES] = { "r0", "r1" };
    int first = (int)sim_between(0, RESOURCES - 1);

    for (int i = 0; i < RESOURCES; i++) {
        int r = (first + i) % RESOURCES;

        all->resource[i] = r;
        all->name[i] = names[r];
        all->before[i] = check_before(r, opts);
    }
}

static void hold_all(const wanted *all)
{
    for (int i = 0; i < RESOURCES; i++) {
        if (rf_lock_fence(all->locks[i]) != 0)
            check_granted(&all->before[i], all->locks[i], 0);
        check_has(all->w->id, all->resource[i], all->locks[i], 0);
    }
}

static void believe_all(const wanted *all)
{
    for (int i = 0; i < RESOURCES; i++)
        check_told(all->w->id, all->resource[i],
                   rf_lock_fence(all->locks[i]) != 0);
}

static void give_back_all(wanted *all, const char *holder)
{
    check_forgets(all->w->id);
    expect(rf_release_all(all->locks, RESOURCES),
           ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY), "rf_release_all",
           all->w);
    check_released(holder);
}

void work_on_all(worker *w, const rf_acquire_options *wish)
{
    wanted all = { .w = w };
    rf_acquire_options opts = *wish;
    char holder[RF_HOLDER_LEN + 1];
    rf_status status = rf_holder_new(holder);

    opts.holder = holder;
    may_ask(w, &opts);
    choose_order(&all, &opts);
    status = rf_acquire_all(w->client, all.name, RESOURCES, &opts, all.locks);
    sums[SUM_SHORT] += status == RF_REFUSED;
    sim_trace("all at once: %s, %s", rf_status_name(status),
              status == RF_OK ? "" : rf_message(w->client));
    expect(status,
           ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) | 1u << RF_OK |
               1u << RF_REFUSED,
           "rf_acquire_all", w);
    for (int r = 0; r < RESOURCES && status == RF_RETRY; r++)
        told_nothing(w, r, holder);
    if (status != RF_OK)
        return;
    sums[SUM_ALL]++;
    hold_all(&all);
    believe_all(&all);
    section_compute();
    believe_all(&all);
    give_back_all(&all, holder);
}
