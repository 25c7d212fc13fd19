/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_lock.c - what a grant means, on a real Redis
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "redis_world.h"
#include "script.h"

/* Every test talks through a proxy of its own, which passes all by default. */
static int open_client(void **state)
{
    (void)state;
    return redis_world_open_far(3000);
}

static rf_lock *acquire(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = ttl_ms;
    assert_status(rf_acquire(client, resource, &opts, &lock), RF_OK);
    assert_non_null(lock);
    return lock;
}

static rf_status try_acquire(const char *resource,
                             const rf_acquire_options *opts)
{
    rf_lock *lock = (rf_lock *)&lock;
    rf_status status = rf_acquire(client, resource, opts, &lock);

    assert_true((lock != NULL) == (status == RF_OK));
    if (lock != NULL)
        assert_status(rf_release(lock), RF_OK);
    return status;
}

static long long ttl_in_redis(const char *resource)
{
    return redis_server_number(server, "PTTL " LOCK, resource);
}

/* As if it had run out, or Redis had forgotten it. */
static void forget_lock(const char *resource)
{
    redis_server_command(server, "DEL " LOCK, resource);
}

static void set_counter(const char *resource, const char *value)
{
    redis_server_command(server, "SET " COUNTER " %s", resource, value);
}

/* ---- A grant ------------------------------------------------------------------ */

static void test_first_fence_is_1_and_each_next_one_is_larger(void **state)
{
    (void)state;
    for (int i = 1; i <= 5; i++) {
        rf_lock *lock = acquire("r", 30000);

        assert_int_equal(rf_lock_fence(lock), i);
        assert_status(rf_release(lock), RF_OK);
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
    assert_in_range(ttl_in_redis("r"), 20000, 30000);
    assert_int_equal(redis_server_number(server, "PTTL " COUNTER, "r"), -1);
    assert_string_equal(rf_lock_resource(lock), "r");
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_int_equal(redis_server_number(server, "EXISTS " COUNTER, "r"), 1);
}

static void test_deadline_is_before_the_end_in_redis(void **state)
{
    rf_lock *lock = acquire("r", 10000);

    (void)state;
    assert_true(rf_lock_left_ms(lock) <= ttl_in_redis("r") - 2);
    assert_in_range(rf_lock_left_ms(lock), 5000, 10000 - 100 - 2);
    rf_release(lock);
}

static void test_deadline_counts_from_before_the_request(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("other", 1000)); /* connected; the script is known */
    proxy_set_delay(fault, 0, 1, 400);
    lock = acquire("r", 10000);
    assert_in_range(rf_lock_left_ms(lock), 1, 10000 - 400 - 100);
    rf_release(lock);
}

static void test_holders_differ_from_grant_to_grant(void **state)
{
    rf_lock *a = acquire("a", 30000), *b = acquire("b", 30000);

    (void)state;
    assert_string_not_equal(rf_lock_holder(a), rf_lock_holder(b));
    assert_true(rf__holder_valid(rf_lock_holder(a)));
    rf_release(a);
    rf_release(b);
}

