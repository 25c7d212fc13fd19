/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * servers.c - which servers a world has, and what befalls them
 */
#include "servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "scripts.h"
#include "section.h"
#include "slots.h"

#define MASTERS_MAX    5
#define REPLICAS_MAX   2
#define SENTINEL_FIRST MASTERS_MAX
#define SENTINELS      3

/* A replica is this much behind at the most, unless it lags. */
#define BEHIND_MS 60

typedef enum topology {
    SINGLE,
    REPLICATED,
    SENTINEL,
    CLUSTER,
    QUORUM
} topology;

typedef struct server {
    keyspace data;
    keyspace replica[REPLICAS_MAX]; /* what its replicas, or its disk, have */
    int64_t copied;                 /* when                                 */
    int replicas;
    int is_replica; /* itself: it takes no writes           */
    int64_t back;   /* until then it is away                */
    int dead;       /* so long: refuses; else is silent     */
} server;

static server servers[SERVERS_MAX];
static topology kind;
static int count;  /* of masters                    */
static int master; /* SENTINEL: who it is           */
static int split;  /* the old one has not heard yet */
static int min_replicas;
static int over_tcp;
static int honest, ordered, moved;
static int alone[RESOURCES]; /* renewed without its counter */
static int64_t forgotten;    /* counters, before this world */

/* ---- A world's servers ----------------------------------------------------------- */

static void choose(void)
{
    int at = (int)sim_between(0, 99);

    count = 1;
    min_replicas = 0;
    over_tcp = sim_chance(300);
    servers[0].replicas = 1;
    if (at < 58) {
        kind = SINGLE;
    } else if (at < 72) {
        kind = REPLICATED;
        servers[0].replicas = (int)sim_between(1, REPLICAS_MAX);
        min_replicas = (int)sim_between(1, servers[0].replicas);
    } else if (at < 84) {
        kind = SENTINEL;
        count = 2;
        servers[1].is_replica = 1;
        min_replicas = sim_chance(400);
    } else if (at < 90) {
        kind = CLUSTER;
        count = 2;
        servers[1].replicas = 1;
        slots_begin(&servers[0].data, &servers[1].data);
    } else {
        kind = QUORUM;
        count = sim_chance(250) ? 5 : 3;
        for (int i = 1; i < count; i++)
            servers[i].replicas = 1; /* its disk */
    }
}

void servers_begin(void)
{
    for (int i = 0; i < SERVERS_MAX; i++) {
        server *s = &servers[i];

        s->data.count = s->replica[0].count = s->replica[1].count = 0;
        s->data.step = 0;
        s->data.scripts = 0;
        s->data.server = i;
        s->copied = s->back = 0;
        s->replicas = s->is_replica = s->dead = 0;
    }
    master = split = moved = 0;
    memset(alone, 0, sizeof(alone));
    honest = ordered = 1;
    forgotten = sums[SUM_FORGOTTEN];
    scripts_begin();
    choose();
}

const char *servers_url(void)
{
    switch (kind) {
    case SENTINEL: return "redis+sentinel://10.0.0.6,10.0.0.7,10.0.0.8/main";
    case CLUSTER: return "redis+cluster://10.0.0.1,10.0.0.2";
    case QUORUM:
        return count == 3
                   ? "redlock://10.0.0.1,10.0.0.2,10.0.0.3"
                   : "redlock://10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5";
    default: return over_tcp ? "redis://10.0.0.1" : "redis+unix:///simulated";
    }
}

int servers_min_replicas(void)
{
    return min_replicas;
}

int servers_are_quorum(void)
{
    return kind == QUORUM;
}

int servers_are_one(void)
{
    return kind != QUORUM && kind != CLUSTER;
}

int servers_honest(void)
{
    return honest;
}

int servers_ordered(void)
{
    return ordered && sums[SUM_FORGOTTEN] == forgotten;
}

int servers_moved(void)
{
    return moved;
}

/* ---- Who holds what ---------------------------------------------------------------- */

