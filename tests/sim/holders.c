/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * holders.c - those who work under locks, written as any service would be
 *
 * Acquire and claim, read, compute, write, release; one fenced statement at a
 * time or whole transactions.  What they are told is noted, and compared with
 * what was committed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"
#include "world.h"

#define SECTIONS 2
#define HEALED   400 /* ms: from here on nothing goes wrong any more */

typedef struct worker {
    int id;
    rf_client *client;
    PGconn *conn;
} worker;

/* One section under way. */
typedef struct section {
    worker *w;
    rf_lock *lock;
    int resource;
    char number[8]; /* of the resource, for the statements */
    int64_t ttl_ms;
} section;

static worker workers[HOLDERS + 1];

/* Locks run out all the time, and claims queue up behind long transactions. */
static int crowded;

static void expect(rf_status status, unsigned allowed, const char *what,
                   const worker *w)
{
    if (!(allowed & 1u << status))
        sim_fail("%s returns %s: %s", what, rf_status_name(status),
                 rf_message(w->client));
}
#define ONE_OF(a, b, c, d) (1u << (a) | 1u << (b) | 1u << (c) | 1u << (d))

/* ---- Reading and writing --------------------------------------------------------- */

static void believe(section *s)
{
    check_believes(s->w->id, s->resource, rf_lock_fence(s->lock),
                   rf_lock_holder(s->lock));
}

/* The application's own statement without a guard of its own. */
static rf_status run(section *s, const char *sql, int n, const char **values,
                     int *out)
{
    const rf__pg_step step = { sql, n, NULL, values };
    rf__error error;
    rf__pg_talk talk = { .steps = &step, .n = 1, .error = &error };
    rf_status status;

    talk.until_ms = rf__now_ms() + 300;
    status = rf__pg_converse(s->w->conn, &talk);
    if (status == RF_OK && out != NULL)
        *out = sim_number(PQgetvalue(talk.last, 0, 0));
    PQclear(talk.last);
    return status;
}

/* Fenced as well: unless nothing was claimed, which is the weakness. */
static rf_status read_newest(section *s, int *newest)
{
    const char *values[] = { s->number };
    rf_pg_statement statement = { "sim read", 1, values };
    PGresult *result;
    rf_status status;

    if (weakness == SIM_NO_CLAIM)
        return run(s, statement.sql, 1, values, newest);
    status = rf_pg_exec(s->w->conn, s->lock, &statement, &result);
    if (status == RF_OK)
        *newest = sim_number(PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

/* Now and then it takes longer than the lock lives. */
static void compute(void)
{
    int longer = sim_chance(crowded ? 700 : 150);

    sim_sleep(longer ? sim_between(0, 150) : sim_between(0, 10));
}

static void note(int operation, rf_status status)
{
    sim_trace("operation %d: %s", operation, rf_status_name(status));
    if (status == RF_OK)
        check_told_done(operation);
    else if (status == RF_UNKNOWN)
        check_told_unknown(operation);
    else
        check_told_refused(operation);
}

/* Two fenced statements, a round trip each. */
static rf_status add_by_statements(section *s)
{
    char number[16], base[16];
    const char *values[] = { s->number, number, base };
    rf_pg_statement statement = { "sim write", 3, values };
    int newest = 0, operation;
    rf_status status = read_newest(s, &newest);

    if (status != RF_OK)
        return status;
    compute();
    believe(s);
    operation = check_operation(s->resource);
    snprintf(number, sizeof(number), "%d", operation);
    snprintf(base, sizeof(base), "%d", newest);
    status = rf_pg_exec(s->w->conn, s->lock, &statement, NULL);
    note(operation, status);
    return status;
}

/* Begin, read, compute, write, commit. */
static rf_status add_by_transaction(section *s)
{
    char number[16], base[16];
    const char *values[] = { s->number, number, base };
    int newest = 0, operation;
    rf_status status = rf_pg_begin(s->w->conn, s->lock, RF_PG_READ_COMMITTED);

    if (status != RF_OK)
        return status;
    status = run(s, "sim read", 1, values, &newest);
    compute();
    believe(s);
    operation = check_operation(s->resource);
    snprintf(number, sizeof(number), "%d", operation);
    snprintf(base, sizeof(base), "%d", newest);
    if (status == RF_OK)
        status = run(s, "sim write", 3, values, NULL);
    if (status != RF_OK) {
        check_told_refused(operation);
        (void)rf_pg_rollback(s->w->conn, s->lock);
        return status;
    }
    status = rf_pg_commit(s->w->conn, s->lock);
    note(operation, status);
    return status;
}

/* ---- A section -------------------------------------------------------------------- */

static rf_status acquire(section *s, const rf_acquire_options *opts)
{
    worker *w = s->w;
    char name[8];
    rf_status status;

    snprintf(name, sizeof(name), "r%d", s->resource);
    if (weakness != SIM_NO_CLAIM)
        return rf_pg_acquire(w->client, w->conn, name, opts, &s->lock);
    status = rf_acquire(w->client, name, opts, &s->lock);
    if (status == RF_OK)
        rf__lock_set_claimed(s->lock);
    return status;
}

static void work(section *s)
{
    int rounds = (int)sim_between(1, 3);
    rf_status status = RF_OK;

    while (status == RF_OK && rounds-- > 0) {
        believe(s);
        status = sim_chance(crowded ? 100 : 600) ? add_by_statements(s)
                                                 : add_by_transaction(s);
        if (status == RF_OK && sim_chance(300)) {
            status = rf_renew(s->lock, s->ttl_ms);
            expect(status, ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY),
                   "rf_renew", s->w);
            if (status != RF_LOST)
                status = RF_OK;
        }
    }
}

/* Returns 1 when the section could begin. */
static int work_in_section(worker *w, int resource,
                           const rf_acquire_options *opts)
{
    section s = { .w = w, .resource = resource, .ttl_ms = opts->ttl_ms };
    int64_t newest = check_newest_grant(resource);
    rf_fence fence;
    rf_status status = acquire(&s, opts);

    sums.sections++;
    sim_trace("acquire %d: %s%s%s", resource, rf_status_name(status),
              status == RF_OK ? "" : ", ",
              status == RF_OK ? "" : rf_message(w->client));
    if (status != RF_OK) {
        expect(status,
               ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) |
                   ONE_OF(RF_LOST, RF_STALE, RF_COLLISION, RF_COLLISION),
               "acquire", w);
        return 0;
    }
    snprintf(s.number, sizeof(s.number), "%d", resource);
    fence = rf_lock_fence(s.lock);
    if (fence != 0 && weakness == SIM_SOUND)
        check_granted(resource, fence, newest);
    work(&s);
    check_believes(w->id, resource, 0, "");
    status = rf_release(s.lock);
    expect(status, ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY), "rf_release",
           w);
    return 1;
}