static void test_fence_is_0_after_the_deadline(void **state)
{
    rf_lock *lock = acquire("r", 150);

    (void)state;
    assert_int_equal(rf_lock_fence(lock), 1);
    rf__sleep_until_ms(rf__now_ms() + 160);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_int_equal(rf_lock_left_ms(lock), 0);
    assert_status(rf__lock_state(lock), RF_LOST);
    assert_status(rf_renew(lock, 1000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_second_holder_is_busy_and_told_how_long(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(try_acquire("r", NULL), RF_BUSY);
    assert_in_range(rf_busy_ms(client), 20000, 30000);
    assert_string_not_equal(rf_message(client), "");
    rf_release(lock);
    assert_status(try_acquire("r", NULL), RF_OK);
    assert_int_equal(rf_busy_ms(client), -1);
}

static void test_foreign_lock_is_busy(void **state)
{
    rf_info info;

    (void)state;
    redis_server_command(server, "SET " LOCK " token NX PX 30000", "r");
    assert_status(try_acquire("r", NULL), RF_BUSY);
    assert_in_range(rf_busy_ms(client), 20000, 30000);
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.held, 1);
    assert_int_equal(info.fence, 0);
    assert_string_equal(info.holder, "");
    redis_server_command(server, "PERSIST " LOCK, "r");
    assert_status(try_acquire("r", NULL), RF_BUSY);
    assert_int_equal(rf_busy_ms(client), -1);
}

static void test_locks_of_different_resources_do_not_meet(void **state)
{
    rf_lock *a = acquire("a", 30000), *b = acquire("a}:fence", 30000);

    (void)state;
    assert_int_equal(rf_lock_fence(a), 1);
    assert_int_equal(rf_lock_fence(b), 1);
    assert_status(rf_release(b), RF_OK);
    assert_status(rf_release(a), RF_OK);
}

static void test_grant_that_comes_too_late_is_given_back(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    (void)state;
    rf_release(acquire("other", 1000));
    opts.ttl_ms = 200;
    proxy_set_delay(fault, 0, 1, 250);
    assert_status(try_acquire("r", &opts), RF_RETRY);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    opts.ttl_ms = 1;
    assert_status(try_acquire("r", &opts), RF_RETRY);
}

/* Whether it went back can't be told, so it is not said that nothing landed. */
static void test_grant_too_late_that_may_not_be_back_is_unknown(void **state)
{
    static const char *const names[] = { "a", "b" };
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *both[2];

    (void)state;
    rf_release(acquire("r", 30000));
    assert_status(rf_acquire_all(client, names, 2, NULL, both), RF_OK);
    assert_status(rf_release_all(both, 2), RF_OK);
    opts.ttl_ms = 1; /* too late whenever it comes */
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 100);
    assert_status(try_acquire("r", &opts), RF_UNKNOWN);
    assert_non_null(strstr(rf_message(client), "too late"));
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 100);
    assert_status(rf_acquire_all(client, names, 2, &opts, both), RF_UNKNOWN);
    assert_non_null(strstr(rf_message(client), "too late"));
    proxy_set(fault, PROXY_PASS, 0, 0);
}

/* ---- Bad input ------------------------------------------------------------------- */

static void expect_misuse(const char *resource, const rf_acquire_options *opts)
{
    assert_status(try_acquire(resource, opts), RF_MISUSE);
    assert_true(strlen(rf_message(client)) > 5);
}

static void test_bad_resources_are_misuse_and_nothing_is_sent(void **state)
{
    static const char *const bad[] = {
        "",
        "a\nb",
        "\t",
        "a\x7f",
        "\x01",
        "a\xc2\x85",        /* C1 control               */
        "\xff",             /* no UTF-8 at all          */
        "\xc3",             /* cut off                  */
        "\xc3(",            /* wrong second byte        */
        "\xc0\xaf",         /* overlong /               */
        "\xe0\x80\xaf",     /* overlong /               */
        "\xf0\x80\x80\xaf", /* overlong /               */
        "\xed\xa0\x80",     /* surrogate                */
        "\xf4\x90\x80\x80", /* above U+10FFFF           */
        "\xf8\x88\x80\x80\x80",
        "\x80",
        "ok\xe2\x82",
    };
    rf_info info;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_misuse(bad[i], NULL);
        assert_status(rf_inspect(client, bad[i], &info), RF_MISUSE);
    }
    expect_misuse(NULL, NULL);
    assert_int_equal(proxy_requests(fault), 0);
}

static void test_resource_may_have_255_bytes_and_no_more(void **state)
{
    char name[300];

    (void)state;
    memset(name, 'a', sizeof(name));
    name[255] = '\0';
    assert_status(try_acquire(name, NULL), RF_OK);
    name[255] = 'a', name[256] = '\0';
    expect_misuse(name, NULL);
    /* 127 letters of two bytes, and one of three: 257. */
    for (int i = 0; i < 254; i += 2)
        memcpy(name + i, "\xc3\xbc", 2);
    memcpy(name + 254, "\xe2\x82\xac", 4);
    expect_misuse(name, NULL);
}

