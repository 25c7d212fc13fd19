/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * postgres.c - the server: sessions, transactions, locks, registry, guard
 *
 * The decision is the extension's own (decide.h); the steps around it are those of
 * the guard: look, lock in the right mode, look again, decide, hold until the
 * transaction ends.  So are those of once() and retire().  READ COMMITTED only.
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "decide.h"
#include "internal.h"
#include "world.h"

#define SESSIONS_MAX 192
#define WRITES_MAX   8

/* How often a resource that nobody uses is retired, of a thousand looks. */
#define RETIREMENT 40

typedef enum mode { NONE, SHARE, EXCLUSIVE } mode;

typedef enum progress { DONE, FAILED, WAITS } progress;

/* Without a row: the floor, and nobody. */
typedef struct registered {
    int has_row;
    int64_t fence;
    char holder[40];
} registered;

typedef struct pending {
    int operation, base;
} pending;

/* One transaction at a time, on one resource. */
struct session {
    int alive, client_gone;
    int prepared;        /* the guard's call has a name here         */
    int block, aborted;  /* inside BEGIN; after an error in there    */
    int64_t transaction; /* its number: an old lease must not end it */
    int resource;        /* of the claim, the lock or the wish       */
    mode held, wanted;
    int64_t waiting_since;
    int64_t seen_fence; /* the look before the lock                 */
    char seen_holder[40];
    int claimed, advances;
    int64_t fence;
    char holder[40];
    pending writes[WRITES_MAX];
    int n;
    int receipt;  /* operation, 0: none                      */
    request *now; /* in progress, at step at                  */
    int at, failed;
    void *client;
};

static registered registry[RESOURCES];
static int64_t floor_fence;
static char receipts[RECEIPTS_MAX];
static session sessions[SESSIONS_MAX];
static int session_count;
static int64_t transactions, waits;

static void proceed(session *s);

/* ---- Locks -------------------------------------------------------------------- */

static int conflicts(mode a, mode b)
{
    return a != NONE && b != NONE && (a == EXCLUSIVE || b == EXCLUSIVE);
}

/* As the lock manager does it: nobody overtakes whom it would keep waiting. */
static int may_lock(const session *s)
{
    for (int i = 0; i < session_count; i++) {
        const session *other = &sessions[i];

        if (other == s || other->resource != s->resource)
            continue;
        if (conflicts(other->held, s->wanted))
            return 0;
        if (other->waiting_since > 0 &&
            other->waiting_since < s->waiting_since &&
            conflicts(other->wanted, s->wanted))
            return 0;
    }
    return 1;
}

/* In the order of their coming. */
static void retry_waiting(void *what, int64_t n)
{
    int64_t done = 0;
    session *next;

    (void)what, (void)n;
    do {
        next = NULL;
        for (int i = 0; i < session_count; i++) {
            session *s = &sessions[i];

            if (s->waiting_since > done &&
                (next == NULL || s->waiting_since < next->waiting_since))
                next = s;
        }
        if (next != NULL) {
            done = next->waiting_since;
            if (may_lock(next))
                proceed(next);
        }
    } while (next != NULL);
}

static void unlock(session *s)
{
    if (s->held == NONE && s->wanted == NONE)
        return;
    s->held = s->wanted = NONE;
    s->waiting_since = 0;
    sim_at(sim_now(), retry_waiting, NULL, 0);
}

/* ---- Transactions -------------------------------------------------------------- */

static void forget_transaction(session *s)
{
    s->claimed = s->advances = s->n = s->receipt = 0;
    s->transaction = 0;
    unlock(s);
}

static void begin(session *s)
{
    if (s->transaction == 0)
        s->transaction = ++transactions;
}

