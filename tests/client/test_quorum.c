/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_quorum.c - five masters that know nothing of each other
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "lua_scripts.h"
#include "proxy.h"
#include "redis_topology.h"

#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"
#define NODES   5

static redis_server *node[NODES];
static char url[256];

static int start(void **state)
{
    int len = snprintf(url, sizeof(url), "redlock://");

    (void)state;
    for (int i = 0; i < NODES; i++) {
        node[i] = redis_server_start(NULL);
        len += snprintf(url + len, sizeof(url) - (size_t)len, "%s127.0.0.1:%d",
                        i > 0 ? "," : "", redis_server_port(node[i]));
    }
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++)
        redis_server_stop(node[i]);
    return 0;
}

static rf_client *open_at(const char *where, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    assert_status(rf_open(where, &opts, &client), RF_OK);
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

/* On how many masters the resource has a lock. */
static int held(const char *resource)
{
    int n = 0;

    for (int i = 0; i < NODES; i++)
        n += redis_server_number(node[i], "EXISTS " LOCK, resource) == 1;
    return n;
}

static void test_fences_grow_and_every_master_knows_them(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;

    (void)state;
    for (rf_fence i = 1; i <= 5; i++)
        assert_true(take(client, "grow") >= i);
    assert_status(rf_acquire(client, "grow", NULL, &lock), RF_OK);
    wait_until(held("grow") == NODES);
    assert_status(rf_release(lock), RF_OK);
    wait_until(held("grow") == 0);
    rf_close(client);
}

static long long scripts_run(redis_server *at)
{
    const char *text = redis_server_command(at, "INFO commandstats");
    const char *calls = strstr(text, "cmdstat_evalsha:calls=");

    return calls != NULL ? strtoll(calls + 22, NULL, 10) : 0;
}

static void test_usual_acquisition_is_one_round_trip(void **state)
{
    rf_client *client = open_at(url, 5000);
    long long before[NODES];
    rf_lock *lock;

    (void)state;
    take(client, "trip");
    wait_until(held("trip") == 0);
    for (int i = 0; i < NODES; i++) {
        redis_server_command(node[i], "SET " COUNTER " 7", "trip");
        before[i] = scripts_run(node[i]);
    }
    assert_status(rf_acquire(client, "trip", NULL, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == 8);
    wait_until(held("trip") == NODES);
    for (int i = 0; i < NODES; i++)
        assert_int_equal(scripts_run(node[i]) - before[i], 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_greatest_number_is_made_known_to_a_majority(void **state)
{
    static const char *const counters[NODES] = { "10", "3", "5", "2", "9" };
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;
    int known = 0;

    (void)state;
    for (int i = 0; i < NODES; i++)
        redis_server_command(node[i], "SET " COUNTER " %s", "lag", counters[i]);
    assert_status(rf_acquire(client, "lag", NULL, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == 11);
    for (int i = 0; i < NODES; i++)
        known += redis_server_number(node[i], "GET " COUNTER, "lag") == 11;
    assert_true(known >= 3);
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    /* Without the master that had the greatest number too. */
    redis_server_command(node[0], "SET " COUNTER " 1", "lag");
    assert_true(take(client, "lag") > 11);
    rf_close(client);
}

static void test_minority_is_given_back(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 3; i++)
        redis_server_command(node[i], "SET " LOCK " other PX %d", "minor",
                             10000 * (i + 1));
    assert_status(rf_acquire(client, "minor", NULL, &lock), RF_BUSY);
    /* One of the three has to run out, the first to do so. */
    assert_in_range(rf_busy_ms(client), 1, 10000);
    wait_until(held("minor") == 3);
    for (int i = 0; i < 3; i++)
        redis_server_command(node[i], "DEL " LOCK, "minor");
    take(client, "minor");
    rf_close(client);
}

/* It is over, and that is all there is to say: no error, no quarrel of masters. */
static void test_release_of_what_has_run_out_is_lost_and_harms_nobody(
    void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock, *next;

    (void)state;
    assert_status(rf_acquire(client, "late", NULL, &lock), RF_OK);
    wait_until(held("late") == NODES);
    for (int i = 0; i < NODES; i++)
        redis_server_command(node[i], "DEL " LOCK, "late");
    assert_status(rf_acquire(client, "late", NULL, &next), RF_OK);
    assert_true(rf_lock_fence(next) > rf_lock_fence(lock));
    assert_status(rf_release(lock), RF_LOST);
    assert_true(held("late") >= NODES / 2 + 1);
    assert_status(rf_release(next), RF_OK);
    wait_until(held("late") == 0);
    rf_close(client);
}

static void test_forgetful_minority_costs_nothing(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;
    rf_fence last;

    (void)state;
    last = take(client, "forget");
    for (int i = 0; i < NODES; i++) {
        rf_fence next;

        /* One forgets everything between two hand-overs. */
        redis_server_command(node[i], "FLUSHALL");
        next = take(client, "forget");
        assert_true(next > last);
        last = next;
    }
    assert_status(rf_acquire(client, "forget", NULL, &lock), RF_OK);
    wait_until(held("forget") == NODES);
    redis_server_command(node[0], "FLUSHALL");
    redis_server_command(node[3], "FLUSHALL");
    assert_status(rf_renew(lock, 30000), RF_OK);
    redis_server_command(node[1], "FLUSHALL");
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    rf_close(client);
}

static void test_reissue_is_known_to_a_majority(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;
    rf_info info;
    int known = 0;

    (void)state;
    redis_server_command(node[2], "SET " COUNTER " 500", "again");
    assert_status(rf_acquire(client, "again", NULL, &lock), RF_OK);
    redis_server_command(node[2], "SET " COUNTER " 900", "again");
    assert_status(rf_reissue(lock, 700), RF_OK);
    assert_true(rf_lock_fence(lock) == 901 || rf_lock_fence(lock) == 701);
    for (int i = 0; i < NODES; i++)
        known += redis_server_number(node[i], "GET " COUNTER, "again") >=
                 rf_lock_fence(lock);
    assert_true(known >= 3);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_inspect(client, "again", &info), RF_OK);
    assert_int_equal(info.held, 1);
    assert_string_equal(info.holder, rf_lock_holder(lock));
    assert_true(info.fence == rf_lock_fence(lock));
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_inspect(client, "again", &info), RF_OK);
    assert_int_equal(info.held, 0);
    assert_true(info.counter >= 701);
    rf_close(client);
}

static const char *run_raise(const char *holder, const char *fence)
{
    return redis_server_command(node[0],
                                "EVAL %s 2 " LOCK " " COUNTER " %s %s tag",
                                rf__lua_raise, "step", "step", holder, fence);
}

static void test_raise_demands_the_holder_and_never_lowers(void **state)
{
    static const char ours[] = "0123456789abcdef0123456789abcdef";
    static const char theirs[] = "ffffffffffffffffffffffffffffffff";

    (void)state;
    assert_non_null(strstr(run_raise(ours, "7"), "LOST gone"));
    redis_server_command(node[0], "SET " LOCK " 5:%s PX 60000", "step", theirs);
    redis_server_command(node[0], "SET " COUNTER " 5", "step");
    assert_non_null(strstr(run_raise(ours, "7"), "LOST taken"));
    assert_int_equal(redis_server_number(node[0], "GET " COUNTER, "step"), 5);
    assert_non_null(strstr(run_raise(theirs, "4"), "LOST taken"));
    assert_non_null(strstr(run_raise(theirs, "7"), "OK 7"));
    assert_non_null(strstr(run_raise(theirs, "7"), "OK 7"));
    assert_int_equal(redis_server_number(node[0], "GET " COUNTER, "step"), 7);
    assert_true(redis_server_number(node[0], "PTTL " LOCK, "step") > 0);
    redis_server_command(node[0], "SET " COUNTER " 9", "step");
    assert_non_null(strstr(run_raise(theirs, "8"), "OK 8"));
    assert_int_equal(redis_server_number(node[0], "GET " COUNTER, "step"), 9);
    redis_server_command(node[0], "DEL " LOCK " " COUNTER, "step", "step");
}

static const char *run_withdraw(const char *holder, const char *upto)
{
    return redis_server_command(node[0],
                                "EVAL %s 3 " LOCK " wake waiters %s %s tag",
                                rf__lua_withdraw, "step", holder, upto);
}

/* The request that gives one round's lock back, and comes in the next. */
static void test_withdrawal_that_is_late_spares_what_came_later(void **state)
{
    static const char ours[] = "0123456789abcdef0123456789abcdef";
    static const char theirs[] = "ffffffffffffffffffffffffffffffff";

    (void)state;
    assert_non_null(strstr(run_withdraw(ours, "7"), "LOST gone"));
    redis_server_command(node[0], "SET " LOCK " 10:%s PX 60000", "step", ours);
    assert_non_null(strstr(run_withdraw(theirs, "10"), "LOST taken"));
    assert_non_null(strstr(run_withdraw(ours, "9"), "LOST taken"));
    assert_non_null(strstr(run_withdraw(ours, "0"), "ARGUMENT_BAD upto"));
    assert_true(redis_server_number(node[0], "PTTL " LOCK, "step") > 0);
    assert_non_null(strstr(run_withdraw(ours, "10"), "OK"));
    assert_non_null(strstr(run_withdraw(ours, "10"), "LOST gone"));
}

static void test_complete_grant_is_handed_out_again_as_it_was(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    char holder[RF_HOLDER_LEN + 1];
    rf_lock *lock, *same;

    (void)state;
    assert_status(rf_holder_new(holder), RF_OK);
    opts.holder = holder;
    assert_status(rf_acquire(client, "twice", &opts, &lock), RF_OK);
    wait_until(held("twice") == NODES);
    /* One master has lost the lock, and would issue a greater number. */
    redis_server_command(node[0], "DEL " LOCK, "twice");
    redis_server_command(node[0], "SET " COUNTER " 800", "twice");
    assert_status(rf_acquire(client, "twice", &opts, &same), RF_OK);
    assert_true(rf_lock_fence(same) == rf_lock_fence(lock));
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(same), RF_OK);
    assert_status(rf_release(lock), RF_LOST);
    assert_true(take(client, "twice") > 1);
    rf_close(client);
}

static int count_named(const char *resource, const rf_info *info, void *arg)
{
    (void)info;
    *(int *)arg += strcmp(resource, "people") == 0;
    return 0;
}

static void test_people_can_list_and_take_away(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_lock *lock;
    int shown = 0;

    (void)state;
    assert_status(rf_acquire(client, "people", NULL, &lock), RF_OK);
    assert_status(rf_list(client, count_named, &shown), RF_OK);
    assert_true(shown > 0);
    assert_status(
        rf_force_release(client, "people", rf_lock_fence(lock) + 1, "test"),
        RF_LOST);
    assert_status(
        rf_force_release(client, "people", rf_lock_fence(lock), "test"), RF_OK);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    rf_close(client);
}

static void test_shared_locks_are_misuse(void **state)
{
    rf_client *client = open_at(url, 5000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.shared = 1;
    assert_status(rf_acquire(client, "shared", &opts, &lock), RF_MISUSE);
    rf_close(client);
}

static void test_set_of_locks_is_all_or_none(void **state)
{
    static const char *const names[] = { "set:a", "set:b", "set:c" };
    rf_client *client = open_at(url, 5000), *other = open_at(url, 5000);
    rf_lock *locks[3], *lock;

    (void)state;
    assert_status(rf_acquire(other, "set:c", NULL, &lock), RF_OK);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_BUSY);
    wait_until(held("set:a") == 0 && held("set:b") == 0);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    rf_close(client);
    rf_close(other);
}

static void test_kept_lock_lives_on_a_majority(void **state)
{
    rf_client *client = open_at(url, 5000), *other = open_at(url, 5000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock, *none;
    int64_t begin = test_now_ms();

    (void)state;
    opts.ttl_ms = 1000;
    assert_status(rf_acquire(client, "kept", &opts, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    while (test_now_ms() - begin < 1500)
        assert_status(rf_acquire(other, "kept", NULL, &none), RF_BUSY);
    assert_true(rf_lock_fence(lock) > 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    rf_close(other);
}

/* ---- Answers that are lost ------------------------------------------------------ */

static void test_majority_that_does_not_answer_is_unknown(void **state)
{
    proxy *far[3];
    char where[256];
    rf_client *client;
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 3; i++)
        far[i] = proxy_start(redis_server_socket(node[i]));
    snprintf(where, sizeof(where),
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d,"
             "127.0.0.1:%d,127.0.0.1:%d",
             proxy_port(far[0]), proxy_port(far[1]), proxy_port(far[2]),
             redis_server_port(node[3]), redis_server_port(node[4]));
    client = open_at(where, 1000);
    take(client, "mute");
    for (int i = 0; i < 3; i++)
        proxy_set(far[i], PROXY_MUTE, 0, 1000);
    assert_status(rf_acquire(client, "mute", NULL, &lock), RF_UNKNOWN);
    wait_until(redis_server_number(node[3], "EXISTS " LOCK, "mute") == 0 &&
               redis_server_number(node[4], "EXISTS " LOCK, "mute") == 0);
    for (int i = 0; i < 3; i++) {
        proxy_set(far[i], PROXY_PASS, 0, 0);
        redis_server_command(node[i], "DEL " LOCK, "mute");
    }
    take(client, "mute");
    /* Lost once: asked again, and granted in the end. */
    for (int i = 0; i < 3; i++)
        proxy_set(far[i], PROXY_CUT_AFTER, 0, 1);
    take(client, "mute");
    /* One master that never answers is no loss. */
    proxy_set(far[0], PROXY_MUTE, 0, 1000);
    take(client, "mute");
    rf_close(client);
    for (int i = 0; i < 3; i++)
        proxy_stop(far[i]);
}

/* ---- Order over many hand-overs ------------------------------------------------- */

#define PROCESSES 3
#define GRANTS    40

typedef struct grant {
    int64_t asked_ns, granted_ns;
    rf_fence fence;
} grant;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Locks that "run out" anywhere at any moment: now and then on one master. */
static void lose_one(int turn)
{
    char command[160];
    int at = turn % NODES;
    FILE *cli;

    snprintf(command, sizeof(command),
             "redis-cli -s %s DEL '{lock:v1:order}' >/dev/null",
             redis_server_socket(node[at]));
    cli = popen(command, "r");
    if (cli != NULL)
        pclose(cli);
}

static void hand_over(grant *mine, int seed)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_acquire_options how = RF_ACQUIRE_INIT;
    rf_client *client;

    opts.timeout_ms = 5000;
    how.wait_ms = 20000;
    how.ttl_ms = 3000;
    if (rf_open(url, &opts, &client) != RF_OK)
        _exit(1);
    for (int i = 0; i < GRANTS; i++) {
        rf_lock *lock = NULL;

        mine[i].asked_ns = now_ns();
        while (rf_acquire(client, "order", &how, &lock) != RF_OK)
            mine[i].asked_ns = now_ns();
        mine[i].granted_ns = now_ns();
        mine[i].fence = rf_lock_fence(lock);
        if (i % 4 == 3)
            lose_one(i + seed);
        rf_release(lock);
    }
    rf_close(client);
    _exit(0);
}

static void test_fences_are_ordered_over_many_hand_overs(void **state)
{
    const size_t n = (size_t)PROCESSES * GRANTS;
    grant *all = mmap(NULL, n * sizeof(*all), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS,
                      /* cppcheck-suppress invalidFunctionArg */
                      -1, 0);

    (void)state;
    assert_true(all != MAP_FAILED);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0)
            hand_over(all + (size_t)i * GRANTS, i);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int result = 1;

        wait(&result);
        assert_int_equal(result, 0);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (i == j || all[i].fence == 0 || all[j].fence == 0)
                continue;
            assert_true(all[i].fence != all[j].fence);
            if (all[i].granted_ns < all[j].asked_ns)
                assert_true(all[i].fence < all[j].fence);
        }
    }
    munmap(all, n * sizeof(*all));
}