static void test_utf8_and_braces_are_fine(void **state)
{
    static const char *const good[] = { "lager:\xc3\xbc\x62\x65r",
                                        "\xe6\x9d\xb1\xe4\xba\xac",
                                        "\xf0\x9f\x94\x92",
                                        "{}",
                                        "}",
                                        "a b",
                                        "\"'\\$%",
                                        "\xf4\x8f\xbf\xbf" };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        rf_lock *lock = acquire(good[i], 30000);

        assert_status(try_acquire(good[i], NULL), RF_BUSY);
        assert_status(rf_release(lock), RF_OK);
    }
}

static void test_bad_options_are_misuse_and_nothing_is_sent(void **state)
{
    static const int64_t bad_ttl[] = { 0, -1, RF_TTL_MAX_MS + 1, INT64_MAX,
                                       INT64_MIN };
    static const rf_fence bad_floor[] = { -1, RF_FENCE_MAX + 1, INT64_MAX,
                                          INT64_MIN };
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(bad_ttl) / sizeof(bad_ttl[0]); i++) {
        opts.ttl_ms = bad_ttl[i];
        expect_misuse("r", &opts);
    }
    opts.ttl_ms = 1000;
    for (size_t i = 0; i < sizeof(bad_floor) / sizeof(bad_floor[0]); i++) {
        opts.floor = bad_floor[i];
        expect_misuse("r", &opts);
    }
    opts.floor = 0;
    opts.wait_ms = -1;
    expect_misuse("r", &opts);
    opts.wait_ms = RF_TTL_MAX_MS + 1;
    expect_misuse("r", &opts);
    opts.wait_ms = 0;
    opts.holder = "";
    expect_misuse("r", &opts);
    opts.holder = "0123456789ABCDEF0123456789ABCDEF";
    expect_misuse("r", &opts);
    assert_int_equal(proxy_requests(fault), 0);
}

static void test_longest_ttl_and_largest_fence_are_fine(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.ttl_ms = RF_TTL_MAX_MS;
    opts.floor = RF_FENCE_MAX - 1;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == RF_FENCE_MAX);
    assert_in_range(rf_lock_left_ms(lock), 85000000, 86400000);
    assert_status(rf_release(lock), RF_OK);
    expect_misuse("r", NULL);
    assert_non_null(strstr(rf_message(client), "used up"));
}

static void test_bad_counters_are_misuse_and_stay_as_they_are(void **state)
{
    static const char *const bad[] = {
        "-5", "0", "abc", "", "9007199254740992", "9223372036854775807"
    };
    rf_info info;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        set_counter("r", bad[i]);
        expect_misuse("r", NULL);
        assert_string_equal(redis_server_command(server, "GET " COUNTER, "r"),
                            bad[i]);
        assert_status(rf_inspect(client, "r", &info), RF_OK);
        assert_int_equal(info.held, 0);
        assert_true(info.counter == -1);
    }
    redis_server_command(server, "SET " COUNTER " 5 PX 60000", "r");
    expect_misuse("r", NULL);
    assert_non_null(strstr(rf_message(client), "time to live"));
    redis_server_command(server, "DEL " COUNTER, "r");
    redis_server_command(server, "RPUSH " COUNTER " 5", "r");
    expect_misuse("r", NULL);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_lock_key_of_another_type_is_misuse(void **state)
{
    rf_info info;

    (void)state;
    redis_server_command(server, "HSET " LOCK " a b", "r");
    expect_misuse("r", NULL);
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.held, 1);
    assert_int_equal(info.fence, 0);
}

/* ---- Asking twice -------------------------------------------------------------- */

static void test_lost_reply_yields_the_same_fence(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    lock = acquire("r", 30000);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_string_equal(redis_server_command(server, "GET " COUNTER, "r"), "2");
    assert_status(rf_release(lock), RF_OK);
}

static void test_lost_reply_counts_the_time_of_the_first_request(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    lock = acquire("r", 10000);
    assert_true(rf_lock_left_ms(lock) <= ttl_in_redis("r") - 2);
    rf_release(lock);
}

static void test_two_lost_replies_are_unknown_and_the_holder_asks_again(
    void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    char holder[RF_HOLDER_LEN + 1];
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    assert_status(rf_holder_new(holder), RF_OK);
    opts.holder = holder;
    proxy_set(fault, PROXY_CUT_AFTER, 0, 2);
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_UNKNOWN);
    assert_null(lock);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 1);
    assert_status(try_acquire("r", NULL), RF_BUSY);
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_string_equal(rf_lock_holder(lock), holder);
    assert_status(rf_release(lock), RF_OK);
}

