/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_lua.c - the scripts, as a program in another language would call them
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "lua_scripts.h"
#include "redis_server.h"

static redis_server *server;

#define H1 "11111111111111111111111111111111"
#define H2 "22222222222222222222222222222222"

#define K_LOCK    "{lock:v1:r}"
#define K_COUNTER "{lock:v1:r}:fence"
#define K_WAKE    "{lock:v1:r}:wake"
#define K_WAITERS "{lock:v1:r}:waiters"
#define K_READERS "{lock:v1:r}:readers"

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

static int forget(void **state)
{
    (void)state;
    redis_server_command(server, "FLUSHALL");
    return 0;
}

static const char *acquire_with(const char *holder, const char *ttl,
                                const char *floor, const char *wait,
                                const char *token)
{
    return redis_server_command(
        server, "EVAL %s 4 %s %s %s %s %s %s %s %s %s tag", rf__lua_acquire,
        K_LOCK, K_COUNTER, K_WAKE, K_WAITERS, holder, ttl, floor, wait, token);
}

static const char *acquire(const char *holder)
{
    return acquire_with(holder, "30000", "0", "0", "");
}

static const char *release(const char *holder, const char *fence)
{
    return redis_server_command(server, "EVAL %s 3 %s %s %s %s %s tag",
                                rf__lua_release, K_LOCK, K_WAKE, K_WAITERS,
                                holder, fence);
}

static const char *renew(const char *holder, const char *fence, const char *ttl)
{
    return redis_server_command(server, "EVAL %s 2 %s %s %s %s %s tag",
                                rf__lua_renew, K_LOCK, K_COUNTER, holder, fence,
                                ttl);
}

static const char *reissue(const char *holder, const char *fence,
                           const char *floor)
{
    return redis_server_command(server, "EVAL %s 2 %s %s %s %s %s tag",
                                rf__lua_reissue, K_LOCK, K_COUNTER, holder,
                                fence, floor);
}

static const char *inspect(void)
{
    return redis_server_command(server, "EVAL %s 4 %s %s %s %s tag",
                                rf__lua_inspect, K_LOCK, K_COUNTER, K_READERS,
                                K_WAITERS);
}

static const char *force(const char *fence, const char *reason)
{
    return redis_server_command(server, "EVAL %s 3 %s %s %s %s %s tag",
                                rf__lua_force_release, K_LOCK, K_WAKE,
                                K_WAITERS, fence, reason);
}

static const char *get(const char *key)
{
    return redis_server_command(server, "GET %s", key);
}

static void set(const char *key, const char *value)
{
    assert_string_equal(redis_server_command(server, "SET %s %s", key, value),
                        "OK");
}

/* The reply begins like this; what follows depends on time. */
static void assert_begins(const char *reply, const char *expected)
{
    char head[256];

    snprintf(head, sizeof(head), "%.*s", (int)strlen(expected), reply);
    assert_string_equal(head, expected);
}

/* ---- acquire --------------------------------------------------------------- */

static void test_acquire_answers_in_the_documented_form(void **state)
{
    (void)state;
    assert_string_equal(acquire(H1), "acquire " H1 " tag OK 1 30000");
    assert_string_equal(get(K_LOCK), "1:" H1);
    assert_string_equal(get(K_COUNTER), "1");
}

static void test_same_holder_again_gets_the_same_fence(void **state)
{
    (void)state;
    acquire(H1);
    redis_server_command(server, "PEXPIRE %s 20000", K_LOCK);
    assert_begins(acquire_with(H1, "60000", "500", "0", ""),
                  "acquire " H1 " tag REPLAY 1 ");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 15000,
                    20000);
    assert_string_equal(get(K_COUNTER), "1");
}

static void test_another_holder_is_busy_and_nothing_changes(void **state)
{
    (void)state;
    acquire(H1);
    assert_begins(acquire(H2), "acquire " H2 " tag BUSY ");
    assert_non_null(strstr(acquire(H2), " ours"));
    assert_string_equal(get(K_COUNTER), "1");
    assert_string_equal(get(K_LOCK), "1:" H1);
}

static void test_foreign_lock_excludes_us_and_we_exclude_it(void **state)
{
    (void)state;
    redis_server_command(server, "SET %s some-token NX PX 30000", K_LOCK);
    assert_begins(acquire(H1), "acquire " H1 " tag BUSY ");
    assert_non_null(strstr(acquire(H1), " foreign"));
    assert_string_equal(get(K_LOCK), "some-token");
    redis_server_command(server, "DEL %s", K_LOCK);
    acquire(H1);
    assert_string_equal(
        redis_server_command(server, "SET %s some-token NX PX 30000", K_LOCK),
        "(nil)");
}

