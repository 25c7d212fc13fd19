/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_floor.c - a counter that is missing is never restarted in silence
 */
#include <string.h>

#include "pg_proxy.h"
#include "pg_world.h"

/* ---- The callback -------------------------------------------------------------- */

typedef struct oracle {
    int asked;
    rf_fence answer;
    rf_status status;
} oracle;

static rf_status answer(void *arg, const char *resource, rf_fence *out)
{
    oracle *o = arg;

    assert_string_equal(resource, "r");
    o->asked++;
    *out = o->answer;
    return o->status;
}

static rf_status acquire(oracle *o, rf_fence floor, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.floor = floor;
    opts.ask_floor = answer;
    opts.ask_floor_arg = o;
    return rf_acquire(world.client, "r", &opts, out);
}

static void assert_fence(oracle *o, rf_fence floor, rf_fence expected)
{
    rf_lock *lock;

    assert_outcome(acquire(o, floor, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), expected);
    rf_release(lock);
}

static void test_missing_counter_starts_above_the_floor(void **state)
{
    oracle o = { .answer = 41 };

    (void)state;
    assert_fence(&o, 0, 42);
    assert_int_equal(o.asked, 1);
}

static void test_new_resource_starts_at_1(void **state)
{
    oracle o = { .answer = 0 };

    (void)state;
    assert_fence(&o, 0, 1);
}

static void test_nobody_is_asked_while_there_is_a_counter(void **state)
{
    oracle o = { .answer = 41 };

    (void)state;
    redis_server_command(world.redis, "SET {lock:v1:r}:fence 7");
    assert_fence(&o, 0, 8);
    assert_int_equal(o.asked, 0);
}

static void test_nobody_is_asked_when_the_floor_is_given(void **state)
{
    oracle o = { .answer = 41 };

    (void)state;
    assert_fence(&o, 10, 11);
    assert_int_equal(o.asked, 0);
}

static void assert_refused(rf_status status, rf_fence value, rf_status expected)
{
    oracle o = { .answer = value, .status = status };
    rf_lock *lock = (rf_lock *)1;

    assert_outcome(acquire(&o, 0, &lock), expected);
    assert_null(lock);
    assert_int_equal(o.asked, 1);
    assert_true(strlen(rf_message(world.client)) > 0);
    assert_int_equal(redis_server_number(world.redis, "DBSIZE"), 0);
}

static void test_failure_to_learn_the_floor_issues_nothing(void **state)
{
    (void)state;
    assert_refused(RF_RETRY, 0, RF_RETRY);
    assert_refused(RF_UNKNOWN, 0, RF_RETRY);
    assert_refused(RF_MISUSE, 0, RF_MISUSE);
    assert_refused(RF_OK, -1, RF_MISUSE);
    assert_refused(RF_OK, RF_FENCE_MAX + 1, RF_MISUSE);
    assert_refused(RF_OK, RF_FENCE_MAX, RF_MISUSE);
}

static void test_failure_to_learn_is_tried_again_while_there_is_time(
    void **state)
{
    oracle o = { .status = RF_RETRY };
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.wait_ms = 200;
    opts.ask_floor = answer;
    opts.ask_floor_arg = &o;
    assert_outcome(rf_acquire(world.client, "r", &opts, &lock), RF_RETRY);
    assert_true(o.asked > 1);
}

static rf_status answer_by_name(void *arg, const char *resource, rf_fence *out)
{
    int *asked = arg;

    ++*asked;
    *out = strcmp(resource, "b") == 0 ? 41 : 7;
    return RF_OK;
}

static void test_several_locks_start_above_the_highest_floor(void **state)
{
    static const char *const resources[] = { "a", "b", "c" };
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *locks[3];
    int asked = 0;

    (void)state;
    redis_server_command(world.redis, "SET {lock:v1:a}:fence 100");
    opts.ask_floor = answer_by_name;
    opts.ask_floor_arg = &asked;
    assert_outcome(rf_acquire_all(world.client, resources, 3, &opts, locks),
                   RF_OK);
    assert_int_equal(asked, 3);
    assert_int_equal(rf_lock_fence(locks[0]), 101);
    assert_int_equal(rf_lock_fence(locks[1]), 42);
    assert_int_equal(rf_lock_fence(locks[2]), 42);
    rf_release_all(locks, 3);
    assert_outcome(rf_acquire_all(world.client, resources, 3, &opts, locks),
                   RF_OK);
    assert_int_equal(asked, 3);
    rf_release_all(locks, 3);
}