/* While the floor is asked for, Redis goes down. */
static rf_status floor_and_an_end(void *arg, const char *resource,
                                  rf_fence *floor)
{
    static const char loading[] = "-LOADING Redis is loading the dataset\r\n";

    (void)arg, (void)resource;
    proxy_say(fault, 9, loading, strlen(loading));
    *floor = 7;
    return RF_OK;
}

/* The first request may be on its way still, and then a lock comes of it. */
static void test_unanswered_request_is_not_told_as_nothing(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    (void)state;
    opts.ask_floor = floor_and_an_end;
    assert_status(try_acquire("r", &opts), RF_RETRY);
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 1);
    assert_status(try_acquire("r", &opts), RF_UNKNOWN);
}

static void test_chosen_holder_gets_what_is_left_of_its_time(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *a, *b;

    (void)state;
    opts.holder = "0123456789abcdef0123456789abcdef";
    opts.ttl_ms = 10000;
    assert_status(rf_acquire(client, "r", &opts, &a), RF_OK);
    opts.ttl_ms = 60000;
    assert_status(rf_acquire(client, "r", &opts, &b), RF_OK);
    assert_int_equal(rf_lock_fence(a), rf_lock_fence(b));
    assert_in_range(rf_lock_left_ms(b), 1, 10000);
    assert_status(rf_release(a), RF_OK);
    assert_status(rf_release(b), RF_LOST);
}

/* The request to give it back, as it arrives when nobody thinks of it any more. */
static void arrive_late(const char *holder, const char *fence)
{
    redis_server_command(
        server, "EVAL %s 3 " LOCK " " LOCK ":wake " LOCK ":waiters %s %s tag",
        rf__script_release.text, "r", "r", "r", holder, fence);
}

static rf_lock *acquire_as(const char *holder)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.holder = holder;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    return lock;
}

/*
 * What rf_acquire() says of opts->holder: under one that has been given back
 * the old grant may be handed out, and its end is on its way.
 */
static void test_holder_given_back_is_to_be_replaced_by_a_new_one(void **state)
{
    char holder[RF_HOLDER_LEN + 1];
    rf_lock *lock, *next;

    (void)state;
    rf_release(acquire("r", 30000));
    assert_status(rf_holder_new(holder), RF_OK);
    lock = acquire_as(holder);
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 2);
    assert_status(rf_release(lock), RF_UNKNOWN);

    /* With the same one: it is believed in until somebody asks. */
    lock = acquire_as(holder);
    assert_int_equal(rf_lock_fence(lock), 2);
    arrive_late(holder, "2");
    next = acquire("r", 30000);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_int_equal(rf_lock_fence(next), 3);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);

    /* With a new one what is late hits nothing. */
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 2);
    snprintf(holder, sizeof(holder), "%s", rf_lock_holder(next));
    assert_status(rf_release(next), RF_UNKNOWN);
    assert_status(try_acquire("r", NULL), RF_BUSY);
    forget_lock("r");
    next = acquire("r", 30000);
    arrive_late(holder, "3");
    assert_status(rf_renew(next, 30000), RF_OK);
    assert_status(rf_release(next), RF_OK);
}

static void test_request_that_never_arrived_is_sent_again(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 1);
    lock = acquire("r", 30000);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Renew ------------------------------------------------------------------------ */

static void test_renew_moves_the_deadline(void **state)
{
    rf_lock *lock = acquire("r", 2000);

    (void)state;
    assert_status(rf_renew(lock, 20000), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 15000, 20000 - 200 - 2);
    assert_in_range(ttl_in_redis("r"), 15000, 20000);
    assert_int_equal(rf_lock_fence(lock), 1);
    rf_release(lock);
}

static void test_renew_for_less_moves_only_our_own_deadline(void **state)
{
    rf_lock *lock = acquire("r", 20000);

    (void)state;
    assert_status(rf_renew(lock, 2000), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 1, 2000);
    assert_in_range(ttl_in_redis("r"), 15000, 20000);
    rf_release(lock);
}

