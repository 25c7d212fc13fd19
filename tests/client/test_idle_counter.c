/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_idle_counter.c - counters that Redis forgets when nobody takes the lock
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "redis_topology.h"
#include "redis_world.h"

#define IDLE_MS 3600000 /* an hour: nothing runs out while a test looks */

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

/* What the database would say: never less than was claimed. */
typedef struct database {
    int asked;
    rf_fence newest;
} database;

static rf_status ask(void *arg, const char *resource, rf_fence *out)
{
    database *db = arg;

    (void)resource;
    db->asked++;
    *out = db->newest;
    return RF_OK;
}

static rf_client *open_with(const char *url, int64_t idle_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *out;

    opts.counter_idle_ms = idle_ms;
    assert_status(rf_open(url, &opts, &out), RF_OK);
    return out;
}

static rf_lock *take(rf_client *from, database *db, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = ttl_ms;
    opts.ask_floor = ask;
    opts.ask_floor_arg = db;
    if (rf_acquire(from, "r", &opts, &lock) != RF_OK)
        fail_msg("%s", rf_message(from));
    return lock;
}

/* How long the counter and the lock have still. */
static long long counter_ms(redis_server *at)
{
    return redis_server_number(at, "PTTL " COUNTER, "r");
}

static long long lock_ms(redis_server *at)
{
    return redis_server_number(at, "PTTL " LOCK, "r");
}

/* As if it had been idle for nearly as long as it may be. */
static void age_counter(redis_server *at, long long left_ms)
{
    char ms[24];

    snprintf(ms, sizeof(ms), "%lld", left_ms);
    assert_int_equal(redis_server_number(at, "PEXPIRE " COUNTER " %s", "r", ms),
                     1);
}

/* ---- While there is a lock --------------------------------------------------- */

static void test_every_grant_lets_the_counter_live_beyond_the_lock(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 2; i++) {
        lock = take(going, &db, 30000);
        assert_in_range(counter_ms(server), IDLE_MS + 20000, IDLE_MS + 30000);
        assert_status(rf_release(lock), RF_OK);
        age_counter(server, 5000);
    }
    assert_int_equal(db.asked, 1);
    rf_close(going);
}

static void test_an_idle_time_below_the_lock_s_ends_after_the_lock(void **state)
{
    rf_client *going = open_with(redis_server_url(server), 1);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 60000);

    (void)state;
    assert_true(counter_ms(server) > lock_ms(server) - 1000);
    assert_in_range(counter_ms(server), 50000, 60001);
    assert_status(rf_renew(lock, 120000), RF_OK);
    assert_in_range(counter_ms(server), 110000, 120001);
    rf_release(lock);
    rf_close(going);
}

static void test_renewing_does_not_let_the_counter_go(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 30000);

    (void)state;
    age_counter(server, 5000);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_in_range(counter_ms(server), IDLE_MS + 20000, IDLE_MS + 30000);
    rf_release(lock);
    rf_close(going);
}

static void test_keeping_does_not_let_the_counter_go(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 600);

    (void)state;
    age_counter(server, 5000);
    assert_status(rf_keep(lock, NULL), RF_OK);
    wait_until(counter_ms(server) > IDLE_MS);
    assert_true(rf_lock_fence(lock) == 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(going);
}

static void test_who_goes_on_with_a_grant_does_not_let_it_go_either(
    void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_client *another = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 30000), *same;

    (void)state;
    age_counter(server, 5000);
    assert_status(rf_attach(another, "r", rf_lock_fence(lock),
                            rf_lock_holder(lock), &same),
                  RF_OK);
    assert_status(rf_renew(same, 60000), RF_OK);
    assert_true(counter_ms(server) > IDLE_MS);
    rf_detach(same);
    rf_release(lock);
    rf_close(another);
    rf_close(going);
}

static void test_a_raised_number_lets_the_counter_live_as_well(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 30000);

    (void)state;
    redis_server_command(server, "DEL " COUNTER, "r");
    assert_status(rf_reissue(lock, 70), RF_OK);
    assert_true(rf_lock_fence(lock) == 71);
    assert_in_range(counter_ms(server), IDLE_MS + 20000, IDLE_MS + 30000);
    age_counter(server, 5000);
    assert_status(rf_reissue(lock, 80), RF_OK);
    assert_in_range(counter_ms(server), IDLE_MS + 20000, IDLE_MS + 30000);
    rf_release(lock);
    rf_close(going);
}