static void test_foreign_lock_without_ttl_is_busy_for_ever(void **state)
{
    (void)state;
    set(K_LOCK, "some-token");
    assert_string_equal(acquire(H1), "acquire " H1 " tag BUSY -1 foreign");
}

static void test_lock_of_another_type_is_told_apart(void **state)
{
    (void)state;
    redis_server_command(server, "HSET %s a b", K_LOCK);
    assert_begins(acquire(H1), "acquire " H1 " tag LOCK_BAD ");
    assert_string_equal(get(K_COUNTER), "(nil)");
    assert_string_equal(redis_server_command(server, "HGET %s a", K_LOCK), "b");
}

static void test_counter_that_is_no_fence_is_refused_untouched(void **state)
{
    static const char *const bad[] = {
        "-5",
        "0",
        "",
        "abc",
        "007",
        " 12",
        "12 ",
        "1.0",
        "1e3",
        "+1",
        "9007199254740992",
        "9223372036854775807",
        "9223372036854775808",
        "123456789012345678901234567890",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        set(K_COUNTER, bad[i]);
        assert_begins(acquire_with(H1, "30000", "5", "0", ""),
                      "acquire " H1 " tag COUNTER_BAD ");
        assert_string_equal(get(K_COUNTER), bad[i]);
        assert_string_equal(get(K_LOCK), "(nil)");
    }
}

static void test_counter_of_another_type_is_refused_untouched(void **state)
{
    (void)state;
    redis_server_command(server, "RPUSH %s 5", K_COUNTER);
    assert_begins(acquire(H1), "acquire " H1 " tag COUNTER_BAD ");
    assert_string_equal(
        redis_server_command(server, "LRANGE %s 0 -1", K_COUNTER), "5");
    assert_string_equal(get(K_LOCK), "(nil)");
}

static void test_counter_that_would_expire_is_refused_untouched(void **state)
{
    (void)state;
    redis_server_command(server, "SET %s 41 PX 60000", K_COUNTER);
    assert_begins(acquire(H1), "acquire " H1 " tag COUNTER_BAD ");
    assert_string_equal(get(K_COUNTER), "41");
    assert_string_equal(get(K_LOCK), "(nil)");
}

static void test_last_fence_is_issued_and_none_after_it(void **state)
{
    (void)state;
    set(K_COUNTER, "9007199254740990");
    assert_string_equal(acquire(H1),
                        "acquire " H1 " tag OK 9007199254740991 30000");
    release(H1, "9007199254740991");
    assert_string_equal(acquire(H2), "acquire " H2 " tag EXHAUSTED ");
    assert_string_equal(get(K_COUNTER), "9007199254740991");
    assert_string_equal(get(K_LOCK), "(nil)");
}

static void test_floor_raises_and_never_lowers(void **state)
{
    (void)state;
    assert_begins(acquire_with(H1, "30000", "100", "0", ""),
                  "acquire " H1 " tag OK 101 ");
    release(H1, "101");
    assert_begins(acquire_with(H1, "30000", "99", "0", ""),
                  "acquire " H1 " tag OK 102 ");
    release(H1, "102");
    /* As text "103" is below "99". */
    assert_begins(acquire_with(H1, "30000", "1000", "0", ""),
                  "acquire " H1 " tag OK 1001 ");
    release(H1, "1001");
    assert_begins(acquire_with(H1, "30000", "9007199254740991", "0", ""),
                  "acquire " H1 " tag EXHAUSTED");
    assert_string_equal(get(K_COUNTER), "1001");
}

static void test_missing_counter_is_not_restarted_when_it_can_be_asked_for(
    void **state)
{
    (void)state;
    assert_string_equal(acquire_with(H1, "30000", "?", "0", ""),
                        "acquire " H1 " tag NEEDS_FLOOR ");
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    set(K_COUNTER, "7");
    assert_begins(acquire_with(H1, "30000", "?", "0", ""),
                  "acquire " H1 " tag OK 8 ");
}