static void test_renew_of_a_lock_that_is_gone_is_lost_for_good(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    forget_lock("r");
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_status(rf_reissue(lock, 5), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_renew_of_a_lock_that_another_has_is_lost(void **state)
{
    rf_lock *lock = acquire("r", 30000), *other;

    (void)state;
    forget_lock("r");
    other = acquire("r", 30000);
    assert_status(rf_renew(lock, 60000), RF_LOST);
    assert_in_range(ttl_in_redis("r"), 1, 30000);
    assert_int_equal(rf_lock_fence(other), 2);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(other), RF_OK);
}

static void test_renew_with_a_bad_ttl_is_misuse_and_changes_nothing(
    void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_renew(lock, 0), RF_MISUSE);
    assert_status(rf_renew(lock, -1), RF_MISUSE);
    assert_status(rf_renew(lock, RF_TTL_MAX_MS + 1), RF_MISUSE);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

static void test_renew_whose_reply_is_lost_is_sent_again(void **state)
{
    rf_lock *lock = acquire("r", 3000);

    (void)state;
    assert_status(rf_renew(lock, 3000), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 20000, 30000);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 2);
    assert_status(rf_renew(lock, 40000), RF_UNKNOWN);
    assert_in_range(rf_lock_left_ms(lock), 20000, 30000);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Reissue ---------------------------------------------------------------------- */

static void test_reissue_raises_the_fence_above_floor(void **state)
{
    rf_lock *lock = acquire("r", 30000), *next;

    (void)state;
    assert_status(rf_reissue(lock, 100), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 101);
    assert_status(rf_reissue(lock, 0), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 102);
    assert_status(rf_release(lock), RF_OK);
    next = acquire("r", 30000);
    assert_int_equal(rf_lock_fence(next), 103);
    rf_release(next);
}

static void test_reissue_of_a_claimed_lock_is_misuse(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_false(rf__lock_claimed(lock));
    rf__lock_set_claimed(lock);
    assert_true(rf__lock_claimed(lock));
    assert_status(rf_reissue(lock, 100), RF_MISUSE);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reissue_with_a_bad_floor_is_misuse(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_reissue(lock, -1), RF_MISUSE);
    assert_status(rf_reissue(lock, RF_FENCE_MAX + 1), RF_MISUSE);
    assert_status(rf_reissue(lock, RF_FENCE_MAX), RF_MISUSE);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reissue_whose_reply_is_lost_gives_one_fence(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_reissue(lock, 10), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(rf_reissue(lock, 100), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 101);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reissue_without_an_answer_gives_the_lock_up(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_reissue(lock, 10), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 2);
    assert_status(rf_reissue(lock, 100), RF_UNKNOWN);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_renew(lock, 1000), RF_UNKNOWN);
    rf_release(lock);
}

/* ---- Release ---------------------------------------------------------------------- */

static void test_release_of_nothing_is_fine(void **state)
{
    (void)state;
    assert_status(rf_release(NULL), RF_OK);
}

static void test_release_of_a_lock_that_another_has_leaves_it(void **state)
{
    rf_lock *lock = acquire("r", 30000), *other;

    (void)state;
    forget_lock("r");
    other = acquire("r", 30000);
    assert_status(rf_release(lock), RF_LOST);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 1);
    assert_status(rf_release(other), RF_OK);
}