static void test_several_at_once_each_live_beyond_their_lock(void **state)
{
    static const char *const names[] = { "q", "r" };
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    database db = { 0, 0 };
    rf_lock *locks[2];

    (void)state;
    opts.ask_floor = ask;
    opts.ask_floor_arg = &db;
    assert_status(rf_acquire_all(going, names, 2, &opts, locks), RF_OK);
    for (int i = 0; i < 2; i++)
        assert_in_range(redis_server_number(server, "PTTL " COUNTER, names[i]),
                        IDLE_MS + 20000, IDLE_MS + 30000);
    assert_status(rf_release_all(locks, 2), RF_OK);
    age_counter(server, 5000);
    assert_status(rf_acquire_all(going, names, 2, &opts, locks), RF_OK);
    assert_true(counter_ms(server) > IDLE_MS);
    assert_status(rf_release_all(locks, 2), RF_OK);
    rf_close(going);
}

/* ---- When it is gone ----------------------------------------------------------- */

static void test_gone_counter_is_asked_for_and_restarts_above(void **state)
{
    rf_client *going = open_with(redis_server_url(server), 1);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 200);

    (void)state;
    assert_true(rf_lock_fence(lock) == 1);
    db.newest = 1; /* claimed */
    /* Nobody gives it back: it runs out, and its counter right after it. */
    wait_until(redis_server_number(server, "DBSIZE") == 0);
    rf_release(lock);
    lock = take(going, &db, 30000);
    assert_int_equal(db.asked, 2);
    assert_true(rf_lock_fence(lock) == 2);
    rf_release(lock);
    rf_close(going);
}

/* Evicted, or deleted by hand: the lock still excludes, and still ends well. */
static void test_counter_that_goes_while_held_harms_nobody(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    database db = { 0, 4 };
    rf_lock *lock = take(going, &db, 30000), *other;

    (void)state;
    assert_true(rf_lock_fence(lock) == 5);
    db.newest = 5;
    redis_server_command(server, "DEL " COUNTER, "r");
    opts.ask_floor = ask;
    opts.ask_floor_arg = &db;
    assert_status(rf_acquire(going, "r", &opts, &other), RF_BUSY);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    lock = take(going, &db, 30000);
    assert_true(rf_lock_fence(lock) == 6);
    rf_release(lock);
    rf_close(going);
}

/* ---- Who may have it, and who not ---------------------------------------------- */

static void test_without_a_floor_to_ask_for_it_is_misuse(void **state)
{
    static const char *const names[] = { "q", "r" };
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *locks[2];

    (void)state;
    assert_status(rf_acquire(going, "r", NULL, locks), RF_MISUSE);
    assert_non_null(strstr(rf_message(going), "ask_floor"));
    opts.floor = 7; /* known now, but not when the counter is gone */
    assert_status(rf_acquire(going, "r", &opts, locks), RF_MISUSE);
    assert_status(rf_acquire_all(going, names, 2, NULL, locks), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    /* Who only reads has no number. */
    opts.floor = 0;
    opts.shared = 1;
    assert_status(rf_acquire(going, "r", &opts, locks), RF_OK);
    assert_status(rf_release(locks[0]), RF_OK);
    rf_close(going);
}

static void test_only_a_time_that_makes_sense_and_only_redis(void **state)
{
    static const int64_t bad[] = { -1, RF_IDLE_MAX_MS + 1, INT64_MIN,
                                   INT64_MAX };
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *none;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.counter_idle_ms = bad[i];
        assert_status(rf_open(redis_server_url(server), &opts, &none),
                      RF_MISUSE);
        assert_non_null(strstr(rf_message(NULL), "counter_idle_ms"));
    }
    opts.counter_idle_ms = IDLE_MS;
    assert_status(rf_open("postgresql://h/d", &opts, &none), RF_MISUSE);
    assert_non_null(strstr(rf_message(NULL), "counter_idle_ms"));
    assert_status(rf_open("etcd://h", &opts, &none), RF_MISUSE);
    assert_status(rf_open("zookeeper://h", &opts, &none), RF_MISUSE);
    opts.counter_idle_ms = RF_IDLE_MAX_MS;
    assert_status(rf_open(redis_server_url(server), &opts, &none), RF_OK);
    rf_close(none);
}