/* ---- Masters that are gone ------------------------------------------------------ */

static void test_masters_that_hang_cost_little_time(void **state)
{
    rf_client *client = open_at(url, 10000);
    int64_t begin;

    (void)state;
    take(client, "hang");
    redis_server_freeze(node[1]);
    redis_server_freeze(node[3]);
    begin = test_now_ms();
    for (int i = 0; i < 3; i++)
        take(client, "hang");
    assert_at_most_ms(begin, 3000);
    redis_server_thaw(node[1]);
    redis_server_thaw(node[3]);
    rf_close(client);
}

static void test_two_of_five_may_be_gone_and_three_may_not(void **state)
{
    rf_client *client = open_at(url, 2000);
    rf_lock *lock;
    rf_status renewed;
    rf_fence before = take(client, "gone");

    (void)state;
    redis_server_kill(node[0]);
    redis_server_kill(node[4]);
    assert_true(take(client, "gone") > before);
    assert_status(rf_acquire(client, "gone", NULL, &lock), RF_OK);
    redis_server_kill(node[2]);
    /* Whether the one that died got it may be open; granted it is not. */
    renewed = rf_renew(lock, 30000);
    assert_true(renewed == RF_RETRY || renewed == RF_UNKNOWN);
    rf_release(lock);
    assert_status(rf_acquire(client, "more", NULL, &lock), RF_RETRY);
    assert_null(lock);
    assert_int_equal(redis_server_number(node[1], "EXISTS " LOCK, "more"), 0);
    assert_int_equal(redis_server_number(node[3], "EXISTS " LOCK, "more"), 0);
    /* They are back, with nothing. */
    redis_server_restart(node[0]);
    redis_server_restart(node[4]);
    take(client, "more");
    redis_server_restart(node[2]);
    rf_close(client);
}

