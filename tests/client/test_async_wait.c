/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_async_wait.c - waiting for a lock, and keeping one, in an event loop
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "loop.h"
#include "redis_world.h"

#define WAITERS 64

static loop *l;
static rf_client *async;

/* One who wants the lock: what it was told, and when. */
typedef struct waiter {
    int times, order, released;
    int *counter; /* of grants */
    rf_status status;
    rf_lock *lock;
    rf_fence fence;
    int keep;
} waiter;

static int open_loop(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;

    (void)state;
    opts.timeout_ms = 2000;
    if (redis_world_open_far(2000) != 0)
        return 1;
    l = loop_open(proxy_url(fault), &opts);
    async = loop_client(l);
    return 0;
}

static int close_loop(void **state)
{
    loop_close(l);
    return redis_world_close(state);
}

static void on_released(rf_client *from, rf_status status, void *arg)
{
    waiter *w = arg;

    (void)from;
    assert_status(status, RF_OK);
    w->released++;
}

static void on_acquired(rf_client *from, rf_status status, rf_lock *lock,
                        void *arg)
{
    waiter *w = arg;

    (void)from;
    w->times++;
    w->status = status;
    w->lock = lock;
    if (lock == NULL)
        return;
    w->fence = rf_lock_fence(lock);
    if (w->counter != NULL)
        w->order = ++*w->counter;
    if (!w->keep)
        assert_status(rf_async_release(lock, on_released, w), RF_OK);
}

static void want(waiter *w, const char *resource, int64_t wait_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.wait_ms = wait_ms;
    assert_status(rf_async_acquire(async, resource, &opts, on_acquired, w),
                  RF_OK);
}

static rf_lock *take(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    waiter w = { .keep = 1 };

    opts.ttl_ms = ttl_ms;
    assert_status(rf_async_acquire(async, resource, &opts, on_acquired, &w),
                  RF_OK);
    loop_until(l, &w.times, 1);
    assert_status(w.status, RF_OK);
    return w.lock;
}

static void give(rf_lock *lock)
{
    waiter w = { 0 };

    assert_status(rf_async_release(lock, on_released, &w), RF_OK);
    loop_until(l, &w.released, 1);
}

static rf_lock *take_elsewhere(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = ttl_ms;
    assert_status(rf_acquire(client, resource, &opts, &lock), RF_OK);
    return lock;
}

/* What is kept a moment for a waiter that was woken is nobody's. */
static int held(const char *resource)
{
    const char *value = redis_server_command(server, "GET " LOCK, resource);

    return strcmp(value, "(nil)") != 0 && strncmp(value, "wake:", 5) != 0;
}

static long long asked(void)
{
    const char *text = redis_server_command(server, "INFO commandstats");
    long long n = 0, calls;

    for (const char *at = text; (at = strstr(at, "cmdstat_")) != NULL; at++) {
        if (sscanf(at, "cmdstat_evalsha:calls=%lld", &calls) == 1 ||
            sscanf(at, "cmdstat_blpop:calls=%lld", &calls) == 1)
            n += calls;
    }
    return n;
}

/* ---- Waiting ------------------------------------------------------------------ */

static void test_waiter_is_woken_when_another_program_gives_back(void **state)
{
    rf_lock *lock = take_elsewhere("r", 60000);
    waiter w = { 0 };
    int64_t begin;

    (void)state;
    want(&w, "r", 20000);
    loop_for(l, 100);
    assert_int_equal(w.times, 0);
    begin = test_now_ms();
    assert_status(rf_release(lock), RF_OK);
    loop_until(l, &w.times, 1);
    assert_at_most_ms(begin, 2000);
    assert_status(w.status, RF_OK);
    assert_true(w.fence == 2);
    loop_until(l, &w.released, 1);
    assert_int_equal(held("r"), 0);
}

static void test_waiters_are_served_in_the_order_of_their_calls(void **state)
{
    static waiter w[WAITERS];
    rf_lock *lock = take("r", 60000);
    int grants = 0;
    long long before;

    (void)state;
    memset(w, 0, sizeof(w));
    for (int i = 0; i < WAITERS; i++) {
        w[i].counter = &grants;
        want(&w[i], "r", 60000);
    }
    loop_for(l, 100);
    before = asked();
    give(lock);
    for (int i = 0; i < WAITERS; i++)
        loop_until(l, &w[i].released, 1);
    for (int i = 0; i < WAITERS; i++) {
        assert_status(w[i].status, RF_OK);
        assert_int_equal(w[i].times, 1);
        assert_int_equal(w[i].order, i + 1);
        assert_true(w[i].fence == i + 2);
    }
    /* A release, a grant, and the next one's question and sleep. */
    assert_in_range(asked() - before, WAITERS, 4 * (WAITERS + 1));
    assert_int_equal(held("r"), 0);
    assert_in_range(loop_connections(l), 2, 3);
}