/* The longest of both is still a time that Redis takes. */
static void test_longest_idle_time_and_longest_lock_together(void **state)
{
    rf_client *going = open_with(redis_server_url(server), RF_IDLE_MAX_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, RF_TTL_MAX_MS);

    (void)state;
    assert_true(counter_ms(server) > RF_IDLE_MAX_MS);
    assert_status(rf_release(lock), RF_OK);
    rf_close(going);
}

/* It can't tell a counter that is to go from one that is about to be lost. */
static void test_who_can_ask_nobody_is_refused_a_counter_that_goes(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock;

    (void)state;
    rf_release(take(going, &db, 30000));
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "time to live"));
    rf_close(going);
}

/* So that programs can be changed one after the other, in both directions. */
static void test_who_can_ask_makes_it_stay_again(void **state)
{
    static const char *const names[] = { "q", "r" };
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    database db = { 0, 0 };
    rf_lock *locks[2];

    (void)state;
    rf_release(take(going, &db, 30000));
    locks[0] = take(client, &db, 30000);
    assert_true(rf_lock_fence(locks[0]) == 2);
    assert_int_equal(counter_ms(server), -1);
    rf_release(locks[0]);

    rf_release(take(going, &db, 30000));
    assert_true(counter_ms(server) > IDLE_MS);
    opts.ask_floor = ask;
    opts.ask_floor_arg = &db;
    assert_status(rf_acquire_all(client, names, 2, &opts, locks), RF_OK);
    assert_true(rf_lock_fence(locks[1]) == 4);
    assert_int_equal(counter_ms(server), -1);
    rf_release_all(locks, 2);
    rf_close(going);
}

/* ---- Seen from outside --------------------------------------------------------- */

static void test_inspect_tells_how_long_the_counter_stays(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    database db = { 0, 0 };
    rf_info info;

    (void)state;
    rf_release(take(client, &db, 30000));
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_true(info.counter == 1 && info.counter_left_ms == 0);
    rf_release(take(going, &db, 30000));
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_true(info.counter == 2);
    assert_in_range(info.counter_left_ms, IDLE_MS, IDLE_MS + 30000);
    rf_close(going);
}

static void note_counters(const rf_finding *finding, void *arg)
{
    if (strcmp(finding->subject, "counters") == 0)
        *(rf_severity *)arg = finding->severity;
}

static void test_the_doctor_knows_what_was_asked_for(void **state)
{
    rf_client *going = open_with(redis_server_url(server), IDLE_MS);
    rf_severity severity = RF_CRITICAL;
    database db = { 0, 0 };

    (void)state;
    rf_release(take(going, &db, 30000));
    assert_status(rf_examine(going, note_counters, &severity), RF_OK);
    assert_int_equal(severity, RF_FINE);
    assert_status(rf_examine(client, note_counters, &severity), RF_OK);
    assert_int_equal(severity, RF_NOTICE);
    rf_close(going);
}

/* ---- Several servers ------------------------------------------------------------- */

#define MASTERS 3

static redis_server *master[MASTERS];

static rf_client *open_quorum(void)
{
    char url[128];

    snprintf(url, sizeof(url),
             "redlock://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             redis_server_port(master[0]), redis_server_port(master[1]),
             redis_server_port(master[2]));
    return open_with(url, IDLE_MS);
}

static int start_masters(void **state)
{
    for (int i = 0; i < MASTERS; i++)
        master[i] = redis_server_start(NULL);
    return open_client(state);
}

static int stop_masters(void **state)
{
    for (int i = 0; i < MASTERS; i++)
        redis_server_stop(master[i]);
    return redis_world_close(state);
}

/*
 * A master that has forgotten is no witness that a number is new: it takes part
 * only with a floor, and no majority is had without.
 */
