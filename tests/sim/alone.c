/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * alone.c - locks without a database: what Redis alone can promise
 */
#include "section.h"

#include <string.h>

#include "servers.h"

/*
 * Under a holder chosen here, so that it is known when the answer was that
 * nothing landed.  Once a request was doubled, nobody can say: an error that comes
 * late is taken for the next one's.  And a grant that came too late is given back,
 * and that answer may be lost.
 */
void told_nothing(const worker *w, int resource, const char *holder)
{
    if (!sim_met(SIM_DUPLICATE) &&
        strstr(rf_message(w->client), "too late") == NULL)
        check_told_nothing(resource, holder);
}

static rf_status ask_floor(void *arg, const char *resource, rf_fence *out)
{
    const worker *w = arg;

    sums[SUM_ASKED]++;
    return rf_pg_floor(w->conn, resource, out);
}

void may_ask(worker *w, rf_acquire_options *opts)
{
    if (idle_ms == 0 && !sim_chance(200))
        return;
    opts->ask_floor = ask_floor;
    opts->ask_floor_arg = w;
}

/* The client is closed before the lock is given back, by mistake or in haste. */
static void leave_in_haste(section *s)
{
    worker *w = s->w;
    rf_client *client = w->client;

    check_forgets(w->id);
    w->client = NULL;
    rf_close(client);
    check_released(rf_lock_holder(s->lock));
    if (rf_release(s->lock) != RF_MISUSE)
        sim_fail("%s", "a lock is given back through a closed client");
}

void work_alone(worker *w, const rf_acquire_options *wish)
{
    int resource = (int)sim_between(0, RESOURCES - 1);
    section s = { .w = w, .resource = resource, .name = "r0" };
    rf_acquire_options opts = *wish;
    char holder[RF_HOLDER_LEN + 1];
    check_mark before;
    rf_status status = rf_holder_new(holder);

    opts.holder = holder;
    may_ask(w, &opts);
    before = check_before(resource, &opts);
    s.name[1] = (char)('0' + resource);
    status = rf_acquire(w->client, s.name, &opts, &s.lock);
    sums[SUM_SHORT] += status == RF_REFUSED;
    sim_trace("lock alone: %s, %s", rf_status_name(status),
              status == RF_OK ? "" : rf_message(w->client));
    expect(status,
           ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) | 1u << RF_OK |
               1u << RF_REFUSED,
           "rf_acquire", w);
    if (status == RF_RETRY)
        told_nothing(w, resource, holder);
    if (status != RF_OK)
        return;
    if (rf_lock_fence(s.lock) != 0)
        check_granted(&before, s.lock, 0);
    check_has(w->id, resource, s.lock, 0);
    keeping_begins(&s);
    section_believes(&s);
    section_compute();
    if (sim_chance(100))
        leave_in_haste(&s);
    else
        section_end(&s);
}
