/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_examine.c - what a Redis is told to be like
 *
 * Each single sickness is given to a Redis by
 * tests/cli/the_doctor_says_what_the_fence_is_worth.sh; here is what the call
 * itself promises.
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

static int open_far(void **state)
{
    (void)state;
    return redis_world_open_far(300);
}

typedef struct told {
    int count, worst;
    int of[RF_SEVERITIES];
    char subjects[512];
} told;

static void note(const rf_finding *finding, void *arg)
{
    told *t = arg;
    size_t used = strlen(t->subjects);

    assert_non_null(finding->meaning);
    assert_non_null(finding->remedy);
    assert_string_not_equal(finding->where, "");
    assert_string_not_equal(finding->found, "");
    /* Whatever is not well is explained. */
    if (finding->severity != RF_FINE) {
        assert_string_not_equal(finding->meaning, "");
        assert_string_not_equal(finding->remedy, "");
    }
    t->count++;
    t->of[finding->severity]++;
    snprintf(t->subjects + used, sizeof(t->subjects) - used, "%s ",
             finding->subject);
}

static void test_every_question_is_answered(void **state)
{
    told t = { 0 };

    (void)state;
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_string_equal(t.subjects, "version role eviction memory persistence "
                                    "clock permissions counters ");
    assert_int_equal(t.of[RF_CRITICAL], 0);
}

static void test_nothing_is_left_behind(void **state)
{
    told t = { 0 };

    (void)state;
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
}

static void test_counters_of_others_are_not_ours_to_judge(void **state)
{
    told t = { 0 };

    (void)state;
    redis_server_command(server, "SET {other:r}:fence rubbish");
    redis_server_command(server, "SET {lock:v1:r}:fence:x rubbish");
    redis_server_command(server, "SET " COUNTER " 5", "r");
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_int_equal(t.of[RF_CRITICAL], 0);
}

static void test_not_more_bad_counters_than_one_can_read(void **state)
{
    told t = { 0 };

    (void)state;
    for (int i = 0; i < 40; i++)
        redis_server_command(server, "SET {lock:v1:%d}:fence rubbish", i);
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_int_equal(t.of[RF_CRITICAL], 10);
}

static void test_the_client_goes_on_afterwards(void **state)
{
    told t = { 0 };
    rf_lock *lock;

    (void)state;
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_status(rf_examine(client, note, &t), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

static void test_examine_without_an_answer_is_retry(void **state)
{
    told t = { 0 };
    rf_client *lonely;

    (void)state;
    proxy_set(fault, PROXY_MUTE, 0, 100);
    assert_status(rf_examine(client, note, &t), RF_RETRY);
    assert_int_equal(t.of[RF_CRITICAL], 0);
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &lonely), RF_OK);
    assert_status(rf_examine(lonely, note, &t), RF_RETRY);
    rf_close(lonely);
}

static void test_examine_demands_a_client_and_a_listener(void **state)
{
    told t = { 0 };

    (void)state;
    assert_status(rf_examine(NULL, note, &t), RF_MISUSE);
    assert_status(rf_examine(client, NULL, NULL), RF_MISUSE);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_every_question_is_answered),
        CASE(test_nothing_is_left_behind),
        CASE(test_counters_of_others_are_not_ours_to_judge),
        CASE(test_not_more_bad_counters_than_one_can_read),
        CASE(test_the_client_goes_on_afterwards),
        cmocka_unit_test_setup_teardown(test_examine_without_an_answer_is_retry,
                                        open_far, redis_world_close),
        CASE(test_examine_demands_a_client_and_a_listener),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
