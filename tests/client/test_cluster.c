/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_cluster.c - six nodes, slots that move, a master that dies
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "internal.h"
#include "proxy.h"
#include "redis_topology.h"

#define PREFIX  "lock:v1:"
#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"

static redis_cluster *world;

static int start(void **state)
{
    (void)state;
    world = redis_cluster_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_cluster_stop(world);
    return 0;
}

static rf_client *open_for(int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    assert_status(rf_open(world->url, &opts, &client), RF_OK);
    return client;
}

static rf_fence take(rf_client *client, const char *resource)
{
    rf_fence fence;
    rf_lock *lock;

    if (rf_acquire(client, resource, NULL, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    fence = rf_lock_fence(lock);
    assert_status(rf_release(lock), RF_OK);
    return fence;
}

/* The name with the lowest number whose slot is owner's, from number on. */
static void name_on(int owner, int from, char name[32])
{
    do
        snprintf(name, 32, "r%d", from++);
    while (redis_cluster_owner(rf__slot(PREFIX, name)) != owner);
}

static void test_slots_are_as_redis_has_them(void **state)
{
    static const char *const names[] = { "a",        "inventory:sku-42",
                                         "{x}y",     "}",
                                         "a}b{c",    "{}",
                                         "\xc3\xa4", "123456789" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int key = 0; key < 2; key++)
            assert_int_equal(redis_server_number(world->node[0],
                                                 "CLUSTER KEYSLOT {" PREFIX
                                                 "%s}%s",
                                                 names[i], key ? ":fence" : ""),
                             rf__slot(PREFIX, names[i]));
    }
}

static void test_each_lock_is_on_the_node_of_its_slot(void **state)
{
    rf_client *client = open_for(5000);

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[32];

        name_on(i, 0, name);
        assert_true(take(client, name) == 1);
        assert_int_equal(
            redis_server_number(world->node[i], "GET " COUNTER, name), 1);
    }
    rf_close(client);
}

static void test_sets_of_locks_may_span_nodes(void **state)
{
    rf_client *client = open_for(5000), *other = open_for(5000);
    char a[32], b[32], c[32];
    const char *const names[] = { a, b, c };
    rf_lock *locks[3], *lock;
    rf_info info;

    (void)state;
    name_on(0, 100, a);
    name_on(1, 100, b);
    name_on(2, 100, c);
    assert_status(rf_acquire(other, c, NULL, &lock), RF_OK);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_BUSY);
    assert_status(rf_inspect(client, a, &info), RF_OK);
    assert_int_equal(info.held, 0);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    rf_close(client);
    rf_close(other);
}

static int count(const char *resource, const rf_info *info, void *arg)
{
    (void)resource;
    *(int *)arg += info->held && info->fence == 6;
    return 0;
}

static void test_every_step_goes_to_the_node_of_its_slot(void **state)
{
    rf_client *client = open_for(5000);
    char names[3][32];
    rf_lock *locks[3];
    int seen = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        name_on(i, 1000, names[i]);
        assert_status(rf_acquire(client, names[i], NULL, &locks[i]), RF_OK);
        assert_status(rf_reissue(locks[i], 5), RF_OK);
        assert_int_equal(rf_lock_fence(locks[i]), 6);
        assert_int_equal(
            redis_server_number(world->node[i], "GET " COUNTER, names[i]), 6);
    }
    assert_status(rf_list(client, count, &seen), RF_OK);
    assert_true(seen >= 3); /* a name may be told twice */
    assert_status(rf_keep(locks[0], NULL), RF_OK);
    assert_status(rf_renew(locks[1], 60000), RF_OK);
    assert_status(rf_force_release(client, names[2], 6, "a test"), RF_OK);
    assert_status(rf_renew(locks[2], 60000), RF_LOST);
    for (int i = 0; i < 3; i++)
        assert_status(rf_release(locks[i]), i < 2 ? RF_OK : RF_LOST);
    rf_close(client);
}

static void test_set_within_one_slot_is_taken_in_one_step(void **state)
{
    rf_client *client = open_for(5000);
    char first[32], second[32];
    const char *const names[] = { first, second };
    rf_lock *locks[2];
    int n = 300;

    (void)state;
    snprintf(first, sizeof(first), "r299");
    do
        snprintf(second, sizeof(second), "r%d", n++);
    while (rf__slot(PREFIX, first) != rf__slot(PREFIX, second));
    assert_status(rf_acquire_all(client, names, 2, NULL, locks), RF_OK);
    assert_status(rf_release_all(locks, 2), RF_OK);
    rf_close(client);
}