/*
 * The lock alone, under a holder chosen here, so that it is known when the
 * answer was that nothing landed.  Where requests are doubled, nobody can say.
 */
static void work_without_database(worker *w, const rf_acquire_options *wish)
{
    rf_acquire_options opts = *wish;
    char holder[RF_HOLDER_LEN + 1], name[8];
    rf_lock *lock;
    rf_status status = rf_holder_new(holder);

    opts.holder = holder;
    snprintf(name, sizeof(name), "r%d", (int)sim_between(0, 1));
    status = rf_acquire(w->client, name, &opts, &lock);
    sim_trace("lock alone: %s", rf_status_name(status));
    expect(status,
           ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) | 1u << RF_OK,
           "rf_acquire", w);
    /* A grant that came too late is given back, and that answer may be lost. */
    if (status == RF_RETRY && odds.duplicate == 0 &&
        strstr(rf_message(w->client), "too late") == NULL) {
        for (int64_t fence = 1; fence < 60; fence++) {
            if (redis_holds(name, fence, holder))
                sim_fail("I6: %.8s was told that nothing landed", holder);
        }
        check_told_nothing(holder);
    }
    if (status != RF_OK)
        return;
    compute();
    check_believes(w->id, name[1] - '0', rf_lock_fence(lock), holder);
    check_believes(w->id, 0, 0, "");
    expect(rf_release(lock), ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY),
           "rf_release", w);
}

static void mend(worker *w)
{
    if (PQstatus(w->conn) == CONNECTION_OK)
        return;
    PQfinish(w->conn);
    w->conn = postgres_connect();
}

static void hold(void *what)
{
    worker *w = what;
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    for (int i = 0; i < SECTIONS; i++) {
        opts.ttl_ms = sim_between(10, crowded ? 40 : 120);
        opts.wait_ms = sim_chance(600) ? sim_between(1, 200) : 0;
        if (sim_chance(120))
            work_without_database(w, &opts);
        else
            work_in_section(w, sim_chance(200) ? 1 : 0, &opts);
        mend(w);
        sim_sleep(sim_between(0, 60));
    }
    PQfinish(w->conn);
    rf_close(w->client);
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
        int before = check_newest(r), tries = 0;

        while (!work_in_section(w, r, &opts) && ++tries < 3)
            mend(w);
        if (check_newest(r) == before && weakness == SIM_SOUND)
            sim_fail("I11: no section succeeds on resource %d", r);
        mend(w);
    }
    PQfinish(w->conn);
    rf_close(w->client);
}

static void nemesis(void *what, int64_t n)
{
    (void)what;
    if (sim_now() >= HEALED) {
        memset(&odds, 0, sizeof(odds));
        redis_heal();
        return;
    }
    redis_nemesis();
    if (sim_chance(odds.crash)) {
        sums.faults++;
        postgres_crash();
    }
    sim_at(sim_now() + sim_between(5, 25), nemesis, NULL, n);
}

static void open_worker(worker *w, int id, void (*task)(void *))
{
    rf_options opts = RF_OPTIONS_INIT;

    w->id = id;
    w->conn = postgres_connect();
    opts.timeout_ms = (int)(id < HOLDERS && sim_chance(50)
                                ? sim_between(1, 10)
                                : sim_between(30, 200));
    if (rf_open("redis+unix:///simulated", &opts, &w->client) != RF_OK)
        sim_fail("rf_open: %s", rf_message(NULL));
    sim_spawn(task, w);
}

void holders_begin(void)
{
    crowded = sim_chance(200);
    for (int i = 0; i < HOLDERS; i++)
        open_worker(&workers[i], i, hold);
    open_worker(&workers[HOLDERS], HOLDERS, prove_alive);
    sim_at(0, nemesis, NULL, 0);
}