static void commit(session *s)
{
    registered *row = &registry[s->resource];

    if (s->advances) {
        row->has_row = 1;
        row->fence = s->fence;
        memcpy(row->holder, s->holder, sizeof(row->holder));
        check_claim(s->resource, s->fence, s->holder);
        sim_trace("PostgreSQL: %d is claimed with fence %lld by %.8s",
                  s->resource, (long long)s->fence, s->holder);
    }
    for (int i = 0; i < s->n; i++)
        check_commit(s->resource, s->writes[i].operation, s->writes[i].base,
                     s->fence, s->holder);
    if (s->receipt != 0)
        receipts[s->receipt] = 1;
    forget_transaction(s);
    s->block = s->aborted = 0;
}

static void rollback(session *s)
{
    forget_transaction(s);
    s->block = s->aborted = 0;
}

/* ---- The session's end ------------------------------------------------------------ */

static void end_session(session *s, const char *sqlstate)
{
    if (!s->alive)
        return;
    rollback(s);
    s->alive = 0;
    if (s->now != NULL) {
        client_gets_fatal(s->client, s->now, s->at, sqlstate);
        s->now = NULL;
    } else {
        client_is_cut(s->client);
    }
}

static void lease_ends(void *what, int64_t transaction)
{
    session *s = what;

    if (s->alive && s->transaction == transaction) {
        sim_trace("%s", "PostgreSQL: a lease ends, the session with it");
        end_session(s, "25P04");
    }
}

void server_client_gone(session *s)
{
    s->client_gone = 1;
    if (s->alive && s->now == NULL) {
        rollback(s);
        s->alive = 0;
    }
}

static void crash(void)
{
    sim_trace("%s", "PostgreSQL: crash and recovery");
    for (int i = 0; i < session_count; i++) {
        if (sessions[i].alive) {
            rollback(&sessions[i]);
            sessions[i].alive = 0;
            drop_request(sessions[i].now);
            sessions[i].now = NULL;
            if (sessions[i].client != NULL)
                client_is_cut(sessions[i].client);
        }
    }
}

/* ---- The guard ----------------------------------------------------------------- */

static progress fail(session *s, const char *sqlstate)
{
    answer_error(s->now, s->at, sqlstate);
    forget_transaction(s);
    s->aborted = s->block;
    return FAILED;
}

static RfDecision decide(int64_t stored_fence, const char *stored_holder,
                         int64_t fence, const char *holder)
{
    switch (weakness) {
    case SIM_REFUSE_LOWER:
        return fence >= stored_fence ? RF_ADVANCE : RF_REFUSE_STALE;
    case SIM_NO_HOLDER: return rf_decide(stored_fence, "x", fence, "x");
    case SIM_NO_GUARD: return RF_ADVANCE;
    default: return rf_decide(stored_fence, stored_holder, fence, holder);
    }
}

static int64_t stored_fence(int resource)
{
    const registered *row = &registry[resource];

    return row->has_row ? row->fence : floor_fence;
}

static void look(session *s)
{
    const registered *row = &registry[s->resource];

    s->seen_fence = stored_fence(s->resource);
    memcpy(s->seen_holder, row->holder, sizeof(s->seen_holder));
}

static progress decided(session *s, int64_t fence, const char *holder)
{
    if (weakness != SIM_OLD_LOOK)
        look(s);
    switch (decide(s->seen_fence, s->seen_holder, fence, holder)) {
    case RF_REFUSE_STALE: return fail(s, "RF001");
    case RF_REFUSE_COLLISION: return fail(s, "RF002");
    case RF_ADVANCE: s->advances = 1; break;
    case RF_PASS: break;
    }
    s->claimed = 1;
    s->fence = fence;
    sim_copy(s->holder, sizeof(s->holder), holder);
    if (weakness == SIM_LATE_HOLD)
        unlock(s);
    answer_row(s->now, s->at, "t", "SELECT 1");
    answer_process(s->now, s->at, server_process(s));
    return DONE;
}

