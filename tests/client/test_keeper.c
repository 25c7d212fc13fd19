/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_keeper.c - locks that are renewed until they are released or lost
 */
#include "rf_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open_far(500);
}

/* What on_lost() was told. */
typedef struct news {
    atomic_int times;
    atomic_int reason;
    rf_fence fence;
    int64_t at_ms;
    rf_status release;
} news;

static void listen(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    news *n = arg;

    n->fence = rf_lock_fence(lock);
    n->at_ms = test_now_ms();
    n->reason = reason;
    n->times++;
}

static rf_lock *keep(const char *resource, int64_t ttl_ms, int64_t hold_max_ms,
                     news *n)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_keep_options k = RF_KEEP_INIT;
    rf_lock *lock;

    a.ttl_ms = ttl_ms;
    assert_status(rf_acquire(client, resource, &a, &lock), RF_OK);
    k.hold_max_ms = hold_max_ms;
    k.on_lost = n != NULL ? listen : NULL;
    k.arg = n;
    assert_status(rf_keep(lock, &k), RF_OK);
    return lock;
}

static void wait_ms(int64_t ms)
{
    rf__sleep_until_ms(rf__now_ms() + ms);
}

static void until_told(news *n)
{
    int64_t since = test_now_ms();

    while (n->times == 0) {
        assert_at_most_ms(since, 10000);
        wait_ms(2);
    }
}

static long long renewals(void)
{
    const char *found = strstr(
        redis_server_command(server, "INFO commandstats"), "cmdstat_pexpire:");
    long long calls = 0;

    if (found != NULL)
        sscanf(found, "cmdstat_pexpire:calls=%lld", &calls);
    return calls;
}

static void test_kept_lock_outlives_its_ttl_many_times(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 600, 0, &n);
    int64_t begin = test_now_ms();

    (void)state;
    while (test_now_ms() - begin < 2000) {
        assert_int_equal(rf_lock_fence(lock), 1);
        assert_in_range(rf_lock_left_ms(lock), 1, 600);
        wait_ms(5);
    }
    assert_in_range(renewals(), 4, 40);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(n.times, 0);
}

static void test_released_lock_is_never_renewed_again(void **state)
{
    rf_lock *lock = keep("r", 150, 0, NULL);
    long long before;

    (void)state;
    wait_ms(200);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    before = renewals();
    assert_true(before > 0);
    wait_ms(300);
    assert_int_equal(renewals(), before);
}

static void test_release_waits_for_the_renewal_on_its_way(void **state)
{
    rf_lock *lock = keep("r", 900, 0, NULL);
    long long before;
    int64_t begin;

    (void)state;
    wait_ms(250);
    proxy_set_delay(fault, 0, 1, 300);
    wait_ms(100); /* the renewal is under way, its answer is not */
    begin = test_now_ms();
    assert_status(rf_release(lock), RF_OK);
    assert_at_least_ms(begin, 50);
    before = renewals();
    wait_ms(500);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_int_equal(renewals(), before);
}

static void test_lock_that_another_took_is_told_once(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 300, 0, &n);

    (void)state;
    redis_server_command(server, "SET " LOCK " token PX 60000", "r");
    until_told(&n);
    wait_ms(400);
    assert_int_equal(n.times, 1);
    assert_int_equal(n.reason, RF_LOST_TAKEN);
    assert_int_equal(n.fence, 0);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_status(rf__lock_state(lock), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    assert_string_equal(redis_server_command(server, "GET " LOCK, "r"),
                        "token");
}

static void test_lock_that_redis_forgot_is_expired_and_not_made_again(
    void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 300, 0, &n);

    (void)state;
    redis_server_command(server, "FLUSHALL");
    until_told(&n);
    wait_ms(300);
    assert_int_equal(n.times, 1);
    assert_int_equal(n.reason, RF_LOST_EXPIRED);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_cap_on_holding_gives_the_lock_back(void **state)
{
    news n = { 0 };
    int64_t begin = test_now_ms();
    rf_lock *lock = keep("r", 450, 700, &n);

    (void)state;
    while (test_now_ms() - begin < 600) {
        assert_int_equal(rf_lock_fence(lock), 1);
        wait_ms(5);
    }
    until_told(&n);
    assert_in_range(n.at_ms - begin, 690, 2000);
    assert_int_equal(n.reason, RF_LOST_CAP);
    assert_int_equal(n.times, 1);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_cap_below_the_ttl_counts_too(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 30000, 200, &n);

    (void)state;
    assert_in_range(rf_lock_left_ms(lock), 1, 200);
    until_told(&n);
    assert_int_equal(n.reason, RF_LOST_CAP);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    rf_release(lock);
}

static void test_silent_redis_is_unreachable_at_the_deadline_not_before(
    void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 900, 0, &n);
    int64_t begin = test_now_ms();

    (void)state;
    redis_server_freeze(server);
    while (rf_lock_fence(lock) != 0) {
        assert_int_equal(n.times, 0);
        wait_ms(1);
    }
    assert_at_least_ms(begin, 850);
    until_told(&n);
    redis_server_thaw(server);
    assert_in_range(n.at_ms - begin, 850, 2500);
    assert_int_equal(n.reason, RF_LOST_UNREACHABLE);
    wait_ms(100);
    assert_int_equal(n.times, 1);
    assert_int_equal(rf_lock_fence(lock), 0);
    rf_release(lock);
}

