/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_async.c - the lock in an event loop: what is asked, and every answer
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "loop.h"
#include "redis_world.h"

#define TIMEOUT_MS 800

static loop *l;
static rf_client *async;

/* What a callback was told. */
typedef struct news {
    int times;
    rf_status status;
    rf_lock *lock;
    int64_t busy_ms;
    char text[256];
} news;

static void note(news *n, rf_client *from, rf_status status)
{
    n->times++;
    n->status = status;
    n->busy_ms = rf_busy_ms(from);
    snprintf(n->text, sizeof(n->text), "%s", rf_message(from));
}

static void on_acquired(rf_client *from, rf_status status, rf_lock *lock,
                        void *arg)
{
    news *n = arg;

    assert_true((lock != NULL) == (status == RF_OK));
    note(n, from, status);
    n->lock = lock;
}

static void on_done(rf_client *from, rf_status status, void *arg)
{
    note(arg, from, status);
}

static int open_with(int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;

    opts.timeout_ms = timeout_ms;
    if (redis_world_open_far(2000) != 0)
        return 1;
    l = loop_open(proxy_url(fault), &opts);
    async = loop_client(l);
    return 0;
}

static int open_patient(void **state)
{
    (void)state;
    return open_with(10000);
}

static int open_hasty(void **state)
{
    (void)state;
    return open_with(TIMEOUT_MS);
}

static int close_all(void **state)
{
    loop_close(l);
    return redis_world_close(state);
}

static rf_status acquire_with(const char *resource,
                              const rf_acquire_options *opts, news *n)
{
    n->times = 0;
    assert_status(rf_async_acquire(async, resource, opts, on_acquired, n),
                  RF_OK);
    assert_int_equal(n->times, 0);
    loop_until(l, &n->times, 1);
    return n->status;
}

static rf_status acquire(const char *resource, news *n)
{
    return acquire_with(resource, NULL, n);
}

static rf_lock *take(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    news n = { 0 };

    opts.ttl_ms = ttl_ms;
    if (acquire_with(resource, &opts, &n) != RF_OK)
        fail_msg("%s: %s", rf_status_name(n.status), n.text);
    return n.lock;
}

static rf_status give(rf_lock *lock)
{
    news n = { 0 };

    assert_status(rf_async_release(lock, on_done, &n), RF_OK);
    loop_until(l, &n.times, 1);
    return n.status;
}

static rf_status renew(rf_lock *lock, int64_t ttl_ms)
{
    news n = { 0 };

    assert_status(rf_async_renew(lock, ttl_ms, on_done, &n), RF_OK);
    loop_until(l, &n.times, 1);
    return n.status;
}