static void test_release_after_the_deadline_still_gives_back(void **state)
{
    rf_lock *lock = acquire("r", 300);

    (void)state;
    redis_server_command(server, "PEXPIRE " LOCK " 60000", "r");
    rf__sleep_until_ms(rf__now_ms() + 300);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_release_whose_reply_is_lost_is_unknown_and_done(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    lock = acquire("r", 30000);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(rf_release(lock), RF_UNKNOWN);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_release_that_never_arrived_is_sent_again(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(acquire("r", 30000));
    lock = acquire("r", 30000);
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 1);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

/* ---- No time left to ask twice ---------------------------------------------- */

/* One of three: it is asked once, and the time it took is the whole limit. */
typedef rf_status ask(rf_lock *lock);

static rf_status ask_renew(rf_lock *lock)
{
    return rf_renew(lock, 60000);
}

static rf_status ask_reissue(rf_lock *lock)
{
    return rf_reissue(lock, 100);
}

static void is_asked_once(rf_lock *lock, ask *question)
{
    rf_client *patient;
    int64_t begin;
    rf_info info;
    int requests;

    assert_status(rf_open(proxy_url(fault), NULL, &patient), RF_OK);
    assert_status(rf_inspect(patient, "r", &info), RF_OK);
    requests = proxy_requests(fault);
    proxy_set(fault, PROXY_MUTE, 0, 1);
    begin = test_now_ms();
    assert_status(question(lock), RF_UNKNOWN);
    assert_at_least_ms(begin, 190);
    assert_at_most_ms(begin, 2000);
    /* Whatever else was sent would have come through before this. */
    assert_status(rf_inspect(patient, "r", &info), RF_OK);
    assert_int_equal(proxy_requests(fault) - requests, 2);
    rf_close(patient);
}

static int open_hasty(void **state)
{
    (void)state;
    return redis_world_open_far(200);
}

static void test_renewal_without_an_answer_in_time_keeps_the_old_deadline(
    void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_renew(lock, 30000), RF_OK);
    is_asked_once(lock, ask_renew);
    assert_in_range(rf_lock_left_ms(lock), 1, 30000);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reissue_without_an_answer_in_time_gives_the_lock_up(
    void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf_reissue(lock, 10), RF_OK);
    is_asked_once(lock, ask_reissue);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_renew(lock, 1000), RF_UNKNOWN);
    rf_release(lock);
}

static void test_release_without_an_answer_in_time_is_unknown(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(try_acquire("r", NULL), RF_OK);
    lock = acquire("r", 30000);
    is_asked_once(lock, rf_release);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_status(try_acquire("r", NULL), RF_OK);
}

/* ---- Reentrant --------------------------------------------------------------- */

static rf_lock *acquire_again(const char *resource)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.reentrant = 1;
    assert_status(rf_acquire(client, resource, &opts, &lock), RF_OK);
    return lock;
}

static void test_reentrant_lock_has_one_fence_and_is_released_as_often(
    void **state)
{
    rf_lock *outer = acquire_again("r"), *inner, *other;

    (void)state;
    other = acquire("s", 30000);
    inner = acquire_again("r");
    assert_ptr_equal(inner, outer);
    assert_ptr_equal(acquire_again("r"), outer);
    assert_int_equal(rf_lock_fence(inner), 1);
    assert_string_equal(redis_server_command(server, "GET " COUNTER, "r"), "1");
    assert_status(rf_release(inner), RF_OK);
    assert_status(rf_release(inner), RF_OK);
    assert_int_equal(rf_lock_fence(outer), 1);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 1);
    assert_status(rf_release(outer), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    outer = acquire_again("r");
    assert_int_equal(rf_lock_fence(outer), 2);
    assert_status(rf_release(outer), RF_OK);
    assert_status(rf_release(other), RF_OK);
}

static void test_lock_is_reentrant_only_on_request_and_for_its_client(
    void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_client *second;
    rf_lock *lock = acquire("r", 30000), *other;

    (void)state;
    assert_status(try_acquire("r", NULL), RF_BUSY);
    opts.reentrant = 1;
    assert_status(rf_open(redis_server_url(server), NULL, &second), RF_OK);
    assert_status(rf_acquire(second, "r", &opts, &other), RF_BUSY);
    assert_ptr_equal(acquire_again("r"), lock);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(second);
}

static void test_lost_lock_is_not_entered_again(void **state)
{
    rf_lock *lock = acquire_again("r"), *again;

    (void)state;
    assert_ptr_equal(acquire_again("r"), lock);
    forget_lock("r");
    assert_status(rf_renew(lock, 30000), RF_LOST);
    again = acquire_again("r");
    assert_ptr_not_equal(again, lock);
    assert_int_equal(rf_lock_fence(again), 2);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(again), RF_OK);
}

/* ---- What the database side tells ------------------------------------------------- */

static void test_lock_that_is_over_stays_over_for_the_first_reason(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    assert_status(rf__lock_state(lock), RF_OK);
    assert_ptr_equal(rf__lock_client(lock), client);
    rf__lock_set_over(lock, RF_STALE);
    rf__lock_set_over(lock, RF_COLLISION);
    assert_status(rf__lock_state(lock), RF_STALE);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_renew(lock, 1000), RF_STALE);
    assert_status(rf_reissue(lock, 5), RF_STALE);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

