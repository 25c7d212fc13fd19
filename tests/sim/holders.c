/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * holders.c - who works in a world, and when what goes wrong
 */
#include <string.h>

#include "postgres.h"
#include "section.h"
#include "servers.h"

#define HEALED 400 /* ms: from here on nothing goes wrong any more */

static worker workers[HOLDERS + 1];
int crowded;
int64_t idle_ms;

static void go_home(worker *w)
{
    rf_client *client = w->client;

    PQfinish(w->conn);
    w->client = NULL;
    rf_close(client);
}

static void work(worker *w, const rf_acquire_options *opts)
{
    int resource = sim_chance(200);
    section s;

    if (servers_are_one() && sim_chance(100)) {
        work_on_all(w, opts);
        return;
    }
    if (!servers_are_quorum() && sim_chance(120)) {
        work_shared(w, opts);
        return;
    }
    /* What replicas are good for shows where no database orders the fences. */
    if (sim_chance(servers_min_replicas() > 0 ? 400 : 120)) {
        work_alone(w, opts);
    } else if (sim_chance(150) && weakness != SIM_NO_CLAIM) {
        work_once(w, resource, opts);
    } else if (section_begin(&s, w, resource, opts)) {
        section_work(&s);
        section_end(&s);
    }
}

static void hold(void *what)
{
    worker *w = what;
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    /* Each step of a quorum is three or five of another's. */
    int sections = servers_are_quorum() ? 1 : 2;

    for (int i = 0; i < sections && w->client != NULL; i++) {
        opts.ttl_ms = sim_between(10, crowded ? 40 : 120);
        opts.wait_ms = sim_chance(600) ? sim_between(1, 200) : 0;
        work(w, &opts);
        mend(w);
        sim_sleep(sim_between(0, 60));
    }
    go_home(w);
}

/* ---- When all is well again ---------------------------------------------------------- */

/* I11: whatever has happened, a new section succeeds on every resource. */
static void prove_alive(void *what)
{
    worker *w = what;
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    sim_sleep(HEALED + 200);
    opts.ttl_ms = 2000;
    opts.wait_ms = 5000;
    for (int r = 0; r < RESOURCES; r++) {
        int before = check_newest(r);
        section s;

        for (int tries = 0; tries < 4 && check_newest(r) == before; tries++) {
            if (section_begin(&s, w, r, &opts)) {
                section_write_once(&s);
                section_end(&s);
            }
            mend(w);
        }
        if (check_newest(r) == before && weakness == SIM_SOUND)
            sim_fail("I11: no section succeeds on resource %d", r);
    }
    go_home(w);
}

/* ---- What goes wrong -------------------------------------------------------------------- */

static void cancel_somebody(void)
{
    worker *w = &workers[sim_between(0, HOLDERS - 1)];

    if (w->client != NULL && sim_strikes(SIM_CANCEL))
        rf_cancel(w->client);
}

static void nemesis(void *what, int64_t n)
{
    (void)what;
    if (sim_now() >= HEALED) {
        memset(odds, 0, sizeof(odds));
        servers_heal();
        return;
    }
    servers_nemesis();
    postgres_nemesis();
    cancel_somebody();
    sim_at(sim_now() + sim_between(5, 25), nemesis, NULL, n);
}

/* ---- Opening hours ----------------------------------------------------------------------- */

static void open_worker(worker *w, int id, void (*task)(void *))
{
    rf_options opts = RF_OPTIONS_INIT;

    w->id = id;
    w->host = sim_new_host();
    w->conn = postgres_connect();
    opts.timeout_ms = (int)(id < HOLDERS && sim_chance(50)
                                ? sim_between(1, 10)
                                : sim_between(30, 200));
    opts.min_replicas = servers_min_replicas();
    opts.replicas_ms = (int)sim_between(1, 40);
    /* Not all programs have been changed yet. */
    if (idle_ms > 0 && sim_chance(850))
        opts.counter_idle_ms = idle_ms;
    if (rf_open(servers_url(), &opts, &w->client) != RF_OK)
        sim_fail("rf_open: %s", rf_message(NULL));
    weaken(w->client);
    sim_spawn(task, w, w->host);
}

void holders_begin(void)
{
    crowded = sim_chance(200);
    idle_ms = sim_chance(300) ? sim_between(1, 100) : 0;
    keepings_begin();
    for (int i = 0; i < HOLDERS; i++)
        open_worker(&workers[i], i, hold);
    open_worker(&workers[HOLDERS], HOLDERS, prove_alive);
    sim_at(0, nemesis, NULL, 0);
}