static void assert_says(const news *n, const char *what)
{
    if (strstr(n->text, what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", n->text, what);
}

static int held(const char *resource)
{
    return (int)redis_server_number(server, "EXISTS " LOCK, resource);
}

/* ---- What is granted ---------------------------------------------------------- */

static void test_grant_is_told_once_with_its_fence(void **state)
{
    news n = { 0 };

    (void)state;
    assert_status(acquire("r", &n), RF_OK);
    assert_true(rf_lock_fence(n.lock) == 1);
    assert_string_equal(rf_lock_resource(n.lock), "r");
    assert_in_range(rf_lock_left_ms(n.lock), 1, 30000 - 302);
    assert_string_equal(n.text, "");
    assert_status(renew(n.lock, 60000), RF_OK);
    assert_in_range(rf_lock_left_ms(n.lock), 40000, 60000 - 602);
    assert_status(give(n.lock), RF_OK);
    assert_int_equal(held("r"), 0);
    loop_for(l, 50);
    assert_int_equal(n.times, 1);
    assert_int_equal(rf_async_next_ms(async), -1);
    assert_int_equal(loop_connections(l), 1);
}

static void test_lock_of_another_is_busy_and_tells_how_long(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    news n = { 0 };
    rf_lock *lock;

    (void)state;
    opts.ttl_ms = 5000;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    assert_status(acquire("r", &n), RF_BUSY);
    assert_in_range(n.busy_ms, 1, 5000);
    assert_says(&n, "held by another");
    assert_status(rf_release(lock), RF_OK);
    assert_status(give(take("r", 30000)), RF_OK);
}

static void test_many_at_once_go_out_together_on_one_connection(void **state)
{
    static news n[300];
    news given = { 0 };
    int before;

    (void)state;
    assert_status(give(take("warm", 30000)), RF_OK);
    before = proxy_requests(fault);
    for (int i = 0; i < 300; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        n[i].times = 0;
        assert_status(rf_async_acquire(async, name, NULL, on_acquired, &n[i]),
                      RF_OK);
    }
    for (int i = 0; i < 300; i++) {
        loop_until(l, &n[i].times, 1);
        assert_status(n[i].status, RF_OK);
        assert_status(rf_async_release(n[i].lock, on_done, &given), RF_OK);
    }
    loop_until(l, &given.times, 300);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 301);
    assert_int_equal(loop_connections(l), 1);
    assert_int_equal(proxy_requests(fault) - before, 600);
}

static void test_same_lock_again_only_on_request(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *first = take("r", 30000);
    news n = { 0 };

    (void)state;
    assert_status(acquire("r", &n), RF_BUSY);
    opts.reentrant = 1;
    assert_status(acquire_with("r", &opts, &n), RF_OK);
    assert_ptr_equal(n.lock, first);
    assert_status(give(first), RF_OK);
    assert_int_equal(held("r"), 1);
    assert_status(give(first), RF_OK);
    assert_int_equal(held("r"), 0);
}

static void test_readers_share_and_have_no_fence(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    news a = { 0 }, b = { 0 }, writer = { 0 };

    (void)state;
    opts.shared = 1;
    assert_status(acquire_with("r", &opts, &a), RF_OK);
    assert_status(acquire_with("r", &opts, &b), RF_OK);
    assert_true(rf_lock_fence(a.lock) == 0);
    assert_true(rf_lock_left_ms(a.lock) > 0);
    assert_status(acquire("r", &writer), RF_BUSY);
    assert_status(renew(a.lock, 20000), RF_OK);
    assert_status(give(a.lock), RF_OK);
    assert_status(give(b.lock), RF_OK);
    assert_status(give(take("r", 30000)), RF_OK);
}

static rf_status floor_is(void *arg, const char *resource, rf_fence *out)
{
    (void)resource;
    *out = *(rf_fence *)arg;
    return *out < 0 ? RF_RETRY : RF_OK;
}

static void test_missing_counter_is_asked_for(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_fence floor = -1;
    news n = { 0 };

    (void)state;
    opts.ask_floor = floor_is;
    opts.ask_floor_arg = &floor;
    assert_status(acquire_with("r", &opts, &n), RF_RETRY);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    floor = 41;
    assert_status(acquire_with("r", &opts, &n), RF_OK);
    assert_true(rf_lock_fence(n.lock) == 42);
    assert_status(give(n.lock), RF_OK);
}

static void test_lock_that_ran_out_is_lost(void **state)
{
    rf_lock *lock = take("r", 30000), *short_one;
    news n = { 0 };

    (void)state;
    redis_server_command(server, "DEL " LOCK, "r");
    assert_status(renew(lock, 30000), RF_LOST);
    assert_true(rf_lock_fence(lock) == 0);
    assert_status(rf_async_renew(lock, 30000, on_done, &n), RF_LOST);
    assert_status(give(lock), RF_LOST);
    short_one = take("s", 400);
    loop_for(l, 410);
    assert_true(rf_lock_fence(short_one) == 0);
    assert_status(rf_async_renew(short_one, 100, on_done, &n), RF_LOST);
    assert_status(rf_async_release(short_one, NULL, NULL), RF_OK);
    loop_for(l, 50);
    assert_int_equal(n.times, 0);
}

static void test_lock_that_another_took_is_lost_and_stays_his(void **state)
{
    rf_lock *lock = take("r", 30000);

    (void)state;
    redis_server_command(server, "SET " LOCK " other", "r");
    assert_status(give(lock), RF_LOST);
    assert_string_equal(redis_server_command(server, "GET " LOCK, "r"),
                        "other");
}

/* ---- What Redis refuses -------------------------------------------------------- */

static void test_forgotten_script_is_sent_by_text(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        redis_server_command(server, "SCRIPT FLUSH");
        assert_status(give(take("r", 30000)), RF_OK);
    }
    assert_int_equal(loop_connections(l), 1);
}