static void test_wrong_arguments_are_refused_before_anything(void **state)
{
    static const char *const bad_ttl[] = {
        "0", "-1", "", "abc", "1.5", "1e3", "9007199254740992"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad_ttl) / sizeof(bad_ttl[0]); i++)
        assert_string_equal(acquire_with(H1, bad_ttl[i], "0", "0", ""),
                            "acquire " H1 " tag ARGUMENT_BAD ttl_ms");
    assert_string_equal(acquire_with(H1, "1000", "-1", "0", ""),
                        "acquire " H1 " tag ARGUMENT_BAD floor");
    assert_string_equal(acquire_with(H1, "1000", "0", "-1", ""),
                        "acquire " H1 " tag ARGUMENT_BAD wait_ms");
    assert_begins(acquire("abc"), "acquire abc tag ARGUMENT_BAD holder");
    assert_begins(acquire("1111111111111111111111111111111G"),
                  "acquire 1111111111111111111111111111111G tag ARGUMENT_BAD");
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
}

/* Whatever is not left out must be one, in every script that takes it. */
static void test_wrong_idle_time_is_refused_before_anything(void **state)
{
    static const char *const bad[] = { "-1",  "",    "abc",
                                       "1.5", "1e3", "90071992547409920" };
    static const struct {
        const char *text, *middle;
    } scripts[] = {
        { rf__lua_acquire, "1000 0 0 -" },
        { rf__lua_acquire_all, "1000 0 0 - 0" },
        { rf__lua_renew, "1 1000" },
        { rf__lua_reissue, "1 1" },
        { rf__lua_raise, "1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
            char format[160];

            snprintf(format, sizeof(format),
                     "EVAL %%s 4 %%s %%s %%s %%s %%s %s tag %%s",
                     scripts[i].middle);
            assert_non_null(strstr(
                redis_server_command(server, format, scripts[i].text, K_LOCK,
                                     K_COUNTER, K_WAKE, K_WAITERS, H1, bad[j]),
                "ARGUMENT_BAD idle_ms"));
        }
    }
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
}

/* ---- renew --------------------------------------------------------------------- */

static void test_renew_extends_only_what_is_ours(void **state)
{
    (void)state;
    acquire(H1);
    assert_string_equal(renew(H1, "1", "60000"), "renew " H1 " tag OK ");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 50000,
                    60000);
    assert_string_equal(renew(H2, "1", "90000"), "renew " H2 " tag LOST taken");
    assert_string_equal(renew(H1, "2", "90000"), "renew " H1 " tag LOST taken");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 1, 60000);
}

static void test_renew_never_creates_and_never_shortens(void **state)
{
    (void)state;
    assert_string_equal(renew(H1, "1", "60000"), "renew " H1 " tag LOST gone");
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    acquire(H1);
    assert_string_equal(renew(H1, "1", "10"), "renew " H1 " tag OK ");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 20000,
                    30000);
}

static void test_renew_for_no_time_deletes_nothing(void **state)
{
    static const char *const bad[] = { "0", "-1",  "",
                                       "x", "1.5", "1000000000000000" };

    (void)state;
    acquire(H1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_string_equal(renew(H1, "1", bad[i]),
                            "renew " H1 " tag ARGUMENT_BAD ttl_ms");
    assert_string_equal(get(K_LOCK), "1:" H1);
}

static void test_renew_gives_a_lock_without_ttl_its_end_back(void **state)
{
    (void)state;
    acquire(H1);
    redis_server_command(server, "PERSIST %s", K_LOCK);
    assert_string_equal(renew(H1, "1", "60000"), "renew " H1 " tag OK ");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 50000,
                    60000);
}

static void test_lock_that_became_another_type_is_lost(void **state)
{
    (void)state;
    redis_server_command(server, "HSET %s a b", K_LOCK);
    assert_string_equal(renew(H1, "1", "60000"), "renew " H1 " tag LOST taken");
    assert_string_equal(release(H1, "1"), "release " H1 " tag LOST taken");
    assert_string_equal(reissue(H1, "1", "5"), "reissue " H1 " tag LOST taken");
    assert_string_equal(force("1", "why"), "force_release  tag LOST taken");
    assert_int_equal(redis_server_number(server, "EXISTS %s", K_LOCK), 1);
}

/* ---- release -------------------------------------------------------------------- */