/* ---- Inspect ----------------------------------------------------------------------- */

static void test_inspect_shows_free_and_held(void **state)
{
    rf_lock *lock;
    rf_info info;

    (void)state;
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.held, 0);
    assert_int_equal(info.counter, 0);
    lock = acquire("r", 30000);
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.held, 1);
    assert_int_equal(info.fence, 1);
    assert_int_equal(info.counter, 1);
    assert_string_equal(info.holder, rf_lock_holder(lock));
    assert_in_range(info.left_ms, 20000, 30000);
    rf_release(lock);
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.held, 0);
    assert_int_equal(info.fence, 0);
    assert_string_equal(info.holder, "");
    assert_int_equal(info.counter, 1);
}

static void test_inspect_without_an_answer_may_be_tried_again(void **state)
{
    rf_info info;

    (void)state;
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(rf_inspect(client, "r", &info), RF_RETRY);
    assert_status(rf_inspect(client, "r", &info), RF_OK);
}

/* ---- Clients that go away ------------------------------------------------------------ */

static void test_lock_outlives_its_client_only_to_be_released(void **state)
{
    rf_lock *lock = acquire("r", 30000);

    (void)state;
    rf_close(client);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf_renew(lock, 1000), RF_MISUSE);
    assert_status(rf_release(lock), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 1);
    client = NULL;
}

static void test_missing_client_is_misuse(void **state)
{
    rf_lock *lock = (rf_lock *)&lock;
    rf_info info;

    (void)state;
    assert_status(rf_acquire(NULL, "r", NULL, &lock), RF_MISUSE);
    assert_null(lock);
    assert_status(rf_inspect(NULL, "r", &info), RF_MISUSE);
    rf_close(NULL);
}

/* What a child finds: the number of the first surprise. */
static int child_looks(rf_lock *lock)
{
    rf_lock *own;

    if (rf_lock_fence(lock) != 0)
        return 1;
    if (rf_renew(lock, 60000) != RF_MISUSE)
        return 2;
    if (rf_reissue(lock, 5) != RF_MISUSE)
        return 3;
    if (rf_acquire(client, "child", NULL, &own) != RF_OK)
        return 4;
    if (rf_lock_fence(own) != 1)
        return 5;
    if (rf_release(own) != RF_OK)
        return 6;
    if (rf_acquire(client, "r", NULL, &own) != RF_BUSY)
        return 7;
    if (rf_release(lock) != RF_MISUSE)
        return 8;
    rf_close(client);
    return 0;
}

static void test_forked_child_has_a_connection_but_no_locks(void **state)
{
    rf_lock *lock = acquire("r", 30000);
    int ends[2], surprise = -1;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        surprise = child_looks(lock);
        _exit(write(ends[1], &surprise, sizeof(surprise)) < 0 ? 1 : 0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &surprise, sizeof(surprise)),
                     sizeof(surprise));
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(surprise, 0);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(proxy_connections(fault), 2);
}

/* Two handles on one resource: each tells its own number, or none. */
static void test_fence_of_a_holder_that_was_replaced_is_never_the_next_ones(
    void **state)
{
    rf_lock *before = acquire("r", 30000), *next;

    (void)state;
    forget_lock("r");
    next = acquire("r", 30000);
    assert_true(rf_lock_fence(next) == 2);
    assert_true(rf_lock_fence(before) == 1);
    assert_status(rf_renew(before, 30000), RF_LOST);
    assert_true(rf_lock_fence(before) == 0);
    assert_status(rf_release(before), RF_LOST);
    assert_true(rf_lock_fence(next) == 2);
    assert_status(rf_release(next), RF_OK);
}

static void *go_on_elsewhere(void *arg)
{
    rf_lock *lock = arg;

    return rf_lock_fence(lock) == 1 && rf_renew(lock, 30000) == RF_OK &&
                   rf_release(lock) == RF_OK
               ? arg
               : NULL;
}