static const char *const lock_names[RESOURCES] = { "{lock:v1:r0}",
                                                   "{lock:v1:r1}" };

/* Fence 0: whichever. */
static int has(server *s, int resource, rf_fence fence, const char *holder)
{
    const char *name = lock_names[resource], *owner;
    entry *e = keyspace_find(&s->data, name, strlen(name));

    if (e == NULL || e->kind != STRING ||
        (owner = strchr(e->value, ':')) == NULL ||
        strcmp(owner + 1, holder) != 0)
        return 0;
    return fence == 0 || sim_number(e->value) == fence;
}

int servers_hold(int resource, rf_fence fence, const char *holder)
{
    int held = 0;

    if (kind == CLUSTER)
        master = slots_server(resource);
    if (kind != QUORUM)
        return has(&servers[master], resource, fence, holder);
    /* A master that was not raised has another number. */
    for (int i = 0; i < count; i++)
        held += has(&servers[i], resource, 0, holder);
    return held > count / 2;
}

static int shares(server *s, int resource, const char *holder)
{
    static const char *const readers[RESOURCES] = { "{lock:v1:r0}:readers",
                                                    "{lock:v1:r1}:readers" };
    const char *name = lock_names[resource];
    const entry *lock = keyspace_find(&s->data, name, strlen(name));
    const member *m;

    if (lock == NULL || strcmp(lock->value, "read") != 0)
        return 0;
    name = readers[resource];
    m = keyspace_member(keyspace_find(&s->data, name, strlen(name)), holder);
    return m != NULL && m->score > keyspace_wall(&s->data);
}

int servers_share(int resource, const char *holder)
{
    if (kind == CLUSTER)
        master = slots_server(resource);
    return kind != QUORUM && shares(&servers[master], resource, holder);
}

/* While its slot moves, a lock is renewed without its counter. */
static void note_alone(const script_call *script)
{
    if (strcmp(script->name, "renew") != 0 || script->n_keys != 1)
        return;
    for (int r = 0; r < RESOURCES; r++)
        alone[r] |= strcmp(script->keys[0], lock_names[r]) == 0;
}

/*
 * A counter is there for as long as a lock with a number is, at the least; but
 * for one that was renewed alone, until the next renewal has both.
 */
static void check_counters(server *s)
{
    static const char *const counters[RESOURCES] = { "{lock:v1:r0}:fence",
                                                     "{lock:v1:r1}:fence" };

    for (int r = 0; r < RESOURCES; r++) {
        const char *name = lock_names[r];
        const entry *lock = keyspace_find(&s->data, name, strlen(name));
        const entry *counter = keyspace_find(&s->data, counters[r],
                                             strlen(counters[r]));

        if (lock == NULL || counter == NULL)
            continue;
        if (counter->expires < 0 || lock->value[0] < '1' ||
            lock->value[0] > '9' || counter->expires >= lock->expires)
            alone[r] = 0;
        else if (!alone[r])
            sim_fail("I18: the counter of %s goes before the lock does", name);
    }
}

/* ---- Commands ------------------------------------------------------------------------ */

int server_is_dead(int n)
{
    return servers[n].dead && sim_now() < servers[n].back;
}

int64_t server_back(int n)
{
    return servers[n].back;
}

int server_pop(int n, const char *key, char out[24])
{
    return keyspace_pop(&servers[n].data, key, out);
}

/* Bring its replicas up to date, but for those that lag.  Returns how many. */
static int replicate(server *s)
{
    int n = 0;

    for (int i = 0; i < s->replicas; i++) {
        if (sim_strikes(SIM_LAG))
            continue;
        keyspace_copy(&s->replica[i], &s->data);
        n++;
    }
    return n;
}

/* WAIT replicas ms */
static void wait_for_replicas(server_call *call)
{
    server *s = &servers[call->server];
    int n = replicate(s);

    if (weakness == SIM_NO_WAIT)
        n = s->replicas;
    if (n < sim_number(call->argv[1]))
        call->delay_ms = sim_number(call->argv[2]);
    reply_number(call->out, n);
}