static void test_release_deletes_only_what_is_ours(void **state)
{
    (void)state;
    acquire(H1);
    assert_string_equal(release(H2, "1"), "release " H2 " tag LOST taken");
    assert_string_equal(release(H1, "2"), "release " H1 " tag LOST taken");
    assert_string_equal(get(K_LOCK), "1:" H1);
    assert_string_equal(release(H1, "1"), "release " H1 " tag OK ");
    assert_string_equal(get(K_LOCK), "(nil)");
    assert_string_equal(get(K_COUNTER), "1");
    assert_string_equal(release(H1, "1"), "release " H1 " tag LOST gone");
}

static void test_release_leaves_nothing_behind_when_nobody_waits(void **state)
{
    (void)state;
    acquire(H1);
    release(H1, "1");
    assert_int_equal(redis_server_number(server, "DBSIZE"), 1);
}

static void test_release_keeps_the_lock_for_the_woken_waiter(void **state)
{
    (void)state;
    acquire(H1);
    acquire_with(H2, "30000", "0", "60000", "");
    assert_in_range(redis_server_number(server, "PTTL %s", K_WAITERS), 30000,
                    32000);
    assert_string_equal(release(H1, "1"), "release " H1 " tag OK ");
    assert_string_equal(redis_server_command(server, "LRANGE %s 0 -1", K_WAKE),
                        "1");
    assert_in_range(redis_server_number(server, "PTTL %s", K_WAKE), 1, 500);
    /* As if a blocked waiter had been served. */
    redis_server_command(server, "LPOP %s", K_WAKE);
    assert_begins(acquire(H1), "acquire " H1 " tag BUSY ");
    assert_non_null(strstr(acquire(H1), " kept"));
    assert_begins(acquire_with(H1, "30000", "0", "0", "9"),
                  "acquire " H1 " tag BUSY ");
    assert_begins(acquire_with(H2, "30000", "0", "0", "1"),
                  "acquire " H2 " tag OK 2 ");
}

static void test_waiter_whose_wake_was_lost_may_take_the_kept_lock(void **state)
{
    (void)state;
    acquire(H1);
    acquire_with(H2, "30000", "0", "60000", "");
    release(H1, "1");
    redis_server_command(server, "LPOP %s", K_WAKE);
    assert_begins(acquire_with(H2, "30000", "0", "0", "?"),
                  "acquire " H2 " tag OK 2 ");
    /* It opens nothing that is held. */
    assert_begins(acquire_with(H1, "30000", "0", "0", "?"),
                  "acquire " H1 " tag BUSY ");
}

static void test_lock_kept_for_nobody_is_free_for_whoever_asks(void **state)
{
    (void)state;
    acquire(H1);
    acquire_with(H2, "30000", "0", "60000", "");
    release(H1, "1");
    assert_begins(acquire(H1), "acquire " H1 " tag OK 2 ");
    assert_int_equal(redis_server_number(server, "EXISTS %s", K_WAKE), 0);
}

static void test_wake_list_never_has_more_than_one_element(void **state)
{
    (void)state;
    acquire(H1);
    acquire_with(H2, "30000", "0", "60000", "");
    redis_server_command(server, "RPUSH %s a b c", K_WAKE);
    release(H1, "1");
    assert_string_equal(redis_server_command(server, "LRANGE %s 0 -1", K_WAKE),
                        "1");
}

/* It may leave before its wait is over, and nobody tells. */
static void test_waiter_is_seen_no_longer_than_it_may_sleep(void **state)
{
    (void)state;
    acquire_with(H1, "5000", "0", "0", "");
    acquire_with(H2, "30000", "0", "60000", "");
    assert_in_range(redis_server_number(server, "PTTL %s", K_WAITERS), 5000,
                    7000);
    /* Who waits for a lock that never ends sleeps until its own wait does. */
    redis_server_command(server, "PERSIST %s", K_LOCK);
    acquire_with(H2, "30000", "0", "60000", "");
    assert_in_range(redis_server_number(server, "PTTL %s", K_WAITERS), 50000,
                    60000);
}

static void test_shorter_wait_does_not_shorten_what_others_announced(
    void **state)
{
    (void)state;
    acquire(H1);
    acquire_with(H2, "30000", "0", "60000", "");
    acquire_with("33333333333333333333333333333333", "30000", "0", "1000", "");
    assert_in_range(redis_server_number(server, "PTTL %s", K_WAITERS), 30000,
                    32000);
}

/* ---- reissue -------------------------------------------------------------------- */