/* What is asked for the slots but is no cluster, or none yet. */
static void ask_at(const char *cluster_enabled, rf_status wanted,
                   const char *said)
{
    const char *options[] = { "--cluster-enabled", cluster_enabled, NULL };
    redis_server *single = redis_server_start(options);
    char url[64];
    rf_client *client;
    rf_lock *lock;

    snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d",
             redis_server_port(single));
    assert_status(rf_open(url, NULL, &client), RF_OK);
    assert_status(rf_acquire(client, "r", NULL, &lock), wanted);
    assert_null(lock);
    assert_non_null(strstr(rf_message(client), said));
    rf_close(client);
    redis_server_stop(single);
}

static void test_server_that_is_no_cluster_is_misuse(void **state)
{
    (void)state;
    ask_at("no", RF_MISUSE, "refuses the command");
}

static void test_node_without_slots_is_retry(void **state)
{
    (void)state;
    ask_at("yes", RF_RETRY, "no slots");
}

/* ---- A slow node ------------------------------------------------------------- */

/* Two nodes: the first one has all slots, and is far away. */
typedef struct slow_pair {
    redis_server *far, *other;
    proxy *between;
    char url[64];
} slow_pair;

static slow_pair pair;

static int far_is_ready(void)
{
    return strstr(redis_server_command(pair.far, "CLUSTER INFO"),
                  "cluster_state:ok") != NULL &&
           strstr(redis_server_command(pair.far, "CLUSTER INFO"),
                  "cluster_known_nodes:2") != NULL &&
           strstr(redis_server_command(pair.far, "CLUSTER NODES"),
                  "handshake") == NULL;
}

static void start_slow_pair(void)
{
    static const char *const options[] = { "--cluster-enabled", "yes", NULL };
    char command[64];

    pair.far = redis_server_start(options);
    pair.other = redis_server_start(options);
    pair.between = proxy_start(redis_server_socket(pair.far));
    snprintf(pair.url, sizeof(pair.url), "redis+cluster://127.0.0.1:%d",
             proxy_port(pair.between));
    snprintf(command, sizeof(command), "CONFIG SET cluster-announce-port %d",
             proxy_port(pair.between));
    assert_string_equal(redis_server_command(pair.far, command), "OK");
    assert_string_equal(
        redis_server_command(pair.far, "CLUSTER ADDSLOTSRANGE 0 16383"), "OK");
    snprintf(command, sizeof(command), "CLUSTER MEET 127.0.0.1 %d",
             redis_server_port(pair.other));
    assert_string_equal(redis_server_command(pair.far, command), "OK");
    wait_until(far_is_ready());
}

static void stop_slow_pair(void)
{
    proxy_stop(pair.between);
    redis_server_stop(pair.far);
    redis_server_stop(pair.other);
}

/* To a lock's counter and to its key, of which one is there: TRYAGAIN. */
static void begin_to_move_far(const char *resource)
{
    char command[128];

    snprintf(command, sizeof(command), "CLUSTER SETSLOT %d MIGRATING %s",
             rf__slot(PREFIX, resource),
             redis_server_command(pair.other, "CLUSTER MYID"));
    assert_string_equal(redis_server_command(pair.far, command), "OK");
}

/*
 * It is asked again and again, and each time told that nothing is done.  An
 * attempt that began too late to be answered would make that unknown.
 */
static void test_node_that_is_slow_to_refuse_is_retry(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;

    (void)state;
    start_slow_pair();
    opts.timeout_ms = 1000;
    assert_status(rf_open(pair.url, &opts, &client), RF_OK);
    take(client, "r1");
    begin_to_move_far("r1");
    proxy_set_delay(pair.between, 0, 1000, 120);
    for (int i = 0; i < 6; i++) {
        int asked = proxy_requests(pair.between);

        assert_status(rf_acquire(client, "r1", NULL, &lock), RF_RETRY);
        assert_non_null(strstr(rf_message(client), "TRYAGAIN"));
        assert_true(proxy_requests(pair.between) - asked >= 3);
    }
    rf_close(client);
    stop_slow_pair();
}

/* ---- A slot that moves ------------------------------------------------------------ */