static int count_locks(const char *resource, const rf_info *info, void *arg)
{
    *(int *)arg += strcmp(resource, "listed") == 0 && info->held;
    return 0;
}

static void test_locks_are_listed_while_a_majority_answers(void **state)
{
    rf_client *client = open_at(url, 2000);
    rf_lock *lock;
    int n = 0;

    (void)state;
    assert_status(rf_acquire(client, "listed", NULL, &lock), RF_OK);
    redis_server_kill(node[0]);
    redis_server_kill(node[3]);
    assert_status(rf_list(client, count_locks, &n), RF_OK);
    assert_true(n >= 1);
    redis_server_kill(node[4]);
    assert_status(rf_list(client, count_locks, &n), RF_RETRY);
    assert_string_not_equal(rf_message(client), "");
    redis_server_restart(node[0]);
    redis_server_restart(node[3]);
    redis_server_restart(node[4]);
    rf_release(lock);
    rf_close(client);
}

static void count_servers(const rf_finding *finding, void *arg)
{
    int *n = arg;

    n[0] += strcmp(finding->subject, "version") == 0;
    n[1] += strcmp(finding->subject, "server") == 0;
}

static void test_every_master_is_examined_and_who_is_away_is_told(void **state)
{
    rf_client *client = open_at(url, 2000);
    int n[2] = { 0 };

    (void)state;
    assert_status(rf_examine(client, count_servers, n), RF_OK);
    assert_int_equal(n[0], NODES);
    redis_server_kill(node[3]);
    assert_status(rf_examine(client, count_servers, n), RF_OK);
    assert_int_equal(n[0], 2 * NODES - 1);
    assert_int_equal(n[1], 1);
    redis_server_restart(node[3]);
    rf_close(client);
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
    long long reads[NODES], scripts[NODES];
} tally;