static void test_reissue_goes_above_floor_and_keeps_the_ttl(void **state)
{
    (void)state;
    acquire(H1);
    redis_server_command(server, "PEXPIRE %s 20000", K_LOCK);
    assert_string_equal(reissue(H1, "1", "100"), "reissue " H1 " tag OK 101");
    assert_string_equal(get(K_LOCK), "101:" H1);
    assert_string_equal(get(K_COUNTER), "101");
    assert_in_range(redis_server_number(server, "PTTL %s", K_LOCK), 15000,
                    20000);
}

static void test_reissue_sent_twice_gives_one_fence(void **state)
{
    (void)state;
    acquire(H1);
    reissue(H1, "1", "100");
    assert_string_equal(reissue(H1, "1", "100"),
                        "reissue " H1 " tag REPLAY 101");
    assert_string_equal(get(K_COUNTER), "101");
    /* Not good enough for a higher floor: that is another request. */
    assert_string_equal(reissue(H1, "1", "200"),
                        "reissue " H1 " tag LOST taken");
}

static void test_reissue_of_what_is_not_ours_changes_nothing(void **state)
{
    (void)state;
    assert_string_equal(reissue(H1, "1", "100"),
                        "reissue " H1 " tag LOST gone");
    acquire(H1);
    assert_string_equal(reissue(H2, "1", "100"),
                        "reissue " H2 " tag LOST taken");
    assert_string_equal(get(K_COUNTER), "1");
}

static void test_reissue_heals_a_counter_that_is_gone_or_behind(void **state)
{
    (void)state;
    acquire(H1);
    redis_server_command(server, "DEL %s", K_COUNTER);
    assert_string_equal(reissue(H1, "1", "100"), "reissue " H1 " tag OK 101");
    set(K_LOCK, "50:" H1);
    set(K_COUNTER, "3");
    assert_string_equal(reissue(H1, "50", "20"), "reissue " H1 " tag OK 51");
}

static void test_reissue_checks_the_counter_before_it_writes(void **state)
{
    (void)state;
    acquire(H1);
    set(K_COUNTER, "abc");
    assert_begins(reissue(H1, "1", "5"), "reissue " H1 " tag COUNTER_BAD ");
    redis_server_command(server, "SET %s 4 PX 60000", K_COUNTER);
    assert_begins(reissue(H1, "1", "5"), "reissue " H1 " tag COUNTER_BAD ");
    redis_server_command(server, "DEL %s", K_COUNTER);
    redis_server_command(server, "RPUSH %s 4", K_COUNTER);
    assert_begins(reissue(H1, "1", "5"), "reissue " H1 " tag COUNTER_BAD ");
    redis_server_command(server, "DEL %s", K_COUNTER);
    set(K_COUNTER, "9007199254740991");
    assert_begins(reissue(H1, "1", "5"), "reissue " H1 " tag EXHAUSTED");
    assert_begins(reissue(H1, "1", "0"), "reissue " H1 " tag ARGUMENT_BAD");
    assert_begins(reissue(H1, "x", "5"), "reissue " H1 " tag ARGUMENT_BAD");
    assert_string_equal(get(K_LOCK), "1:" H1);
}

/* ---- inspect, force_release -------------------------------------------------------- */

static void test_inspect_shows_free_held_and_foreign(void **state)
{
    (void)state;
    assert_string_equal(inspect(), "inspect  tag free   0  0 0 0");
    acquire(H1);
    assert_begins(inspect(), "inspect  tag held 1 " H1 " ");
    release(H1, "1");
    assert_string_equal(inspect(), "inspect  tag free   0 1 0 0 0");
    set(K_LOCK, "some-token");
    assert_string_equal(inspect(), "inspect  tag foreign   -1 1 0 0 0");
    set(K_LOCK, "5:short");
    assert_string_equal(inspect(), "inspect  tag foreign   -1 1 0 0 0");
    redis_server_command(server, "DEL %s", K_LOCK);
    redis_server_command(server, "HSET %s a b", K_LOCK);
    assert_string_equal(inspect(), "inspect  tag foreign   -1 1 0 0 0");
}

static void test_inspect_shows_a_counter_that_is_none(void **state)
{
    (void)state;
    set(K_COUNTER, "abc");
    assert_string_equal(inspect(), "inspect  tag free   0 bad 0 0 0");
    redis_server_command(server, "DEL %s", K_COUNTER);
    redis_server_command(server, "RPUSH %s 4", K_COUNTER);
    assert_string_equal(inspect(), "inspect  tag free   0 bad 0 0 0");
}