/* ---- The database's answer ------------------------------------------------------ */

static void test_database_tells_the_newest_fence(void **state)
{
    rf_fence floor = -1;

    (void)state;
    assert_status(rf_pg_floor(world.conn, "r", &floor), RF_OK);
    assert_int_equal(floor, 0);
    database_run(world.admin, "SELECT ringfence.guard('r', 41)");
    assert_status(rf_pg_floor(world.conn, "r", &floor), RF_OK);
    assert_int_equal(floor, 41);
    world_assert_idle();
}

static void test_database_answers_for_a_plain_lock(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    database_run(world.admin, "SELECT ringfence.guard('r', 41)");
    opts.ask_floor = rf_pg_floor;
    opts.ask_floor_arg = world.conn;
    assert_outcome(rf_acquire(world.client, "r", &opts, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 42);
    rf_release(lock);
}

static rf_status open_for_ever_new_resources(const char *url, rf_client **out)
{
    rf_options opts = RF_OPTIONS_INIT;

    opts.counter_idle_ms = 30LL * 24 * 3600 * 1000; /* 30 days */
    return rf_open(url, &opts, out);
}

/* What was claimed is remembered for Redis, so nothing of this can be refused. */
static void test_idle_counter_that_went_is_made_good_from_the_claims(
    void **state)
{
    const char *counter = "{lock:v1:r}:fence";
    rf_client *client;
    rf_lock *lock;

    (void)state;
    assert_status(
        open_for_ever_new_resources(redis_server_url(world.redis), &client),
        RF_OK);
    database_run(world.admin, "SELECT ringfence.guard('r', 41)");
    for (rf_fence next = 42; next < 45; next++) {
        assert_outcome(rf_pg_acquire(client, world.conn, "r", NULL, &lock),
                       RF_OK);
        assert_int_equal(rf_lock_fence(lock), next);
        assert_true(redis_server_number(world.redis, "PTTL %s", counter) >
                    2505600000); /* 29 days */
        assert_status(rf_release(lock), RF_OK);
        redis_server_command(world.redis, "DEL %s", counter);
    }
    rf_close(client);
}

static void test_database_that_can_not_be_asked_is_told_apart(void **state)
{
    PGconn *empty = database_connect("dbname=template1");
    rf_fence floor = -1;

    (void)state;
    assert_status(rf_pg_floor(NULL, "r", &floor), RF_MISUSE);
    assert_status(rf_pg_floor(world.conn, NULL, &floor), RF_MISUSE);
    assert_status(rf_pg_floor(world.conn, "r", NULL), RF_MISUSE);
    assert_status(rf_pg_floor(empty, "r", &floor), RF_MISUSE);
    database_run(world.conn, "BEGIN");
    assert_status(rf_pg_floor(world.conn, "r", &floor), RF_MISUSE);
    database_run(world.conn, "ROLLBACK");
    database_terminate(world.admin, world.conn);
    assert_status(rf_pg_floor(world.conn, "r", &floor), RF_RETRY);
    assert_status(rf_pg_floor(world.conn, "r", &floor), RF_RETRY);
    assert_int_equal(floor, 0);
    PQfinish(empty);
}

static void test_cut_off_question_is_retry(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *conn = database_connect(pg_proxy_options(proxy));
    rf_fence floor;

    (void)state;
    pg_proxy_set(proxy, PG_CUT_AFTER, 0);
    assert_status(rf_pg_floor(conn, "r", &floor), RF_RETRY);
    PQfinish(conn);
    pg_proxy_stop(proxy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_missing_counter_starts_above_the_floor),
        world_test(test_new_resource_starts_at_1),
        world_test(test_nobody_is_asked_while_there_is_a_counter),
        world_test(test_nobody_is_asked_when_the_floor_is_given),
        world_test(test_failure_to_learn_the_floor_issues_nothing),
        world_test(test_failure_to_learn_is_tried_again_while_there_is_time),
        world_test(test_several_locks_start_above_the_highest_floor),
        world_test(test_database_tells_the_newest_fence),
        world_test(test_database_answers_for_a_plain_lock),
        world_test(test_idle_counter_that_went_is_made_good_from_the_claims),
        world_test(test_database_that_can_not_be_asked_is_told_apart),
        world_test(test_cut_off_question_is_retry),
    };

    return run_group(tests, world_start, world_stop);
}