static int all_released(const waiter *w, int n)
{
    for (int i = 0; i < n; i++) {
        if (!w[i].released)
            return 0;
    }
    return 1;
}

static void test_two_programs_take_turns(void **state)
{
    loop *other = loop_open(proxy_url(fault), NULL);
    static waiter w[20];
    int64_t since;
    int grants = 0;

    (void)state;
    memset(w, 0, sizeof(w));
    for (int i = 0; i < 20; i++) {
        rf_acquire_options opts = RF_ACQUIRE_INIT;

        opts.wait_ms = 60000;
        w[i].counter = &grants;
        assert_status(rf_async_acquire(i % 2 ? loop_client(other) : async, "r",
                                       &opts, on_acquired, &w[i]),
                      RF_OK);
    }
    since = test_now_ms();
    while (!all_released(w, 20)) {
        loop_for(l, 2);
        loop_for(other, 2);
        assert_at_most_ms(since, 30000);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(w[i].times, 1);
    loop_close(other);
}

static void test_wait_that_is_over_is_timeout(void **state)
{
    rf_lock *lock = take_elsewhere("r", 60000);
    waiter first = { 0 }, second = { 0 };
    int64_t begin = test_now_ms();

    (void)state;
    want(&first, "r", 300);
    want(&second, "r", 400);
    loop_until(l, &first.times, 1);
    assert_at_least_ms(begin, 300);
    loop_until(l, &second.times, 1);
    assert_at_least_ms(begin, 400);
    assert_at_most_ms(begin, 5000);
    assert_status(first.status, RF_TIMEOUT);
    assert_status(second.status, RF_TIMEOUT);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(held("r"), 0);
    give(take("r", 1000));
}

static void test_holder_that_dies_is_waited_for_no_longer_than_its_time(
    void **state)
{
    waiter w = { 0 };
    int64_t begin = test_now_ms();
    rf_lock *lock = take_elsewhere("r", 300);

    (void)state;
    want(&w, "r", 30000);
    loop_until(l, &w.times, 1);
    assert_status(w.status, RF_OK);
    assert_at_most_ms(begin, 5000);
    loop_until(l, &w.released, 1);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_lock_of_another_kind_is_asked_for_again(void **state)
{
    waiter w = { 0 };

    (void)state;
    redis_server_command(server, "SET " LOCK " token PX 200", "r");
    want(&w, "r", 30000);
    loop_until(l, &w.times, 1);
    assert_status(w.status, RF_OK);
    loop_until(l, &w.released, 1);
}

static void test_server_that_comes_back_is_found_while_waiting(void **state)
{
    waiter w[3] = { { 0 } };

    (void)state;
    redis_server_kill(server);
    for (int i = 0; i < 3; i++)
        want(&w[i], "r", 30000);
    loop_for(l, 200);
    redis_server_restart(server);
    for (int i = 0; i < 3; i++) {
        loop_until(l, &w[i].released, 1);
        assert_int_equal(w[i].times, 1);
    }
}

static void test_connection_that_sleeps_may_break(void **state)
{
    rf_lock *lock = take_elsewhere("r", 60000);
    waiter w[2] = { { 0 } };

    (void)state;
    want(&w[0], "r", 30000);
    want(&w[1], "r", 30000);
    for (int i = 0; i < 5; i++) {
        loop_for(l, 30);
        redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
    }
    rf_release(lock);
    redis_server_command(server, "DEL " LOCK, "r");
    for (int i = 0; i < 2; i++) {
        loop_until(l, &w[i].released, 1);
        assert_int_equal(w[i].times, 1);
    }
}

/* ---- Cancelling ----------------------------------------------------------------- */

static void test_cancelled_waits_end_and_others_go_on(void **state)
{
    rf_lock *lock = take_elsewhere("r", 60000);
    waiter w[4] = { { 0 } };

    (void)state;
    for (int i = 0; i < 4; i++)
        want(&w[i], "r", 30000);
    loop_for(l, 50);
    /* The one that sleeps, and one behind it. */
    assert_int_equal(rf_async_cancel(async, &w[0]), 1);
    assert_int_equal(rf_async_cancel(async, &w[2]), 1);
    assert_int_equal(rf_async_cancel(async, &w[2]), 0);
    assert_int_equal(rf_async_cancel(async, &state), 0);
    loop_until(l, &w[0].times, 1);
    loop_until(l, &w[2].times, 1);
    assert_status(w[0].status, RF_TIMEOUT);
    assert_status(w[2].status, RF_TIMEOUT);
    assert_status(rf_release(lock), RF_OK);
    loop_until(l, &w[1].released, 1);
    loop_until(l, &w[3].released, 1);
    assert_int_equal(w[0].times + w[1].times + w[2].times + w[3].times, 4);
}

static void test_cancelled_grant_on_its_way_is_given_back(void **state)
{
    waiter w = { 0 };

    (void)state;
    give(take("r", 1000));
    proxy_set_delay(fault, 0, 1, 100);
    want(&w, "r", 0);
    loop_for(l, 30);
    assert_int_equal(rf_async_cancel(async, &w), 1);
    assert_int_equal(w.times, 0);
    loop_until(l, &w.times, 1);
    assert_status(w.status, RF_TIMEOUT);
    assert_int_equal(held("r"), 0);
}

static void test_wakeup_of_a_cancelled_waiter_goes_to_another(void **state)
{
    loop *other = loop_open(proxy_url(fault), NULL);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    waiter mine = { 0 }, theirs = { 0 };
    rf_lock *lock = take_elsewhere("r", 60000);
    int64_t begin;

    (void)state;
    opts.wait_ms = 30000;
    want(&mine, "r", 30000);
    loop_for(l, 50);
    assert_status(
        rf_async_acquire(loop_client(other), "r", &opts, on_acquired, &theirs),
        RF_OK);
    loop_for(other, 50);
    /* Mine is woken, and hears of it only when it gives up. */
    assert_status(rf_release(lock), RF_OK);
    begin = test_now_ms();
    rf_async_cancel(async, &mine);
    loop_until(l, &mine.times, 1);
    assert_status(mine.status, RF_TIMEOUT);
    loop_until(other, &theirs.times, 1);
    assert_status(theirs.status, RF_OK);
    assert_at_most_ms(begin, 3000);
    loop_until(other, &theirs.released, 1);
    loop_close(other);
}

/* ---- Keeping --------------------------------------------------------------------- */

typedef struct loss {
    int times;
    rf_lost_reason reason;
    rf_fence fence;
    int64_t at_ms;
    int release;
} loss;

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    loss *n = arg;

    n->times++;
    n->reason = reason;
    n->fence = rf_lock_fence(lock);
    n->at_ms = test_now_ms();
    if (n->release)
        assert_status(rf_async_release(lock, NULL, NULL), RF_OK);
}

static rf_lock *keep(const char *resource, int64_t ttl_ms, int64_t hold_max_ms,
                     loss *n)
{
    rf_lock *lock = take(resource, ttl_ms);
    rf_keep_options opts = RF_KEEP_INIT;

    opts.hold_max_ms = hold_max_ms;
    opts.on_lost = on_lost;
    opts.arg = n;
    assert_status(rf_async_keep(lock, &opts), RF_OK);
    assert_status(rf_async_keep(lock, &opts), RF_MISUSE);
    assert_status(rf_async_renew(lock, 1000, on_released, n), RF_MISUSE);
    return lock;
}

static void test_kept_lock_outlives_its_time(void **state)
{
    loss n = { 0 };
    rf_lock *lock = keep("r", 1500, 0, &n);

    (void)state;
    for (int i = 0; i < 40; i++) {
        loop_for(l, 60);
        assert_true(rf_lock_fence(lock) == 1);
    }
    give(lock);
    assert_int_equal(n.times, 0);
    assert_int_equal(held("r"), 0);
}

static void test_released_lock_is_never_renewed_again(void **state)
{
    loss n = { 0 };
    rf_lock *lock = keep("r", 900, 0, &n);
    long long before;

    (void)state;
    loop_for(l, 250);
    proxy_set_delay(fault, 0, 1, 200);
    loop_for(l, 100); /* a renewal is on its way */
    give(lock);
    before = asked();
    loop_for(l, 700);
    assert_int_equal(asked(), before);
    assert_int_equal(n.times, 0);
}

static void test_kept_lock_that_another_took_is_told_once(void **state)
{
    loss n = { .release = 1 };

    (void)state;
    keep("r", 900, 0, &n);
    redis_server_command(server, "SET " LOCK " token PX 60000", "r");
    loop_until(l, &n.times, 1);
    loop_for(l, 300);
    assert_int_equal(n.times, 1);
    assert_int_equal(n.reason, RF_LOST_TAKEN);
    assert_true(n.fence == 0);
    assert_int_equal(held("r"), 1);
}

static void test_kept_lock_that_is_gone_is_expired(void **state)
{
    loss n = { 0 };
    rf_lock *lock = keep("r", 900, 0, &n);

    (void)state;
    redis_server_command(server, "FLUSHALL");
    loop_until(l, &n.times, 1);
    assert_int_equal(n.reason, RF_LOST_EXPIRED);
    assert_int_equal(held("r"), 0);
    assert_status(rf_async_release(lock, NULL, NULL), RF_OK);
}

static void test_cap_on_holding_gives_back(void **state)
{
    loss n = { .release = 1 };
    int64_t begin = test_now_ms();

    (void)state;
    keep("r", 1500, 1800, &n);
    loop_until(l, &n.times, 1);
    assert_in_range(n.at_ms - begin, 1790, 8000);
    assert_int_equal(n.reason, RF_LOST_CAP);
    assert_true(n.fence == 0);
    assert_int_equal(held("r"), 0);
}

static void test_one_failed_renewal_is_no_loss(void **state)
{
    loss n = { 0 };
    rf_lock *lock = keep("r", 1500, 0, &n);

    (void)state;
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 3);
    loop_for(l, 1800);
    assert_int_equal(n.times, 0);
    assert_true(rf_lock_fence(lock) == 1);
    give(lock);
}