/* values: resource, fence, holder, lease in ms */
static progress guard(session *s, const step *t)
{
    int64_t fence = sim_number(t->values[1]);
    RfDecision d;

    if (s->waiting_since == 0) {
        begin(s);
        s->resource = (int)sim_number(t->values[0] + 1);
        sim_at(sim_now() + sim_number(t->values[3]), lease_ends, s,
               s->transaction);
        look(s);
        d = decide(s->seen_fence, s->seen_holder, fence, t->values[2]);
        if (d == RF_REFUSE_STALE || d == RF_REFUSE_COLLISION)
            return fail(s, d == RF_REFUSE_STALE ? "RF001" : "RF002");
        s->wanted = d == RF_PASS ? SHARE : EXCLUSIVE;
        s->waiting_since = ++waits;
        if (!may_lock(s))
            return WAITS;
    }
    s->waiting_since = 0;
    s->held = s->wanted;
    return decided(s, fence, t->values[2]);
}

/* ---- Statements ------------------------------------------------------------------ */

static progress read_row(session *s, const step *t)
{
    char text[24];
    int newest = check_newest(sim_number(t->values[0]));

    if (s->n > 0)
        newest = s->writes[s->n - 1].operation;
    rf__decimal_write(text, newest);
    answer_row(s->now, s->at, text, "SELECT 1");
    return DONE;
}

/* values: resource, operation, base */
static progress write_row(session *s, const step *t)
{
    if (!s->claimed || s->resource != sim_number(t->values[0]))
        return fail(s, "RF003");
    if (s->n == WRITES_MAX)
        sim_fail("%s", "simulator: too many writes in a transaction");
    s->writes[s->n].operation = sim_number(t->values[1]);
    s->writes[s->n].base = sim_number(t->values[2]);
    s->n++;
    answer_row(s->now, s->at, NULL, "UPDATE 1");
    return DONE;
}

/* values: resource, operation, which is "op" and its number */
static progress once(session *s, const step *t)
{
    int operation = (int)sim_number(t->values[1] + 2);
    int done = receipts[operation] && weakness != SIM_NO_ONCE;

    if (!s->claimed || s->resource != sim_number(t->values[0] + 1))
        return fail(s, "RF006");
    /*
     * Whoever has a receipt under way has claimed, so a claim that may ask here
     * has waited for it.
     */
    for (int i = 0; i < session_count; i++) {
        if (&sessions[i] != s && sessions[i].receipt == operation && !done &&
            weakness == SIM_SOUND)
            sim_fail("I6: operation %d is under way twice", operation);
    }
    if (!done)
        s->receipt = operation;
    answer_row(s->now, s->at, done ? "f" : "t", "SELECT 1");
    return DONE;
}

static progress end_block(session *s, int commits)
{
    int good = commits && !s->aborted;

    if (good)
        commit(s);
    else
        rollback(s);
    answer_row(s->now, s->at, NULL, good ? "COMMIT" : "ROLLBACK");
    return DONE;
}

static progress high_water(session *s, const step *t)
{
    int64_t fence = stored_fence(sim_number(t->values[0] + 1));
    char text[RF__DECIMAL_MAX];

    rf__decimal_write(text, fence > floor_fence ? fence : floor_fence);
    answer_row(s->now, s->at, text, "SELECT 1");
    return DONE;
}

static int is(const char *sql, const char *beginning)
{
    return strncmp(sql, beginning, strlen(beginning)) == 0;
}

static progress prepare(session *s)
{
    if (s->prepared)
        return fail(s, "42P05");
    s->prepared = 1;
    answer_row(s->now, s->at, NULL, "PREPARE");
    return DONE;
}

static progress execute(session *s, const step *t)
{
    if (is(t->sql, "ROLLBACK") || is(t->sql, "COMMIT"))
        return end_block(s, t->sql[0] == 'C');
    if (s->aborted)
        return fail(s, "25P02");
    begin(s);
    if (t->kind == STEP_PREPARE)
        return prepare(s);
    if (t->kind == STEP_NAMED)
        return s->prepared ? guard(s, t) : fail(s, "26000");
    if (is(t->sql, "BEGIN")) {
        s->block = 1;
        answer_row(s->now, s->at, NULL, "BEGIN");
        return DONE;
    }
    if (is(t->sql, "SELECT ringfence.guard("))
        return guard(s, t);
    if (is(t->sql, "SELECT ringfence.once("))
        return once(s, t);
    if (is(t->sql, "SELECT ringfence.high_water("))
        return high_water(s, t);
    if (is(t->sql, "SELECT ringfence.fence(")) {
        if (!s->claimed || s->resource != sim_number(t->values[0] + 1))
            return fail(s, "RF006");
        answer_row(s->now, s->at, "1", "SELECT 1");
        return DONE;
    }
    if (is(t->sql, "sim read"))
        return read_row(s, t);
    if (is(t->sql, "sim write"))
        return write_row(s, t);
    sim_fail("simulator: statement not known: %s", t->sql);
}