static void test_failed_attempts_are_no_loss(void **state)
{
    static const proxy_fault faults[] = { PROXY_CUT_BEFORE, PROXY_CUT_AFTER,
                                          PROXY_CUT_INSIDE, PROXY_DUPLICATE,
                                          PROXY_HALF_CLOSE };
    news n = { 0 };
    rf_lock *lock = keep("r", 1200, 0, &n);

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        long long before = renewals();
        int64_t since = test_now_ms();

        proxy_set(fault, faults[i], 0, 2);
        while (renewals() < before + 2) {
            assert_at_most_ms(since, 5000);
            assert_int_equal(rf_lock_fence(lock), 1);
            wait_ms(5);
        }
        proxy_set(fault, PROXY_PASS, 0, 0);
    }
    assert_int_equal(n.times, 0);
    assert_status(rf_release(lock), RF_OK);
}

static void test_restart_of_redis_with_its_data_is_no_loss(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 3000, 0, &n);

    (void)state;
    assert_string_equal(redis_server_command(server, "SAVE"), "OK");
    redis_server_restart_with_data(server);
    wait_ms(3500);
    assert_int_equal(n.times, 0);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
    redis_server_restart(server);
}

static void test_forgotten_script_is_no_loss(void **state)
{
    news n = { 0 };
    rf_lock *a = keep("a", 450, 0, &n), *b = keep("b", 450, 0, &n);

    (void)state;
    for (int i = 0; i < 20; i++) {
        redis_server_command(server, "SCRIPT FLUSH");
        wait_ms(30);
    }
    assert_int_equal(n.times, 0);
    assert_int_equal(rf_lock_fence(a), 1);
    assert_int_equal(rf_lock_fence(b), 1);
    rf_release(a);
    rf_release(b);
}

static void test_many_locks_share_one_connection_and_all_live(void **state)
{
    static rf_lock *locks[300];
    news n = { 0 };
    char name[16];

    (void)state;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "many:%d", i);
        locks[i] = keep(name, 1500, 0, &n);
    }
    wait_ms(2500);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(rf_lock_fence(locks[i]), 1);
        if (i % 2)
            assert_status(rf_release(locks[i]), RF_OK);
    }
    wait_ms(1700);
    for (int i = 0; i < 300; i += 2) {
        assert_int_equal(rf_lock_fence(locks[i]), 1);
        assert_status(rf_release(locks[i]), RF_OK);
    }
    assert_int_equal(n.times, 0);
    assert_int_equal(proxy_connections(fault), 2);
}

static void test_locks_of_different_ttl_are_each_renewed_in_time(void **state)
{
    static const int64_t ttl[] = { 300, 5000, 450, 1000, 60000, 600 };
    rf_lock *locks[6];
    news n = { 0 };
    char name[16];
    int64_t begin = test_now_ms();

    (void)state;
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "ttl:%d", i);
        locks[i] = keep(name, ttl[i], 0, &n);
    }
    while (test_now_ms() - begin < 1500) {
        for (int i = 0; i < 6; i++)
            assert_int_equal(rf_lock_fence(locks[i]), 1);
        wait_ms(3);
    }
    assert_int_equal(n.times, 0);
    for (int i = 5; i >= 0; i--)
        assert_status(rf_release(locks[i]), RF_OK);
}

static void try_to_release(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    news *n = arg;

    n->release = rf_release(lock);
    n->reason = reason;
    n->times++;
}

static void test_release_inside_on_lost_is_misuse_and_frees_nothing(
    void **state)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_keep_options k = RF_KEEP_INIT;
    news n = { 0 };
    rf_lock *lock;

    (void)state;
    a.ttl_ms = 200;
    assert_status(rf_acquire(client, "r", &a, &lock), RF_OK);
    k.on_lost = try_to_release;
    k.arg = &n;
    assert_status(rf_keep(lock, &k), RF_OK);
    redis_server_command(server, "FLUSHALL");
    until_told(&n);
    assert_status(n.release, RF_MISUSE);
    assert_status(rf_release(lock), RF_LOST);
}

/* What on_lost() finds to release: the lost one among those of another client. */
typedef struct several {
    news n;
    rf_lock *locks[3];
} several;

static void try_to_release_all(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    several *s = arg;

    (void)lock;
    s->n.release = rf_release_all(s->locks, 3);
    s->n.reason = reason;
    s->n.times++;
}