static void test_silent_server_is_unreachable_at_the_deadline(void **state)
{
    loss n = { .release = 1 };
    int64_t begin;

    (void)state;
    begin = test_now_ms();
    keep("r", 600, 0, &n);
    redis_server_freeze(server);
    loop_until(l, &n.times, 1);
    redis_server_thaw(server);
    assert_in_range(n.at_ms - begin, 500, 3000);
    assert_int_equal(n.reason, RF_LOST_UNREACHABLE);
    assert_true(n.fence == 0);
}

static void test_loop_that_sleeps_too_long_finds_it_lost(void **state)
{
    loss n = { .release = 1 };
    rf_lock *lock;

    (void)state;
    lock = keep("r", 300, 0, &n);
    rf__sleep_until_ms(rf__now_ms() + 400);
    assert_true(rf_lock_fence(lock) == 0);
    loop_until(l, &n.times, 1);
    assert_int_equal(n.reason, RF_LOST_EXPIRED);
}

static void test_thousand_locks_are_kept_on_one_connection(void **state)
{
    static rf_lock *locks[1000];
    waiter given = { 0 };
    loss n = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        locks[i] = keep(name, 9000, 0, &n);
    }
    loop_for(l, 3500);
    for (int i = 0; i < 1000; i++) {
        assert_true(rf_lock_left_ms(locks[i]) > 1000);
        assert_status(rf_async_release(locks[i], on_released, &given), RF_OK);
    }
    loop_until(l, &given.released, 1000);
    assert_int_equal(n.times, 0);
    assert_int_equal(loop_connections(l), 1);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 1000);
}