/* The handle has all that it needs: nothing hangs on the thread that took it. */
static void test_lock_taken_on_one_thread_is_given_back_on_another(void **state)
{
    rf_lock *lock = acquire("r", 30000);
    pthread_t thread;
    void *went_well;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, go_on_elsewhere, lock), 0);
    assert_int_equal(pthread_join(thread, &went_well), 0);
    assert_ptr_equal(went_well, lock);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_status(try_acquire("r", NULL), RF_OK);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
#define HASTY(name) \
    cmocka_unit_test_setup_teardown(name, open_hasty, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_first_fence_is_1_and_each_next_one_is_larger),
        CASE(test_lock_is_one_key_with_fence_holder_and_ttl),
        CASE(test_deadline_is_before_the_end_in_redis),
        CASE(test_deadline_counts_from_before_the_request),
        CASE(test_holders_differ_from_grant_to_grant),
        CASE(test_fence_is_0_after_the_deadline),
        CASE(test_second_holder_is_busy_and_told_how_long),
        CASE(test_foreign_lock_is_busy),
        CASE(test_locks_of_different_resources_do_not_meet),
        CASE(test_grant_that_comes_too_late_is_given_back),
        CASE(test_grant_too_late_that_may_not_be_back_is_unknown),
        CASE(test_bad_resources_are_misuse_and_nothing_is_sent),
        CASE(test_resource_may_have_255_bytes_and_no_more),
        CASE(test_utf8_and_braces_are_fine),
        CASE(test_bad_options_are_misuse_and_nothing_is_sent),
        CASE(test_longest_ttl_and_largest_fence_are_fine),
        CASE(test_bad_counters_are_misuse_and_stay_as_they_are),
        CASE(test_lock_key_of_another_type_is_misuse),
        CASE(test_lost_reply_yields_the_same_fence),
        CASE(test_lost_reply_counts_the_time_of_the_first_request),
        CASE(test_two_lost_replies_are_unknown_and_the_holder_asks_again),
        CASE(test_unanswered_request_is_not_told_as_nothing),
        CASE(test_chosen_holder_gets_what_is_left_of_its_time),
        CASE(test_holder_given_back_is_to_be_replaced_by_a_new_one),
        CASE(test_request_that_never_arrived_is_sent_again),
        CASE(test_renew_moves_the_deadline),
        CASE(test_renew_for_less_moves_only_our_own_deadline),
        CASE(test_renew_of_a_lock_that_is_gone_is_lost_for_good),
        CASE(test_renew_of_a_lock_that_another_has_is_lost),
        CASE(test_renew_with_a_bad_ttl_is_misuse_and_changes_nothing),
        CASE(test_renew_whose_reply_is_lost_is_sent_again),
        CASE(test_reissue_raises_the_fence_above_floor),
        CASE(test_reissue_of_a_claimed_lock_is_misuse),
        CASE(test_reissue_with_a_bad_floor_is_misuse),
        CASE(test_reissue_whose_reply_is_lost_gives_one_fence),
        CASE(test_reissue_without_an_answer_gives_the_lock_up),
        CASE(test_release_of_nothing_is_fine),
        CASE(test_release_of_a_lock_that_another_has_leaves_it),
        CASE(test_release_after_the_deadline_still_gives_back),
        CASE(test_release_whose_reply_is_lost_is_unknown_and_done),
        CASE(test_release_that_never_arrived_is_sent_again),
        HASTY(test_renewal_without_an_answer_in_time_keeps_the_old_deadline),
        HASTY(test_reissue_without_an_answer_in_time_gives_the_lock_up),
        HASTY(test_release_without_an_answer_in_time_is_unknown),
        CASE(test_reentrant_lock_has_one_fence_and_is_released_as_often),
        CASE(test_lock_is_reentrant_only_on_request_and_for_its_client),
        CASE(test_lost_lock_is_not_entered_again),
        CASE(test_lock_that_is_over_stays_over_for_the_first_reason),
        CASE(test_inspect_shows_free_and_held),
        CASE(test_inspect_without_an_answer_may_be_tried_again),
        CASE(test_lock_outlives_its_client_only_to_be_released),
        CASE(test_missing_client_is_misuse),
        CASE(test_forked_child_has_a_connection_but_no_locks),
        CASE(test_fence_of_a_holder_that_was_replaced_is_never_the_next_ones),
        CASE(test_lock_taken_on_one_thread_is_given_back_on_another),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