static void go_on(void *what, int64_t transaction)
{
    session *s = what;

    if (s->alive && s->now != NULL && s->transaction == transaction)
        proceed(s);
}

/* All steps up to the Sync, or until one has to wait. */
static void proceed(session *s)
{
    request *r = s->now;

    while (s->at < r->n) {
        progress p = s->failed ? DONE : execute(s, &r->steps[s->at]);

        if (p == WAITS)
            return;
        if (s->failed)
            answer_skipped(r, s->at);
        if (p == FAILED)
            s->failed = 1;
        s->at++;
        /* A slow disk, a busy processor: locks are held meanwhile. */
        if (s->transaction != 0 && sim_strikes(SIM_SLOW)) {
            sim_at(sim_now() + sim_between(1, 60), go_on, s, s->transaction);
            return;
        }
    }
    if (!s->block && s->transaction != 0) {
        if (s->failed)
            rollback(s);
        else
            commit(s);
    }
    s->now = NULL;
    client_gets(s->client, r, s->aborted ? 2 : s->block);
    if (s->client_gone)
        server_client_gone(s);
}

void server_receives(session *s, request *r)
{
    if (!s->alive || s->now != NULL) {
        drop_request(r);
        return;
    }
    /* The caller's own DISCARD ALL, or a name that it has taken. */
    if (sim_strikes(SIM_DISCARD))
        s->prepared = !s->prepared;
    s->now = r;
    s->at = s->failed = 0;
    proceed(s);
}

session *server_session(void *client)
{
    session *s = &sessions[session_count++];

    if (session_count == SESSIONS_MAX)
        sim_fail("%s", "simulator: too many sessions");
    memset(s, 0, sizeof(*s));
    s->alive = 1;
    s->client = client;
    return s;
}

int server_process(const session *s)
{
    return 1 + (int)(s - sessions);
}

/* ---- Retirement -------------------------------------------------------------------- */

/* In a session of its own, under the resource's lock from here to its commit. */
static void retired(void *what, int64_t resource)
{
    session *s = what;
    registered *row = &registry[resource];

    if (!s->alive)
        return;
    if (row->fence > floor_fence && weakness != SIM_NO_FLOOR)
        floor_fence = row->fence;
    row->has_row = 0;
    row->holder[0] = '\0';
    sums[SUM_RETIRED]++;
    sim_trace("PostgreSQL: %d is retired, the floor is %lld", (int)resource,
              (long long)floor_fence);
    rollback(s);
    s->alive = 0;
}

static void retire(int resource)
{
    session *s;

    if (!registry[resource].has_row)
        return;
    s = server_session(NULL);
    s->resource = resource;
    s->wanted = EXCLUSIVE;
    s->waiting_since = waits + 1;
    if (may_lock(s)) {
        s->held = EXCLUSIVE;
        sim_at(sim_now() + sim_between(0, 20), retired, s, resource);
    } else {
        s->alive = 0;
        s->wanted = NONE;
    }
    s->waiting_since = 0;
}

void postgres_nemesis(void)
{
    if (sim_strikes(SIM_CRASH))
        crash();
    if (sim_chance(RETIREMENT))
        retire((int)sim_between(0, RESOURCES - 1));
}

void postgres_begin(void)
{
    memset(registry, 0, sizeof(registry));
    memset(receipts, 0, sizeof(receipts));
    floor_fence = 0;
    session_count = 0;
    transactions = waits = 0;
    libpq_begin();
}