static void set_slot(int node, int slot, const char *what, int other)
{
    char command[128];

    snprintf(command, sizeof(command), "CLUSTER SETSLOT %d %s %s", slot, what,
             world->id[other]);
    assert_string_equal(redis_server_command(world->node[node], command), "OK");
}

static void begin_move(int slot, int from, int to)
{
    set_slot(to, slot, "IMPORTING", from);
    set_slot(from, slot, "MIGRATING", to);
}

/* The configuration epoch of a node, as the viewer knows it; -1: it doesn't. */
static long long epoch_seen(int viewer, int node)
{
    const char *line = redis_server_command(world->node[viewer],
                                            "CLUSTER NODES");
    size_t len = strlen(world->id[node]);
    long long epoch = -1;

    while (line != NULL && strncmp(line, world->id[node], len) != 0) {
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    if (line != NULL)
        sscanf(line, "%*s %*s %*s %*s %*s %*s %lld", &epoch);
    return epoch;
}

static int everybody_knows_epoch_of(int node)
{
    long long epoch = epoch_seen(node, node);

    for (int viewer = 0; viewer < 6; viewer++) {
        if (epoch_seen(viewer, node) != epoch)
            return 0;
    }
    return 1;
}

/*
 * Whoever takes a slot raises its epoch above all that it has heard of.  Moved
 * again before the others have heard, the slot has two owners of one epoch, and
 * either may end up with it.
 */
static void end_move(int slot, int from, int to)
{
    set_slot(to, slot, "NODE", to);
    set_slot(from, slot, "NODE", to);
    wait_until(everybody_knows_epoch_of(to));
}

static void move_key(int from, int to, const char *key)
{
    redis_server_command(world->node[from], "MIGRATE 127.0.0.1 %d %s 0 5000",
                         redis_server_port(world->node[to]), key);
}

/* All keys, one after the other, as redis-cli does. */
static void move_keys(int slot, int from, int to)
{
    char key[256];

    for (;;) {
        snprintf(key, sizeof(key), "%s",
                 redis_server_command(world->node[from],
                                      "CLUSTER GETKEYSINSLOT %d 1", slot));
        if (key[0] == '\0')
            return;
        move_key(from, to, key);
    }
}

static void test_slot_that_has_moved_is_followed(void **state)
{
    rf_client *client = open_for(5000);
    char name[32];
    int slot;

    (void)state;
    name_on(0, 200, name);
    slot = rf__slot(PREFIX, name);
    assert_true(take(client, name) == 1);
    begin_move(slot, 0, 1);
    move_keys(slot, 0, 1);
    end_move(slot, 0, 1);
    /* The client's map is old: MOVED. */
    assert_true(take(client, name) == 2);
    assert_int_equal(redis_server_number(world->node[1], "GET " COUNTER, name),
                     2);
    rf_close(client);
}

static void test_lock_on_its_way_is_renewed_where_it_is(void **state)
{
    rf_client *client = open_for(600);
    char name[32], key[64];
    rf_lock *lock, *none;
    int slot;

    (void)state;
    name_on(1, 300, name);
    slot = rf__slot(PREFIX, name);
    assert_status(rf_acquire(client, name, NULL, &lock), RF_OK);
    begin_move(slot, 1, 2);
    snprintf(key, sizeof(key), LOCK, name);
    /* It has gone ahead, and to a node that doesn't know the script: ASK. */
    redis_server_command(world->node[2], "SCRIPT FLUSH");
    move_key(1, 2, key);
    assert_status(rf_renew(lock, 60000), RF_OK);
    assert_true(redis_server_number(world->node[1], "EXISTS %s", key) == 0);
    /* Half of its keys are here and half there: TRYAGAIN, until time is over. */
    assert_status(rf_acquire(client, name, NULL, &none), RF_RETRY);
    assert_null(none);
    assert_non_null(strstr(rf_message(client), "TRYAGAIN"));
    move_keys(slot, 1, 2);
    end_move(slot, 1, 2);
    assert_status(rf_acquire(client, name, NULL, &none), RF_BUSY);
    assert_status(rf_release(lock), RF_OK);
    assert_true(take(client, name) == 2);
    rf_close(client);
}

static rf_status nothing_claimed(void *arg, const char *resource, rf_fence *out)
{
    (void)arg;
    (void)resource;
    *out = 0;
    return RF_OK;
}

/* Its counter is told how long to stay, but is not worth the lock. */
static void test_lock_is_renewed_while_its_counter_is_elsewhere(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_acquire_options how = RF_ACQUIRE_INIT;
    rf_client *client;
    char name[32], key[64];
    rf_lock *lock;
    int slot;

    (void)state;
    name_on(1, 400, name);
    slot = rf__slot(PREFIX, name);
    opts.counter_idle_ms = 3600000;
    assert_status(rf_open(world->url, &opts, &client), RF_OK);
    how.ask_floor = nothing_claimed;
    assert_status(rf_acquire(client, name, &how, &lock), RF_OK);
    begin_move(slot, 1, 2);
    snprintf(key, sizeof(key), COUNTER, name);
    move_key(1, 2, key);
    assert_status(rf_renew(lock, 60000), RF_OK);
    snprintf(key, sizeof(key), LOCK, name);
    move_key(1, 2, key);
    assert_status(rf_renew(lock, 90000), RF_OK);
    end_move(slot, 1, 2);
    assert_status(rf_renew(lock, 90000), RF_OK);
    assert_true(redis_server_number(world->node[2], "PTTL " COUNTER, name) >
                3600000 + 80000);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

typedef struct worker {
    pthread_t thread;
    const char *name;
    atomic_int done, granted;
    rf_status odd;
    int repeated;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    rf_client *client = open_for(10000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_fence last = 0;

    opts.wait_ms = 10000;
    while (!atomic_load(&w->done) && w->odd == RF_OK) {
        rf_lock *lock;
        rf_status status = rf_acquire(client, w->name, &opts, &lock);

        if (status != RF_OK) {
            w->odd = status;
            break;
        }
        w->repeated += rf_lock_fence(lock) <= last;
        last = rf_lock_fence(lock);
        atomic_fetch_add(&w->granted, 1);
        status = rf_release(lock);
        if (status != RF_OK)
            w->odd = status;
    }
    rf_close(client);
    return NULL;
}

static void test_locks_are_granted_while_their_slot_moves(void **state)
{
    worker workers[2] = { { .odd = RF_OK }, { .odd = RF_OK } };
    char name[32];
    int slot, before;

    (void)state;
    name_on(2, 400, name);
    slot = rf__slot(PREFIX, name);
    for (int i = 0; i < 2; i++) {
        workers[i].name = name;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int round = 0; round < 4; round++) {
        int from = round % 2 == 0 ? 2 : 0, to = 2 - from;

        before = atomic_load(&workers[0].granted);
        wait_until(atomic_load(&workers[0].granted) > before + 5);
        begin_move(slot, from, to);
        /* Whoever asks now is sent round, and meets half of the keys. */
        move_keys(slot, from, to);
        end_move(slot, from, to);
    }
    before = atomic_load(&workers[1].granted);
    wait_until(atomic_load(&workers[1].granted) > before + 5);
    for (int i = 0; i < 2; i++) {
        atomic_store(&workers[i].done, 1);
        pthread_join(workers[i].thread, NULL);
        assert_status(workers[i].odd, RF_OK);
        assert_int_equal(workers[i].repeated, 0);
    }
}

/* ---- A master that dies ------------------------------------------------------------- */

static void count_nodes(const rf_finding *finding, void *arg)
{
    *(int *)arg += strcmp(finding->subject, "version") == 0;
}

static void test_every_node_with_slots_is_examined(void **state)
{
    rf_client *client = open_for(2000);
    int nodes = 0;

    (void)state;
    assert_status(rf_examine(client, count_nodes, &nodes), RF_OK);
    assert_int_equal(nodes, 3);
    rf_close(client);
}

static void test_replica_takes_over_within_the_deadline(void **state)
{
    rf_client *client = open_for(25000), *hasty = open_for(300);
    char name[32];
    rf_lock *lock;

    (void)state;
    name_on(0, 500, name);
    take(client, name);
    take(hasty, name);
    wait_until(redis_server_number(world->node[3], "CLUSTER COUNTKEYSINSLOT %d",
                                   rf__slot(PREFIX, name)) > 0);
    redis_server_kill(world->node[0]);
    /* Its answer is lost at most; what is sure is that nothing was granted. */
    assert_true(rf_acquire(hasty, name, NULL, &lock) != RF_OK);
    assert_status(rf_acquire(hasty, name, NULL, &lock), RF_RETRY);
    assert_true(take(client, name) > 2);
    rf_close(client);
    rf_close(hasty);
}

/* ---- Many at once ----------------------------------------------------------- */

#define MANY 60

/* What INFO says under this name. */
static long long info(redis_server *at, const char *section, const char *name)
{
    const char *text = redis_server_command(at, "INFO %s", section);
    const char *found = strstr(text, name);

    return found != NULL ? strtoll(found + strlen(name), NULL, 10) : 0;
}

/* How often it has found something to read: once for each pipeline. */
static long long reads(redis_server *at)
{
    return info(at, "stats", "total_reads_processed:");
}

static long long scripts(redis_server *at)
{
    return info(at, "commandstats", "cmdstat_evalsha:calls=");
}

typedef struct tally {
    long long reads[3], scripts[3];
} tally;

static void tally_begin(tally *t)
{
    for (int i = 0; i < 3; i++) {
        t->scripts[i] = scripts(world->node[i]);
        t->reads[i] = reads(world->node[i]);
    }
}

/* So many scripts since then, and far fewer round trips. */
static void assert_together(const tally *t, long long least, long long most)
{
    long long ran = 0;

    for (int i = 0; i < 3; i++) {
        assert_in_range(reads(world->node[i]) - t->reads[i], 0, MANY / 4);
        ran += scripts(world->node[i]) - t->scripts[i];
    }
    assert_in_range(ran, least, most);
}

static void take_many(rf_client *client, rf_lock **locks)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.ttl_ms = 60000;
    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof(name), "many%d", i);
        assert_status(rf_acquire(client, name, &opts, &locks[i]), RF_OK);
    }
}