static void tell_role(const server *s, reply *out)
{
    reply_array(out, 3);
    reply_word(out, s->is_replica ? "slave" : "master");
    reply_number(out, 0);
    reply_array(out, 0);
}

static void tell_master(reply *out)
{
    int whom = sim_strikes(SIM_MISLEAD) ? 1 - master : master;

    reply_array(out, 2);
    reply_word(out, whom == 0 ? "10.0.0.1" : "10.0.0.2");
    reply_word(out, "6379");
}

static int refused(reply *out)
{
    static const char *const errors[] = {
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "READONLY You can't write against a read only replica.",
        "MISCONF Redis is configured to save RDB snapshots",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "CLUSTERDOWN The cluster is down",
    };

    if (!sim_strikes(SIM_ERROR))
        return 0;
    reply_error(out, errors[sim_between(0, 5)]);
    return 1;
}

static int count_held(server *s, const char *holder)
{
    int n = 0;

    for (int r = 0; r < RESOURCES; r++)
        n += has(s, r, 0, holder);
    return n;
}

/* Those who want all locks name four keys of each. */
static void run_script(server *s, script_call *script)
{
    int n_keys = (int)sim_number(script->argv[2]), before;
    const char *holder = script->argv[3 + n_keys];

    if (n_keys != 4 * RESOURCES) {
        scripts_eval(script);
        return;
    }
    before = count_held(s, holder);
    scripts_eval(script);
    check_all_or_none(before, count_held(s, holder), holder);
}

static void evaluate(server_call *call)
{
    server *s = &servers[call->server];
    script_call script = { .ks = &s->data,
                           .argc = call->argc,
                           .argv = call->argv,
                           .len = call->len,
                           .out = call->out };

    if (s->is_replica) {
        reply_error(call->out,
                    "READONLY You can't write against a read only replica.");
        return;
    }
    if (kind == CLUSTER && slots_refuse(call->server, call->argv[3], call->out))
        return;
    run_script(s, &script);
    if (script.name == NULL)
        return;
    if (idle_ms > 0) {
        note_alone(&script);
        check_counters(s);
    }
    if (strncmp(script.name, "renew", 5) == 0)
        check_renewal(script.args[0], call->sent);
    sums[SUM_RAISED] += strcmp(script.name, "raise") == 0;
    sums[SUM_HEALED] += strcmp(script.name, "reissue") == 0;
    if (tracing)
        sim_trace("Redis %d: %s %s %.8s -> %.*s", call->server, script.name,
                  script.keys[0], script.args[0], (int)call->out->len,
                  call->out->bytes);
}

void server_execute(server_call *call)
{
    const char *name = call->argv[0];

    /* By far the most are scripts. */
    if (memcmp(name, "EVAL", 4) == 0) {
        if (!refused(call->out))
            evaluate(call);
    } else if (strcmp(name, "SENTINEL") == 0)
        tell_master(call->out);
    else if (strcmp(name, "ROLE") == 0)
        tell_role(&servers[call->server], call->out);
    else if (strcmp(name, "WAIT") == 0)
        wait_for_replicas(call);
    else if (strcmp(name, "CLUSTER") == 0)
        slots_tell(call->out);
    else if (strcmp(name, "ASKING") == 0)
        slots_ask(call->out);
    else
        sim_fail("simulator: command %s is not known", name);
}

/* ---- What the world does to them ------------------------------------------------------- */

static server *some_server(void)
{
    int several = kind == QUORUM || kind == CLUSTER;

    return &servers[several ? (int)sim_between(0, count - 1) : master];
}

static int number_of(const server *s)
{
    return s->data.server;
}

static void breaks_its_word(const server *s, const char *how)
{
    sim_trace("Redis %d: %s", number_of(s), how);
    honest = 0;
    if (sim_chance(700))
        network_cut(number_of(s));
}