static void tally_begin(tally *t)
{
    for (int i = 0; i < NODES; i++) {
        t->scripts[i] = scripts(node[i]);
        t->reads[i] = reads(node[i]);
    }
}

/* So many scripts since then, and far fewer round trips. */
static void assert_together(const tally *t, long long least, long long most)
{
    long long ran = 0;

    for (int i = 0; i < NODES; i++) {
        assert_in_range(reads(node[i]) - t->reads[i], 0, MANY / 4);
        ran += scripts(node[i]) - t->scripts[i];
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
    rf_client *client = open_at(url, 5000);
    rf_keep_options keep = RF_KEEP_INIT;
    rf_lock *locks[MANY];
    tally t;

    (void)state;
    take_many(client, locks);
    /* The scripts of both are known to all from now on. */
    assert_status(rf_renew(locks[0], 60000), RF_OK);
    take(client, "known");
    tally_begin(&t);
    keep.ttl_ms = 6000;
    for (int i = 0; i < MANY; i++)
        assert_status(rf_keep(locks[i], &keep), RF_OK);
    await_renewals(client);
    assert_together(&t, MANY * 3, MANY * NODES);

    tally_begin(&t);
    assert_status(rf_release_all(locks, MANY), RF_OK);
    assert_together(&t, MANY * 3, MANY * NODES);
    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof(name), "many%d", i);
        wait_until(held(name) == 0);
    }
    rf_close(client);
}