static void await_renewals(rf_client *client)
{
    int64_t since = test_now_ms();
    rf_stats stats = { 0 };

    while (stats.calls[RF_CALL_RENEW][RF_OK] < MANY) {
        rf__sleep_until_ms(rf__now_ms() + 5);
        rf_get_stats(client, &stats);
        assert_at_most_ms(since, 20000);
    }
}

static void test_many_locks_are_renewed_and_given_back_together(void **state)
{
    rf_client *client = open_for(5000);
    rf_keep_options keep = RF_KEEP_INIT;
    rf_lock *locks[MANY];
    tally t;

    (void)state;
    take_many(client, locks);
    /* The scripts of both are known to all from now on. */
    assert_status(rf_renew(locks[0], 60000), RF_OK);
    for (int i = 0; i < 3; i++) {
        rf_lock *warm;
        char name[32];

        name_on(i, 0, name);
        assert_status(rf_acquire(client, name, NULL, &warm), RF_OK);
        assert_status(rf_renew(warm, 60000), RF_OK);
        assert_status(rf_release(warm), RF_OK);
    }
    tally_begin(&t);
    keep.ttl_ms = 6000;
    for (int i = 0; i < MANY; i++)
        assert_status(rf_keep(locks[i], &keep), RF_OK);
    await_renewals(client);
    assert_together(&t, MANY, MANY + 2);

    tally_begin(&t);
    assert_status(rf_release_all(locks, MANY), RF_OK);
    assert_together(&t, MANY, MANY + 2);
    rf_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_are_as_redis_has_them),
        cmocka_unit_test(test_each_lock_is_on_the_node_of_its_slot),
        cmocka_unit_test(test_sets_of_locks_may_span_nodes),
        cmocka_unit_test(test_every_step_goes_to_the_node_of_its_slot),
        cmocka_unit_test(test_set_within_one_slot_is_taken_in_one_step),
        cmocka_unit_test(test_server_that_is_no_cluster_is_misuse),
        cmocka_unit_test(test_node_without_slots_is_retry),
        cmocka_unit_test(test_node_that_is_slow_to_refuse_is_retry),
        cmocka_unit_test(test_many_locks_are_renewed_and_given_back_together),
        cmocka_unit_test(test_slot_that_has_moved_is_followed),
        cmocka_unit_test(test_lock_on_its_way_is_renewed_where_it_is),
        cmocka_unit_test(test_lock_is_renewed_while_its_counter_is_elsewhere),
        cmocka_unit_test(test_locks_are_granted_while_their_slot_moves),
        cmocka_unit_test(test_every_node_with_slots_is_examined),
        cmocka_unit_test(test_replica_takes_over_within_the_deadline),
    };

    return run_group(tests, start, stop);
}