#define looped(test) \
    cmocka_unit_test_setup_teardown(test, open_loop, close_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        looped(test_waiter_is_woken_when_another_program_gives_back),
        looped(test_waiters_are_served_in_the_order_of_their_calls),
        looped(test_two_programs_take_turns),
        looped(test_wait_that_is_over_is_timeout),
        looped(test_holder_that_dies_is_waited_for_no_longer_than_its_time),
        looped(test_lock_of_another_kind_is_asked_for_again),
        looped(test_server_that_comes_back_is_found_while_waiting),
        looped(test_connection_that_sleeps_may_break),
        looped(test_cancelled_waits_end_and_others_go_on),
        looped(test_cancelled_grant_on_its_way_is_given_back),
        looped(test_wakeup_of_a_cancelled_waiter_goes_to_another),
        looped(test_kept_lock_outlives_its_time),
        looped(test_released_lock_is_never_renewed_again),
        looped(test_kept_lock_that_another_took_is_told_once),
        looped(test_kept_lock_that_is_gone_is_expired),
        looped(test_cap_on_holding_gives_back),
        looped(test_one_failed_renewal_is_no_loss),
        looped(test_silent_server_is_unreachable_at_the_deadline),
        looped(test_loop_that_sleeps_too_long_finds_it_lost),
        looped(test_thousand_locks_are_kept_on_one_connection),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