static void test_release_of_several_inside_on_lost_touches_none(void **state)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_keep_options k = RF_KEEP_INIT;
    several s = { .locks = { NULL } };
    rf_client *other;

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &other), RF_OK);
    assert_status(rf_acquire(other, "a", &a, &s.locks[0]), RF_OK);
    assert_status(rf_acquire(other, "b", &a, &s.locks[1]), RF_OK);
    assert_status(rf_keep(s.locks[1], NULL), RF_OK);
    a.ttl_ms = 200;
    assert_status(rf_acquire(client, "r", &a, &s.locks[2]), RF_OK);
    k.on_lost = try_to_release_all;
    k.arg = &s;
    assert_status(rf_keep(s.locks[2], &k), RF_OK);
    redis_server_command(server, "DEL " LOCK, "r");
    until_told(&s.n);
    assert_status(s.n.release, RF_MISUSE);
    assert_int_equal(
        redis_server_number(server, "EXISTS " LOCK " " LOCK, "a", "b"), 2);
    assert_status(rf_renew(s.locks[1], 60000), RF_MISUSE); /* still kept */
    assert_status(rf_release_all(s.locks, 3), RF_LOST);
    assert_null(s.locks[0]);
    rf_close(other);
}

static void test_calls_that_do_not_fit_a_kept_lock_are_misuse(void **state)
{
    rf_lock *lock = keep("r", 30000, 0, NULL);

    (void)state;
    assert_status(rf_keep(lock, NULL), RF_MISUSE);
    assert_status(rf_renew(lock, 1000), RF_MISUSE);
    assert_status(rf_reissue(lock, 100), RF_MISUSE);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
}

static void test_bad_options_are_misuse(void **state)
{
    rf_keep_options k = RF_KEEP_INIT;
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    k.ttl_ms = -1;
    assert_status(rf_keep(lock, &k), RF_MISUSE);
    k.ttl_ms = RF_TTL_MAX_MS + 1;
    assert_status(rf_keep(lock, &k), RF_MISUSE);
    k.ttl_ms = 0;
    k.hold_max_ms = -1;
    assert_status(rf_keep(lock, &k), RF_MISUSE);
    redis_server_command(server, "FLUSHALL");
    assert_status(rf_renew(lock, 1000), RF_LOST);
    assert_status(rf_keep(lock, NULL), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_close_ends_the_keeper_and_leaves_the_locks(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 300, 0, &n);

    (void)state;
    rf_close(client);
    client = NULL;
    assert_int_equal(rf_lock_fence(lock), 0);
    wait_ms(400);
    assert_int_equal(n.times, 0);
    assert_status(rf_release(lock), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_forked_child_leaves_the_keeper_alone(void **state)
{
    news n = { 0 };
    rf_lock *lock = keep("r", 300, 0, &n);
    int ends[2], fine = 0;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        fine = rf_lock_fence(lock) == 0 && rf_release(lock) == RF_MISUSE;
        rf_close(client);
        _exit(write(ends[1], &fine, sizeof(fine)) < 0 ? 1 : 0);
    }
    assert_int_equal(read(ends[0], &fine, sizeof(fine)), sizeof(fine));
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    assert_true(fine);
    wait_ms(500);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_int_equal(n.times, 0);
    assert_status(rf_release(lock), RF_OK);
}

static atomic_int blocked = -1;

static void look_at_signals(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    blocked = sigismember(&now, SIGALRM) && sigismember(&now, SIGTERM) &&
              sigismember(&now, SIGCHLD);
    listen(lock, reason, arg);
}

static void test_keeper_takes_none_of_the_signals(void **state)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_keep_options k = RF_KEEP_INIT;
    news n = { 0 };
    sigset_t mine;
    rf_lock *lock;

    (void)state;
    a.ttl_ms = 200;
    assert_status(rf_acquire(client, "r", &a, &lock), RF_OK);
    k.on_lost = look_at_signals;
    k.arg = &n;
    assert_status(rf_keep(lock, &k), RF_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_false(sigismember(&mine, SIGTERM));
    redis_server_command(server, "FLUSHALL");
    until_told(&n);
    assert_int_equal(blocked, 1);
    rf_release(lock);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_kept_lock_outlives_its_ttl_many_times),
        CASE(test_released_lock_is_never_renewed_again),
        CASE(test_release_waits_for_the_renewal_on_its_way),
        CASE(test_lock_that_another_took_is_told_once),
        CASE(test_lock_that_redis_forgot_is_expired_and_not_made_again),
        CASE(test_cap_on_holding_gives_the_lock_back),
        CASE(test_cap_below_the_ttl_counts_too),
        CASE(test_silent_redis_is_unreachable_at_the_deadline_not_before),
        CASE(test_failed_attempts_are_no_loss),
        CASE(test_restart_of_redis_with_its_data_is_no_loss),
        CASE(test_forgotten_script_is_no_loss),
        CASE(test_many_locks_share_one_connection_and_all_live),
        CASE(test_locks_of_different_ttl_are_each_renewed_in_time),
        CASE(test_release_inside_on_lost_is_misuse_and_frees_nothing),
        CASE(test_release_of_several_inside_on_lost_touches_none),
        CASE(test_calls_that_do_not_fit_a_kept_lock_are_misuse),
        CASE(test_bad_options_are_misuse),
        CASE(test_close_ends_the_keeper_and_leaves_the_locks),
        CASE(test_forked_child_leaves_the_keeper_alone),
        CASE(test_keeper_takes_none_of_the_signals),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