static void forget(server *s, const char *how)
{
    keyspace_flush(&s->data);
    ordered = 0;
    breaks_its_word(s, how);
}

static void leave(int n, int dead)
{
    servers[n].dead = dead;
    servers[n].back = sim_now() + sim_between(10, 150);
    sim_trace("Redis %d: %s until %lld", n, dead ? "dead" : "silent",
              (long long)servers[n].back);
    if (dead)
        network_cut(n);
}

static void restart_empty(server *s)
{
    forget(s, "restarts without its data");
    s->data.scripts = 0;
    leave(number_of(s), 1);
}

static void demote(void *what, int64_t n)
{
    server *old = what, *new = &servers[master];

    (void)n;
    sim_trace("Redis %d: is a replica from now on", number_of(old));
    old->is_replica = 1;
    split = 0;
    new->replicas = 1;
    keyspace_copy(&new->replica[0], &new->data);
    network_cut(number_of(old));
}

/* Nobody's replica follows until the old master has heard of it. */
static void elect(void)
{
    server *old = &servers[master], *new = &servers[1 - master];

    keyspace_copy(&new->data, &old->replica[0]);
    new->data.scripts = 0;
    new->is_replica = 0;
    old->replicas = 0;
    master = 1 - master;
    moved = split = 1;
    sim_at(sim_now() + sim_between(0, 80), demote, old, 0);
}

/* A replica takes the master's place and address, and the others follow it. */
static void promote(server *s)
{
    int which = (int)sim_between(0, s->replicas - 1);

    keyspace_copy(&s->data, &s->replica[which]);
    for (int i = 0; i < s->replicas; i++)
        keyspace_copy(&s->replica[i], &s->data);
    s->data.scripts = 0;
}

/* What all replicas had to have is there, whichever it is. */
static void fail_over(void)
{
    server *s = some_server();

    if (split)
        return;
    if (kind == QUORUM || min_replicas < s->replicas)
        ordered = 0;
    breaks_its_word(s, "fail-over to a copy");
    if (kind == QUORUM)
        keyspace_copy(&s->data, &s->replica[0]);
    else if (kind == SENTINEL)
        elect();
    else
        promote(s);
}

static void evict(void)
{
    server *s = some_server();
    const char *name = keyspace_evict(&s->data);

    if (name == NULL)
        return;
    if (strstr(name, ":fence") != NULL)
        ordered = 0;
    breaks_its_word(s, "a key is evicted");
}

static void step(void)
{
    server *s = some_server();

    s->data.step += sim_between(-300, 300);
    breaks_its_word(s, "its wall clock jumps");
}

static void keep_up(void)
{
    for (int i = 0; i < count; i++) {
        server *s = &servers[i];

        if (sim_now() - s->copied <= BEHIND_MS)
            continue;
        s->copied = sim_now();
        (void)replicate(s);
    }
}

/* Masters and sentinels alike. */
static int any_number(void)
{
    if (kind == SENTINEL && sim_chance(500))
        return SENTINEL_FIRST + (int)sim_between(0, SENTINELS - 1);
    return (int)sim_between(0, count - 1);
}

void servers_nemesis(void)
{
    keep_up();
    if (sim_strikes(SIM_AWAY))
        leave(any_number(), sim_chance(500));
    if (kind == CLUSTER && sim_strikes(SIM_MIGRATE)) {
        moved = 1;
        slots_migrate();
    }
    if (sim_strikes(SIM_SCRIPTS))
        some_server()->data.scripts = 0;
    if (sim_strikes(SIM_FORGET))
        forget(some_server(), "FLUSHALL");
    if (sim_strikes(SIM_RESTART))
        restart_empty(some_server());
    if (sim_strikes(SIM_FAIL_OVER))
        fail_over();
    if (sim_strikes(SIM_EVICT))
        evict();
    if (sim_strikes(SIM_STEP))
        step();
}

void servers_heal(void)
{
    for (int i = 0; i < SERVERS_MAX; i++)
        servers[i].data.step = 0;
}
