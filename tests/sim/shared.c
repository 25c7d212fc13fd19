/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared.c - locks of those who only read, beside each other
 */
#include "section.h"

static void renew_now_and_then(section *s)
{
    rf_status status;

    if (s->keeping != NULL || !sim_chance(300))
        return;
    status = rf_renew(s->lock, s->ttl_ms);
    expect(status, ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY), "rf_renew",
           s->w);
}

void work_shared(worker *w, const rf_acquire_options *wish)
{
    int resource = (int)sim_between(0, RESOURCES - 1);
    section s = { .w = w,
                  .resource = resource,
                  .name = "r0",
                  .ttl_ms = wish->ttl_ms,
                  .shared = 1 };
    rf_acquire_options opts = *wish;
    char holder[RF_HOLDER_LEN + 1];
    rf_status status = rf_holder_new(holder);

    opts.holder = holder;
    opts.shared = 1;
    s.name[1] = (char)('0' + resource);
    status = rf_acquire(w->client, s.name, &opts, &s.lock);
    sums[SUM_SHORT] += status == RF_REFUSED;
    sim_trace("shared %d: %s, %s", resource, rf_status_name(status),
              status == RF_OK ? "" : rf_message(w->client));
    expect(status,
           ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) | 1u << RF_OK |
               1u << RF_REFUSED,
           "rf_acquire, shared", w);
    if (status == RF_RETRY)
        told_nothing(w, resource, holder);
    if (status != RF_OK)
        return;
    if (rf_lock_fence(s.lock) != 0)
        sim_fail("I10: %.8s only reads, and has a fence", holder);
    sums[SUM_SHARED]++;
    check_has(w->id, resource, s.lock, 0);
    keeping_begins(&s);
    section_believes(&s);
    section_compute();
    renew_now_and_then(&s);
    section_believes(&s);
    section_end(&s);
}