static void test_inspect_shows_that_somebody_waits(void **state)
{
    (void)state;
    redis_server_command(server, "SET %s 1 PX 60000", K_WAITERS);
    assert_string_equal(inspect(), "inspect  tag free   0  0 1 0");
}

static void test_inspect_shows_how_long_the_counter_stays(void **state)
{
    (void)state;
    redis_server_command(server, "SET %s 4 PX 599999", K_COUNTER);
    assert_begins(inspect(), "inspect  tag free   0 4 0 0 59");
}

static void test_inspect_changes_nothing(void **state)
{
    (void)state;
    inspect();
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
}

static void test_force_release_demands_fence_and_reason(void **state)
{
    (void)state;
    assert_string_equal(force("1", "why"), "force_release  tag LOST gone");
    acquire(H1);
    assert_string_equal(force("1", ""),
                        "force_release  tag ARGUMENT_BAD reason");
    assert_string_equal(force("", "why"),
                        "force_release  tag ARGUMENT_BAD fence");
    assert_string_equal(force("2", "why"), "force_release  tag LOST taken");
    assert_string_equal(get(K_LOCK), "1:" H1);
    assert_string_equal(force("1", "why"), "force_release  tag OK " H1);
    assert_string_equal(get(K_LOCK), "(nil)");
    assert_begins(acquire(H2), "acquire " H2 " tag OK 2 ");
}

static void test_tag_may_be_left_out(void **state)
{
    (void)state;
    assert_string_equal(redis_server_command(server, "EVAL %s 4 %s %s %s %s",
                                             rf__lua_inspect, K_LOCK, K_COUNTER,
                                             K_READERS, K_WAITERS),
                        "inspect   free   0  0 0 0");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, forget)
    const struct CMUnitTest tests[] = {
        CASE(test_acquire_answers_in_the_documented_form),
        CASE(test_same_holder_again_gets_the_same_fence),
        CASE(test_another_holder_is_busy_and_nothing_changes),
        CASE(test_foreign_lock_excludes_us_and_we_exclude_it),
        CASE(test_foreign_lock_without_ttl_is_busy_for_ever),
        CASE(test_lock_of_another_type_is_told_apart),
        CASE(test_counter_that_is_no_fence_is_refused_untouched),
        CASE(test_counter_of_another_type_is_refused_untouched),
        CASE(test_counter_that_would_expire_is_refused_untouched),
        CASE(test_last_fence_is_issued_and_none_after_it),
        CASE(test_floor_raises_and_never_lowers),
        CASE(test_missing_counter_is_not_restarted_when_it_can_be_asked_for),
        CASE(test_wrong_arguments_are_refused_before_anything),
        CASE(test_wrong_idle_time_is_refused_before_anything),
        CASE(test_renew_extends_only_what_is_ours),
        CASE(test_renew_never_creates_and_never_shortens),
        CASE(test_renew_for_no_time_deletes_nothing),
        CASE(test_renew_gives_a_lock_without_ttl_its_end_back),
        CASE(test_lock_that_became_another_type_is_lost),
        CASE(test_release_deletes_only_what_is_ours),
        CASE(test_release_leaves_nothing_behind_when_nobody_waits),
        CASE(test_release_keeps_the_lock_for_the_woken_waiter),
        CASE(test_waiter_whose_wake_was_lost_may_take_the_kept_lock),
        CASE(test_lock_kept_for_nobody_is_free_for_whoever_asks),
        CASE(test_wake_list_never_has_more_than_one_element),
        CASE(test_waiter_is_seen_no_longer_than_it_may_sleep),
        CASE(test_shorter_wait_does_not_shorten_what_others_announced),
        CASE(test_reissue_goes_above_floor_and_keeps_the_ttl),
        CASE(test_reissue_sent_twice_gives_one_fence),
        CASE(test_reissue_of_what_is_not_ours_changes_nothing),
        CASE(test_reissue_heals_a_counter_that_is_gone_or_behind),
        CASE(test_reissue_checks_the_counter_before_it_writes),
        CASE(test_inspect_shows_free_held_and_foreign),
        CASE(test_inspect_shows_a_counter_that_is_none),
        CASE(test_inspect_shows_that_somebody_waits),
        CASE(test_inspect_shows_how_long_the_counter_stays),
        CASE(test_inspect_changes_nothing),
        CASE(test_force_release_demands_fence_and_reason),
        CASE(test_tag_may_be_left_out),
    };

    return run_group(tests, start, stop);
}