static void test_quorum_asks_when_too_many_counters_are_gone(void **state)
{
    rf_client *going = open_quorum();
    database db = { 0, 0 };
    rf_lock *lock;

    (void)state;
    lock = take(going, &db, 30000);
    db.newest = rf_lock_fence(lock);
    for (int i = 0; i < MASTERS; i++)
        wait_until(counter_ms(master[i]) > IDLE_MS);
    rf_release(lock);

    /* One of three is gone: the others know. */
    wait_until(lock_ms(master[0]) == -2);
    redis_server_command(master[0], "DEL " COUNTER, "r");
    db.asked = 0;
    lock = take(going, &db, 30000);
    assert_int_equal(db.asked, 0);
    assert_true(rf_lock_fence(lock) > db.newest);
    db.newest = rf_lock_fence(lock);
    rf_release(lock);

    /* Two are: whatever the third says, the database is asked. */
    for (int i = 0; i < 2; i++) {
        wait_until(lock_ms(master[i]) == -2);
        redis_server_command(master[i], "DEL " COUNTER, "r");
    }
    redis_server_command(master[2], "SET " COUNTER " 1", "r");
    db.newest = 70;
    lock = take(going, &db, 30000);
    assert_true(db.asked > 0);
    assert_true(rf_lock_fence(lock) > 70);
    for (int i = 0; i < MASTERS; i++)
        wait_until(counter_ms(master[i]) > IDLE_MS);
    assert_status(rf_renew(lock, 60000), RF_OK);
    for (int i = 0; i < MASTERS; i++)
        wait_until(counter_ms(master[i]) > IDLE_MS + 35000);
    rf_release(lock);
    rf_close(going);
}

/* A master that is raised to the others' number keeps it as long as they do. */
static void test_quorum_s_raised_counter_goes_with_the_others(void **state)
{
    rf_client *going = open_quorum();
    database db = { 0, 0 };
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < MASTERS; i++) {
        redis_server_command(master[i], "SET " COUNTER " %s", "r",
                             i == 0 ? "50" : "5");
    }
    lock = take(going, &db, 30000);
    for (int i = 1; i < MASTERS; i++) {
        if (redis_server_number(master[i], "GET " COUNTER, "r") !=
            rf_lock_fence(lock))
            continue;
        assert_in_range(counter_ms(master[i]), IDLE_MS + 1, IDLE_MS + 30000);
    }
    rf_release(lock);
    rf_close(going);
}

static void test_a_cluster_s_nodes_and_a_keeper_s_connection_know_it(
    void **state)
{
    redis_cluster *c = redis_cluster_start();
    rf_client *going = open_with(c->url, IDLE_MS);
    database db = { 0, 0 };
    rf_lock *lock = take(going, &db, 600);
    rf_info info;

    (void)state;
    assert_status(rf_keep(lock, NULL), RF_OK);
    wait_until(rf_inspect(going, "r", &info) == RF_OK &&
               info.counter_left_ms > IDLE_MS && info.left_ms > 0);
    assert_true(rf_lock_fence(lock) > 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(going);
    redis_cluster_stop(c);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
#define QUORUM_CASE(name) \
    cmocka_unit_test_setup_teardown(name, start_masters, stop_masters)
    const struct CMUnitTest tests[] = {
        CASE(test_every_grant_lets_the_counter_live_beyond_the_lock),
        CASE(test_an_idle_time_below_the_lock_s_ends_after_the_lock),
        CASE(test_renewing_does_not_let_the_counter_go),
        CASE(test_keeping_does_not_let_the_counter_go),
        CASE(test_who_goes_on_with_a_grant_does_not_let_it_go_either),
        CASE(test_a_raised_number_lets_the_counter_live_as_well),
        CASE(test_several_at_once_each_live_beyond_their_lock),
        CASE(test_gone_counter_is_asked_for_and_restarts_above),
        CASE(test_counter_that_goes_while_held_harms_nobody),
        CASE(test_without_a_floor_to_ask_for_it_is_misuse),
        CASE(test_only_a_time_that_makes_sense_and_only_redis),
        CASE(test_longest_idle_time_and_longest_lock_together),
        CASE(test_who_can_ask_nobody_is_refused_a_counter_that_goes),
        CASE(test_who_can_ask_makes_it_stay_again),
        CASE(test_inspect_tells_how_long_the_counter_stays),
        CASE(test_the_doctor_knows_what_was_asked_for),
        QUORUM_CASE(test_quorum_asks_when_too_many_counters_are_gone),
        QUORUM_CASE(test_quorum_s_raised_counter_goes_with_the_others),
        CASE(test_a_cluster_s_nodes_and_a_keeper_s_connection_know_it),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
