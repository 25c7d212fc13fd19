/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_lock.c - what a grant means, on a real Redis
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "redis_server.h"

static redis_server *server;
static rf_client *client;

#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"

static int start(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

static int open_client(void **state)
{
    (void)state;
    redis_server_command(server, "FLUSHALL");
    return rf_open(redis_server_url(server), NULL, &client) != RF_OK;
}

static int close_client(void **state)
{
    (void)state;
    rf_close(client);
    return 0;
}

static rf_lock *acquire(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = ttl_ms;
    assert_int_equal(rf_acquire(client, resource, &opts, &lock), RF_OK);
    assert_non_null(lock);
    return lock;
}

static rf_status try_acquire(const char *resource)
{
    rf_lock *lock;
    rf_status status = rf_acquire(client, resource, NULL, &lock);

    assert_true((lock != NULL) == (status == RF_OK));
    rf_release(lock);
    return status;
}

static void test_first_fence_is_1_and_each_next_one_is_larger(void **state)
{
    rf_fence before = 0;

    (void)state;
    for (int i = 1; i <= 5; i++) {
        rf_lock *lock = acquire("r", 30000);

        assert_int_equal(rf_lock_fence(lock), i);
        assert_true(rf_lock_fence(lock) > before);
        before = rf_lock_fence(lock);
        assert_int_equal(rf_release(lock), RF_OK);
    }
}

static void test_lock_is_one_key_with_fence_holder_and_ttl(void **state)
{
    rf_lock *lock = acquire("r", 30000);
    char expected[64];

    (void)state;
    snprintf(expected, sizeof(expected), "1:%s", rf_lock_holder(lock));
    assert_string_equal(redis_server_command(server, "GET " LOCK, "r"),
                        expected);
    assert_in_range(redis_server_number(server, "PTTL " LOCK, "r"), 20000,
                    30000);
    assert_int_equal(redis_server_number(server, "PTTL " COUNTER, "r"), -1);
    rf_release(lock);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_int_equal(redis_server_number(server, "EXISTS " COUNTER, "r"), 1);
}

static void test_second_holder_is_busy_and_told_how_long(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_int_equal(try_acquire("r"), RF_BUSY);
    assert_in_range(rf_busy_ms(client), 20000, 30000);
    rf_release(lock);
    assert_int_equal(try_acquire("r"), RF_OK);
    assert_int_equal(rf_busy_ms(client), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, close_client)
        CASE(test_first_fence_is_1_and_each_next_one_is_larger),
        CASE(test_lock_is_one_key_with_fence_holder_and_ttl),
        CASE(test_second_holder_is_busy_and_told_how_long),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
