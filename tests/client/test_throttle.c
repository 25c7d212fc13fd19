/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_throttle.c - what protects Redis from its clients
 */
#include "rf_test.h"

#include <string.h>

#include "internal.h"
#include "redis_world.h"

static rf_options opts;

static int prepare(void **state)
{
    static const rf_options defaults = RF_OPTIONS_INIT;

    (void)state;
    opts = defaults;
    redis_server_command(server, "FLUSHALL");
    fault = proxy_start(redis_server_socket(server));
    client = NULL;
    return 0;
}

static void open_client(void)
{
    assert_status(rf_open(proxy_url(fault), &opts, &client), RF_OK);
}

static rf_status try_acquire(int64_t wait_ms)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_lock *lock;
    rf_status status;

    a.wait_ms = wait_ms;
    status = rf_acquire(client, "r", &a, &lock);
    rf_release(lock);
    return status;
}

static void test_rate_limit_lets_a_second_s_worth_through_and_no_more(
    void **state)
{
    int granted = 0, refused = 0, before;

    (void)state;
    opts.rate_per_s = 20;
    open_client();
    for (int i = 0; i < 30; i++) {
        rf_status status = try_acquire(0);

        granted += status == RF_OK;
        refused += status == RF_REFUSED;
    }
    assert_in_range(granted, 20, 24);
    assert_int_equal(granted + refused, 30);
    assert_non_null(strstr(rf_message(client), "20 requests"));
    before = proxy_requests(fault);
    while (try_acquire(0) == RF_OK)
        continue;
    assert_in_range(proxy_requests(fault) - before, 0, 8);
    rf__sleep_until_ms(rf__now_ms() + 300);
    assert_status(try_acquire(0), RF_OK);
}

static void test_rate_limit_holds_back_no_renewal_and_no_release(void **state)
{
    rf_lock *lock;

    (void)state;
    opts.rate_per_s = 1;
    open_client();
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    for (int i = 0; i < 20; i++)
        assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    assert_status(try_acquire(0), RF_REFUSED);
}

static void test_who_may_wait_waits_for_the_rate_limit(void **state)
{
    int64_t since;

    (void)state;
    opts.rate_per_s = 4;
    open_client();
    while (try_acquire(0) == RF_OK)
        continue;
    since = test_now_ms();
    assert_status(try_acquire(5000), RF_OK);
    assert_at_most_ms(since, 3000);
}

static void test_breaker_opens_after_failures_and_asks_redis_no_more(
    void **state)
{
    int before;

    (void)state;
    opts.timeout_ms = 100;
    opts.breaker_failures = 3;
    opts.breaker_ms = 500;
    open_client();
    assert_status(try_acquire(0), RF_OK);
    proxy_set(fault, PROXY_SWALLOW, 0, 1000);
    for (int i = 0; i < 3; i++)
        assert_status(try_acquire(0), RF_UNKNOWN);
    before = proxy_requests(fault);
    for (int i = 0; i < 100; i++)
        assert_status(try_acquire(0), RF_REFUSED);
    assert_non_null(strstr(rf_message(client), "breaker"));
    assert_int_equal(proxy_requests(fault), before);
}

static void test_breaker_lets_one_see_and_closes_when_it_is_answered(
    void **state)
{
    (void)state;
    opts.timeout_ms = 100;
    opts.breaker_failures = 2;
    opts.breaker_ms = 200;
    open_client();
    proxy_set(fault, PROXY_SWALLOW, 0, 1000);
    assert_status(try_acquire(0), RF_UNKNOWN);
    assert_status(try_acquire(0), RF_UNKNOWN);
    assert_status(try_acquire(0), RF_REFUSED);
    rf__sleep_until_ms(rf__now_ms() + 250);
    /* One goes to see, and it is still down. */
    assert_status(try_acquire(0), RF_UNKNOWN);
    assert_status(try_acquire(0), RF_REFUSED);
    proxy_set(fault, PROXY_PASS, 0, 0);
    assert_status(try_acquire(0), RF_REFUSED);
    rf__sleep_until_ms(rf__now_ms() + 250);
    assert_status(try_acquire(0), RF_OK);
    assert_status(try_acquire(0), RF_OK);
}

static void test_busy_locks_and_misuse_open_no_breaker(void **state)
{
    rf_lock *lock, *other;

    (void)state;
    opts.breaker_failures = 1;
    open_client();
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    for (int i = 0; i < 5; i++) {
        assert_status(rf_acquire(client, "r", NULL, &other), RF_BUSY);
        assert_status(rf_acquire(client, "", NULL, &other), RF_MISUSE);
    }
    assert_status(rf_release(lock), RF_OK);
    assert_status(try_acquire(0), RF_OK);
}

static void test_bad_limits_are_misuse(void **state)
{
    (void)state;
    opts.rate_per_s = -1;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
    opts.rate_per_s = 100001;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
    opts.rate_per_s = 0;
    opts.breaker_failures = -1;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
    opts.breaker_failures = 1;
    opts.breaker_ms = 0;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, prepare, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_rate_limit_lets_a_second_s_worth_through_and_no_more),
        CASE(test_rate_limit_holds_back_no_renewal_and_no_release),
        CASE(test_who_may_wait_waits_for_the_rate_limit),
        CASE(test_breaker_opens_after_failures_and_asks_redis_no_more),
        CASE(test_breaker_lets_one_see_and_closes_when_it_is_answered),
        CASE(test_busy_locks_and_misuse_open_no_breaker),
        CASE(test_bad_limits_are_misuse),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