static void test_full_memory_is_retry_and_the_connection_stays(void **state)
{
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    redis_server_command(server, "CONFIG SET maxmemory 1");
    assert_status(acquire("r", &n), RF_RETRY);
    assert_says(&n, "OOM");
    redis_server_command(server, "CONFIG SET maxmemory 0");
    assert_status(give(take("r", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 1);
}

static void test_server_that_goes_on_refusing_is_left(void **state)
{
    static const char loading[] = "-LOADING Redis is loading the dataset\r\n";
    news n[3] = { { 0 } };

    (void)state;
    proxy_say(fault, 3, loading, strlen(loading));
    for (int i = 0; i < 3; i++)
        assert_status(rf_async_acquire(async, "r", NULL, on_acquired, &n[i]),
                      RF_OK);
    for (int i = 0; i < 3; i++) {
        loop_until(l, &n[i].times, 1);
        assert_status(n[i].status, RF_RETRY);
        assert_says(&n[i], "LOADING");
    }
    assert_int_equal(loop_connections(l), 1);
    assert_status(give(take("r", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 2);
}

static void test_replica_is_left_for_another(void **state)
{
    news n = { 0 };

    (void)state;
    redis_server_command(server, "REPLICAOF 127.0.0.1 1");
    assert_status(acquire("r", &n), RF_RETRY);
    assert_says(&n, "READONLY");
    redis_server_command(server, "REPLICAOF NO ONE");
    assert_status(give(take("r", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 2);
}

static void test_key_of_another_type_is_misuse(void **state)
{
    news n = { 0 };

    (void)state;
    redis_server_command(server, "RPUSH " LOCK " x", "r");
    assert_status(acquire("r", &n), RF_MISUSE);
    assert_says(&n, "not a lock");
    redis_server_command(server, "SET " COUNTER " x", "s");
    assert_status(acquire("s", &n), RF_MISUSE);
    assert_says(&n, "counter");
}

/* ---- Answers that can't be trusted ----------------------------------------------- */

static void test_no_connection_is_retry(void **state)
{
    news n = { 0 };

    (void)state;
    loop_refuse(l, 1);
    assert_status(acquire("r", &n), RF_RETRY);
    assert_says(&n, "cannot connect");
    loop_refuse(l, 0);
    assert_status(give(take("r", 30000)), RF_OK);
}

static void test_answer_lost_is_asked_for_again_and_granted_once(void **state)
{
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    for (int i = 0; i < 3; i++) {
        static const proxy_fault cuts[] = { PROXY_CUT_BEFORE, PROXY_CUT_AFTER,
                                            PROXY_CUT_INSIDE };

        proxy_set(fault, cuts[i], 0, 1);
        assert_status(acquire("r", &n), RF_OK);
        assert_true(rf_lock_fence(n.lock) == i + 2);
        assert_status(give(n.lock), RF_OK);
    }
}

static void test_answer_lost_twice_is_unknown(void **state)
{
    rf_lock *lock;
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 2);
    assert_status(acquire("r", &n), RF_UNKNOWN);
    assert_int_equal(held("r"), 1);
    lock = take("s", 30000);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 2);
    assert_status(renew(lock, 40000), RF_UNKNOWN);
    assert_true(rf_lock_fence(lock) > 0);
    /* The first release was carried out: the second can't tell by whom. */
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(give(lock), RF_UNKNOWN);
    assert_int_equal(held("s"), 0);
}

static void test_silence_is_unknown_when_time_is_over(void **state)
{
    int64_t begin;
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    proxy_set(fault, PROXY_MUTE, 0, 1);
    begin = test_now_ms();
    assert_status(acquire("r", &n), RF_UNKNOWN);
    assert_at_least_ms(begin, TIMEOUT_MS);
    assert_at_most_ms(begin, 10 * TIMEOUT_MS);
    assert_says(&n, "in time");
    assert_status(give(take("s", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 2);
}

static void test_late_answer_is_never_taken_for_another(void **state)
{
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    proxy_set_delay(fault, 0, 1, 3 * TIMEOUT_MS);
    assert_status(acquire("r", &n), RF_UNKNOWN);
    assert_status(acquire("s", &n), RF_OK);
    assert_string_equal(rf_lock_resource(n.lock), "s");
    loop_for(l, 3 * TIMEOUT_MS);
    assert_status(renew(n.lock, 30000), RF_OK);
    assert_status(give(n.lock), RF_OK);
}

static void test_answers_of_others_are_unknown_and_end_the_connection(
    void **state)
{
    static const char *const nonsense[] = {
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*3\r\n$7\r\nacquire\r\n$1\r\nx\r\n$1\r\ny\r\n",
        "!what\r\n",
        "*100000000\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
        "*2147483647\r\n$1\r\n"
    };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        int before = loop_connections(l);
        news n = { 0 };

        proxy_say(fault, 2, nonsense[i], strlen(nonsense[i]));
        assert_status(acquire("r", &n), RF_UNKNOWN);
        proxy_set(fault, PROXY_PASS, 0, 0);
        assert_status(give(take("s", 30000)), RF_OK);
        assert_true(loop_connections(l) > before);
    }
}

static void test_answers_that_come_twice_or_late(void **state)
{
    static const proxy_fault faults[] = { PROXY_DUPLICATE, PROXY_STALE };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    for (int i = 0; i < 8; i++) {
        news a = { 0 }, b = { 0 };
        char first[8], second[8];

        /* A request of the round before may still come, and take its lock. */
        snprintf(first, sizeof(first), "a%d", i);
        snprintf(second, sizeof(second), "b%d", i);
        proxy_set(fault, faults[i % 2], 0, 1);
        assert_status(rf_async_acquire(async, first, NULL, on_acquired, &a),
                      RF_OK);
        assert_status(rf_async_acquire(async, second, NULL, on_acquired, &b),
                      RF_OK);
        loop_until(l, &a.times, 1);
        loop_until(l, &b.times, 1);
        proxy_set(fault, PROXY_PASS, 0, 0);
        if (a.status != RF_OK || b.status != RF_OK)
            fail_msg("fault %d: %s and %s", i, a.text, b.text);
        assert_string_equal(rf_lock_resource(a.lock), first);
        assert_string_equal(rf_lock_resource(b.lock), second);
        assert_status(give(a.lock), RF_OK);
        assert_status(give(b.lock), RF_OK);
        loop_for(l, 20);
    }
}

static void test_answer_nobody_asked_for_ends_the_connection(void **state)
{
    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    /* The release's second answer comes when nothing is on its way. */
    proxy_set(fault, PROXY_DUPLICATE, 1, 1);
    assert_status(give(take("r", 30000)), RF_OK);
    loop_for(l, 100);
    assert_status(give(take("r", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 2);
}

static void test_answer_in_pieces_is_the_same_answer(void **state)
{
    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    proxy_set(fault, PROXY_DRIBBLE, 0, 2);
    assert_status(give(take("r", 30000)), RF_OK);
    assert_int_equal(loop_connections(l), 1);
}

static void test_killed_server_answers_everything_that_was_asked(void **state)
{
    news n[20] = { { 0 } };

    (void)state;
    assert_status(give(take("warm", 30000)), RF_OK);
    redis_server_freeze(server);
    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        assert_status(rf_async_acquire(async, name, NULL, on_acquired, &n[i]),
                      RF_OK);
    }
    loop_for(l, 50);
    redis_server_kill(server);
    for (int i = 0; i < 20; i++) {
        loop_until(l, &n[i].times, 1);
        assert_status(n[i].status, RF_UNKNOWN);
    }
    loop_for(l, 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(n[i].times, 1);
    redis_server_restart(server);
    assert_status(give(take("r", 30000)), RF_OK);
}

static void test_grant_that_comes_too_late_is_given_back(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    opts.ttl_ms = 100;
    proxy_set_delay(fault, 0, 1, 250);
    assert_status(acquire_with("r", &opts, &n), RF_RETRY);
    assert_says(&n, "too late");
    assert_int_equal(held("r"), 0);
}

/* Whether it went back can't be told, so it is not said that nothing landed. */
static void test_grant_too_late_that_may_not_be_back_is_unknown(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    news n = { 0 };

    (void)state;
    assert_status(give(take("r", 30000)), RF_OK);
    opts.ttl_ms = 1; /* too late whenever it comes */
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 100);
    assert_status(acquire_with("r", &opts, &n), RF_UNKNOWN);
    assert_says(&n, "too late");
    proxy_set(fault, PROXY_PASS, 0, 0);
}

/* ---- What is refused at once ------------------------------------------------------ */

static void test_wrong_calls_are_misuse_and_call_nobody_back(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_keep_options keep = RF_KEEP_INIT;
    rf_lock *lock = take("r", 30000), *sync;
    news n = { 0 };

    (void)state;
    assert_status(rf_async_acquire(NULL, "r", NULL, on_acquired, &n),
                  RF_MISUSE);
    assert_status(rf_async_acquire(client, "r", NULL, on_acquired, &n),
                  RF_MISUSE);
    assert_status(rf_async_acquire(async, "", NULL, on_acquired, &n),
                  RF_MISUSE);
    assert_status(rf_async_acquire(async, "r", NULL, NULL, &n), RF_MISUSE);
    opts.ttl_ms = 0;
    assert_status(rf_async_acquire(async, "r", &opts, on_acquired, &n),
                  RF_MISUSE);
    assert_status(rf_async_renew(lock, 0, on_done, &n), RF_MISUSE);
    keep.hold_max_ms = -1;
    assert_status(rf_async_keep(lock, &keep), RF_MISUSE);
    assert_status(rf_async_release(NULL, on_done, &n), RF_MISUSE);
    assert_status(rf_acquire(client, "s", NULL, &sync), RF_OK);
    assert_status(rf_async_renew(sync, 1000, on_done, &n), RF_MISUSE);
    assert_status(rf_async_keep(sync, NULL), RF_MISUSE);
    assert_status(rf_async_release(sync, on_done, &n), RF_MISUSE);
    assert_status(rf_release(sync), RF_OK);
    loop_for(l, 20);
    assert_int_equal(n.times, 0);
    assert_status(give(lock), RF_OK);
}

static void test_calls_that_block_are_refused(void **state)
{
    rf_lock *lock = take("r", 30000), *other, *both[1] = { lock };
    static const char *const names[] = { "s" };
    rf_info info;

    (void)state;
    assert_status(rf_acquire(async, "s", NULL, &other), RF_MISUSE);
    assert_non_null(strstr(rf_message(async), "event loop"));
    assert_status(rf_acquire_all(async, names, 1, NULL, &other), RF_MISUSE);
    assert_status(rf_renew(lock, 1000), RF_MISUSE);
    assert_status(rf_reissue(lock, 9), RF_MISUSE);
    assert_status(rf_keep(lock, NULL), RF_MISUSE);
    assert_status(rf_inspect(async, "s", &info), RF_MISUSE);
    assert_status(rf_force_release(async, "s", 1, "test"), RF_MISUSE);
    assert_status(rf_detach(lock), RF_MISUSE);
    assert_status(rf_release(lock), RF_MISUSE);
    assert_status(rf_release_all(both, 1), RF_MISUSE);
    assert_true(rf_lock_fence(lock) == 1);
    assert_status(give(lock), RF_OK);
}

/*
 * Of locks that block and locks that don't, wherever the latter stand: none is
 * touched, and each can be given back its own way afterwards.
 */
static void test_set_with_a_lock_of_an_event_loop_is_refused_whole(void **state)
{
    static const char *const names[] = { "a", "b", "c" };
    rf_lock *kept, *locks[3];

    (void)state;
    for (int odd = 0; odd < 3; odd++) {
        for (int i = 0; i < 3; i++) {
            if (i == odd)
                locks[i] = take(names[i], 30000);
            else
                assert_status(rf_acquire(client, names[i], NULL, &locks[i]),
                              RF_OK);
        }
        kept = locks[(odd + 1) % 3];
        assert_status(rf_keep(kept, NULL), RF_OK);
        assert_status(rf_release_all(locks, 3), RF_MISUSE);
        assert_non_null(strstr(rf_message(async), "event loop"));
        assert_status(rf_renew(kept, 60000), RF_MISUSE); /* still kept */
        assert_status(rf_renew_all(locks, 3, 60000), RF_MISUSE);
        for (int i = 0; i < 3; i++) {
            assert_true(rf_lock_fence(locks[i]) == odd + 1);
            assert_int_equal(held(names[i]), 1);
            if (i == odd)
                assert_status(give(locks[i]), RF_OK);
            else
                assert_status(rf_release(locks[i]), RF_OK);
        }
    }
}

/* Which of several wrong things is told does not matter: nothing is done. */
static void test_set_of_two_loops_is_refused_whole(void **state)
{
    loop *second = loop_open(proxy_url(fault), NULL);
    rf_client *before = async;
    rf_lock *locks[3];
    news n = { 0 };

    (void)state;
    locks[0] = take("a", 30000);
    async = loop_client(second);
    assert_status(rf_async_acquire(async, "b", NULL, on_acquired, &n), RF_OK);
    loop_until(second, &n.times, 1);
    assert_status(n.status, RF_OK);
    locks[1] = n.lock;
    assert_status(rf_acquire(client, "c", NULL, &locks[2]), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_MISUSE);
    assert_int_equal(held("a") + held("b") + held("c"), 3);
    assert_status(rf_release(locks[2]), RF_OK);
    assert_status(rf_async_release(locks[1], on_done, &n), RF_OK);
    loop_until(second, &n.times, 2);
    assert_status(n.status, RF_OK);
    async = before;
    assert_status(give(locks[0]), RF_OK);
    loop_close(second);
}

static void test_options_that_cannot_be_are_misuse(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_loop none = RF_LOOP_INIT;
    rf_client *out = (rf_client *)&out;

    (void)state;
    assert_status(rf_async_open(NULL, NULL, &out), RF_MISUSE);
    assert_null(out);
    assert_status(rf_async_open(&none, NULL, &out), RF_MISUSE);
    assert_non_null(strstr(rf_message(NULL), "connect"));
    none.connect = (struct redisAsyncContext * (*)(void *)) abort;
    opts.min_replicas = 1;
    assert_status(rf_async_open(&none, &opts, &out), RF_MISUSE);
    assert_non_null(strstr(rf_message(NULL), "min_replicas"));
    opts.min_replicas = 0;
    opts.timeout_ms = 0;
    assert_status(rf_async_open(&none, &opts, &out), RF_MISUSE);
    opts.timeout_ms = 1;
    assert_status(rf_async_open(&none, &opts, &out), RF_OK);
    assert_int_equal(rf_async_next_ms(out), -1);
    rf_close(out);
}

/* ---- The end ----------------------------------------------------------------------- */

static void test_close_tells_everybody_once(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock = take("r", 30000), *kept = take("kept", 5000);
    news asked = { 0 }, waits = { 0 }, behind = { 0 }, renewal = { 0 },
         release = { 0 };

    (void)state;
    opts.wait_ms = 10000;
    assert_status(rf_async_acquire(async, "r", &opts, on_acquired, &waits),
                  RF_OK);
    assert_status(rf_async_acquire(async, "r", &opts, on_acquired, &behind),
                  RF_OK);
    loop_for(l, 50);
    assert_status(rf_async_keep(kept, NULL), RF_OK);
    proxy_set(fault, PROXY_MUTE, 0, 100);
    assert_status(rf_async_renew(lock, 1000, on_done, &renewal), RF_OK);
    assert_status(rf_async_release(lock, on_done, &release), RF_OK);
    assert_status(rf_async_acquire(async, "s", NULL, on_acquired, &asked),
                  RF_OK);
    loop_for(l, 20);
    loop_close_client(l);
    assert_int_equal(asked.times, 1);
    assert_status(asked.status, RF_UNKNOWN);
    assert_int_equal(waits.times, 1);
    assert_status(waits.status, RF_RETRY);
    assert_int_equal(behind.times, 1);
    assert_status(behind.status, RF_RETRY);
    assert_int_equal(renewal.times, 1);
    assert_status(renewal.status, RF_UNKNOWN);
    assert_int_equal(release.times, 1);
    assert_status(release.status, RF_UNKNOWN);
    assert_true(rf_lock_fence(kept) == 0);
    assert_status(rf_async_release(kept, on_done, &asked), RF_MISUSE);
    assert_int_equal(asked.times, 1);
}

static void close_then_ask(rf_client *from, rf_status status, void *arg)
{
    note(arg, from, status);
    loop_close_client(l);
    assert_status(rf_async_acquire(from, "r", NULL, on_acquired, arg),
                  RF_MISUSE);
}

static void test_close_in_a_callback_is_safe(void **state)
{
    rf_lock *lock = take("r", 30000), *left = take("left", 30000);
    news closing = { 0 }, n[3] = { { 0 } };

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_status(rf_async_acquire(async, i == 2 ? "r" : "x", NULL,
                                       on_acquired, &n[i]),
                      RF_OK);
        if (i == 0)
            assert_status(rf_async_release(lock, close_then_ask, &closing),
                          RF_OK);
    }
    loop_until(l, &closing.times, 1);
    assert_status(closing.status, RF_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(n[i].times, 1);
    assert_true(rf_lock_fence(left) == 0);
    for (int i = 0; i < 3; i++) {
        if (n[i].lock != NULL)
            assert_status(rf_async_release(n[i].lock, NULL, NULL), RF_MISUSE);
    }
    assert_status(rf_async_release(left, on_done, &n[0]), RF_MISUSE);
    assert_int_equal(n[0].times, 1);
}

static void ask_again(rf_client *from, rf_status status, rf_lock *lock,
                      void *arg)
{
    news *n = arg;

    (void)lock;
    note(n, from, status);
    if (n->times < 5)
        assert_status(rf_async_acquire(from, "r", NULL, ask_again, n), RF_OK);
}

static void test_callback_may_ask_again(void **state)
{
    news n = { 0 };

    (void)state;
    loop_refuse(l, 1);
    assert_status(rf_async_acquire(async, "r", NULL, ask_again, &n), RF_OK);
    loop_until(l, &n.times, 5);
    assert_status(n.status, RF_RETRY);
}

static void count_events(const rf_event *event, void *arg)
{
    int *events = arg;

    events[event->call]++;
}

static void test_calls_are_counted_and_told(void **state)
{
    int events[5] = { 0 };
    rf_stats stats;
    rf_lock *lock;

    (void)state;
    rf_set_hook(async, count_events, events);
    lock = take("r", 30000);
    assert_status(renew(lock, 30000), RF_OK);
    assert_status(give(lock), RF_OK);
    rf_get_stats(async, &stats);
    assert_int_equal(stats.calls[RF_CALL_ACQUIRE][RF_OK], 1);
    assert_int_equal(stats.calls[RF_CALL_RENEW][RF_OK], 1);
    assert_int_equal(stats.calls[RF_CALL_RELEASE][RF_OK], 1);
    assert_int_equal(stats.timing[RF_TIME_ACQUIRE].count, 1);
    assert_int_equal(events[RF_CALL_ACQUIRE], 1);
    assert_int_equal(events[RF_CALL_RENEW], 1);
    assert_int_equal(events[RF_CALL_RELEASE], 1);
}

#define patient(test) \
    cmocka_unit_test_setup_teardown(test, open_patient, close_all)
#define hasty(test) cmocka_unit_test_setup_teardown(test, open_hasty, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        patient(test_grant_is_told_once_with_its_fence),
        patient(test_lock_of_another_is_busy_and_tells_how_long),
        patient(test_many_at_once_go_out_together_on_one_connection),
        patient(test_same_lock_again_only_on_request),
        patient(test_readers_share_and_have_no_fence),
        patient(test_missing_counter_is_asked_for),
        patient(test_lock_that_ran_out_is_lost),
        patient(test_lock_that_another_took_is_lost_and_stays_his),
        patient(test_forgotten_script_is_sent_by_text),
        patient(test_full_memory_is_retry_and_the_connection_stays),
        patient(test_server_that_goes_on_refusing_is_left),
        patient(test_replica_is_left_for_another),
        patient(test_key_of_another_type_is_misuse),
        patient(test_no_connection_is_retry),
        patient(test_answer_lost_is_asked_for_again_and_granted_once),
        patient(test_answer_lost_twice_is_unknown),
        hasty(test_silence_is_unknown_when_time_is_over),
        hasty(test_late_answer_is_never_taken_for_another),
        hasty(test_answers_of_others_are_unknown_and_end_the_connection),
        patient(test_answers_that_come_twice_or_late),
        patient(test_answer_nobody_asked_for_ends_the_connection),
        patient(test_answer_in_pieces_is_the_same_answer),
        patient(test_killed_server_answers_everything_that_was_asked),
        patient(test_grant_that_comes_too_late_is_given_back),
        patient(test_grant_too_late_that_may_not_be_back_is_unknown),
        patient(test_wrong_calls_are_misuse_and_call_nobody_back),
        patient(test_calls_that_block_are_refused),
        patient(test_set_with_a_lock_of_an_event_loop_is_refused_whole),
        patient(test_set_of_two_loops_is_refused_whole),
        patient(test_options_that_cannot_be_are_misuse),
        patient(test_close_tells_everybody_once),
        patient(test_close_in_a_callback_is_safe),
        patient(test_callback_may_ask_again),
        patient(test_calls_are_counted_and_told),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