/* A master that joined late may have issued more than what was agreed on. */
static void test_set_of_locks_is_given_back_whatever_a_master_s_number(
    void **state)
{
    static const char *const names[] = { "whole0", "whole1" };
    rf_client *client = open_at(url, 5000);
    rf_lock *locks[2];
    char value[64];

    (void)state;
    assert_status(rf_acquire_all(client, names, 2, NULL, locks), RF_OK);
    wait_until(held(names[0]) == NODES && held(names[1]) == NODES);
    snprintf(value, sizeof(value), "77:%s", rf_lock_holder(locks[0]));
    redis_server_command(node[4], "SET " LOCK " %s PX 60000", names[0], value);
    assert_status(rf_release_all(locks, 2), RF_OK);
    wait_until(held(names[0]) == 0 && held(names[1]) == 0);
    rf_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fences_grow_and_every_master_knows_them),
        cmocka_unit_test(test_usual_acquisition_is_one_round_trip),
        cmocka_unit_test(test_greatest_number_is_made_known_to_a_majority),
        cmocka_unit_test(test_minority_is_given_back),
        cmocka_unit_test(
            test_release_of_what_has_run_out_is_lost_and_harms_nobody),
        cmocka_unit_test(test_forgetful_minority_costs_nothing),
        cmocka_unit_test(test_reissue_is_known_to_a_majority),
        cmocka_unit_test(test_raise_demands_the_holder_and_never_lowers),
        cmocka_unit_test(test_withdrawal_that_is_late_spares_what_came_later),
        cmocka_unit_test(test_complete_grant_is_handed_out_again_as_it_was),
        cmocka_unit_test(test_people_can_list_and_take_away),
        cmocka_unit_test(test_shared_locks_are_misuse),
        cmocka_unit_test(test_locks_are_listed_while_a_majority_answers),
        cmocka_unit_test(test_every_master_is_examined_and_who_is_away_is_told),
        cmocka_unit_test(test_set_of_locks_is_all_or_none),
        cmocka_unit_test(test_kept_lock_lives_on_a_majority),
        cmocka_unit_test(test_majority_that_does_not_answer_is_unknown),
        cmocka_unit_test(test_fences_are_ordered_over_many_hand_overs),
        cmocka_unit_test(test_masters_that_hang_cost_little_time),
        cmocka_unit_test(test_two_of_five_may_be_gone_and_three_may_not),
        cmocka_unit_test(test_many_locks_are_renewed_and_given_back_together),
        cmocka_unit_test(
            test_set_of_locks_is_given_back_whatever_a_master_s_number),
    };

    return run_group(tests, start, stop);
}
