/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_deadline.c - the one clock, and what is left of a grant by it
 */
#include "rf_test.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "internal.h"

static void test_clock_is_the_one_that_counts_suspend(void **state)
{
    struct timespec t;
    int64_t before = rf__now_ms(), direct;

    (void)state;
    clock_gettime(CLOCK_BOOTTIME, &t);
    direct = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    assert_true(before <= direct);
    assert_true(rf__now_ms() >= direct);
}

static void test_deadline_is_a_hundredth_and_2_ms_before_the_end(void **state)
{
    (void)state;
    assert_int_equal(rf__deadline_ms(1000, 30000), 1000 + 30000 - 300 - 2);
    assert_int_equal(rf__deadline_ms(1000, 99), 1000 + 99 - 2);
    assert_int_equal(rf__deadline_ms(0, RF_TTL_MAX_MS), 86400000 - 864000 - 2);
}

static void test_shortest_ttl_leaves_nothing(void **state)
{
    (void)state;
    assert_true(rf__deadline_ms(1000, 1) < 1000);
    assert_true(rf__deadline_ms(1000, 2) == 1000);
}

static void test_nothing_is_left_after_the_deadline(void **state)
{
    (void)state;
    assert_int_equal(rf__left_ms(rf__now_ms() - 1), 0);
    assert_int_equal(rf__left_ms(INT64_MIN / 2), 0);
    assert_in_range(rf__left_ms(rf__now_ms() + 1000), 900, 1000);
    assert_int_equal(rf__left_ms(INT64_MAX / 2), RF_TTL_MAX_MS);
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void test_sleep_is_not_cut_short_by_signals(void **state)
{
    struct sigaction action = { .sa_handler = on_alarm };
    struct itimerval every = { { 0, 5000 }, { 0, 5000 } },
                     off = { { 0, 0 }, { 0, 0 } };
    int64_t until = rf__now_ms() + 100;

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    rf__sleep_until_ms(until);
    setitimer(ITIMER_REAL, &off, NULL);
    assert_true(rf__now_ms() >= until);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_is_the_one_that_counts_suspend),
        cmocka_unit_test(test_deadline_is_a_hundredth_and_2_ms_before_the_end),
        cmocka_unit_test(test_shortest_ttl_leaves_nothing),
        cmocka_unit_test(test_nothing_is_left_after_the_deadline),
        cmocka_unit_test(test_sleep_is_not_cut_short_by_signals),
    };

    return run_group(tests, NULL, NULL);
}
