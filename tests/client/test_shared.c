/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_shared.c - many who read, or one who writes
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open_far(2000);
}

static rf_status take(rf_client *on, int shared, int64_t ttl_ms,
                      int64_t wait_ms, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.shared = shared;
    opts.ttl_ms = ttl_ms;
    opts.wait_ms = wait_ms;
    return rf_acquire(on, "r", &opts, out);
}

static rf_lock *reader(int64_t ttl_ms)
{
    rf_lock *lock;

    assert_status(take(client, 1, ttl_ms, 0, &lock), RF_OK);
    return lock;
}

static rf_lock *writer(int64_t ttl_ms)
{
    rf_lock *lock;

    assert_status(take(client, 0, ttl_ms, 0, &lock), RF_OK);
    return lock;
}

static int busy(int shared)
{
    rf_lock *lock;
    rf_status status = take(client, shared, 30000, 0, &lock);

    rf_release(lock);
    return status == RF_BUSY;
}

static int readers(void)
{
    rf_info info;

    assert_status(rf_inspect(client, "r", &info), RF_OK);
    return info.readers;
}

static void test_many_read_at_once_and_nobody_writes(void **state)
{
    rf_lock *a = reader(30000), *b = reader(30000), *c = reader(30000);

    (void)state;
    assert_int_equal(readers(), 3);
    assert_true(busy(0));
    assert_status(rf_release(b), RF_OK);
    assert_int_equal(readers(), 2);
    assert_true(busy(0));
    assert_status(rf_release(a), RF_OK);
    assert_status(rf_release(c), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_false(busy(0));
}

static void test_while_one_writes_nobody_reads(void **state)
{
    rf_lock *lock = writer(30000);

    (void)state;
    assert_true(busy(1));
    assert_true(busy(0));
    assert_status(rf_release(lock), RF_OK);
    assert_false(busy(1));
}

static void test_reader_has_no_fence_and_an_end(void **state)
{
    rf_lock *lock = reader(10000);

    (void)state;
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_in_range(rf_lock_left_ms(lock), 5000, 9898);
    assert_status(rf__lock_state(lock), RF_OK);
    assert_status(rf_reissue(lock, 5), RF_MISUSE);
    assert_status(rf_renew(lock, 20000), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 15000, 19798);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
}

static void test_each_reader_runs_out_by_itself(void **state)
{
    rf_lock *brief = reader(250), *steady = reader(30000);

    (void)state;
    rf__sleep_until_ms(rf__now_ms() + 300);
    assert_int_equal(readers(), 1);
    assert_status(rf_renew(brief, 1000), RF_LOST);
    assert_true(busy(0));
    assert_status(rf_release(steady), RF_OK);
    assert_status(rf_release(brief), RF_LOST);
    assert_false(busy(0));
}

static void test_lock_ends_with_the_last_reader_s_end(void **state)
{
    rf_lock *steady = reader(30000), *brief = reader(400), *lock;
    int64_t since = test_now_ms();

    (void)state;
    assert_status(rf_release(steady), RF_OK);
    assert_in_range(redis_server_number(server, "PTTL " LOCK, "r"), 1, 400);
    assert_status(take(client, 0, 30000, 10000, &lock), RF_OK);
    assert_at_most_ms(since, 3000);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_release(brief), RF_LOST);
}

static void test_reader_of_a_lock_that_a_writer_took_is_lost(void **state)
{
    rf_lock *old = reader(30000), *lock;

    (void)state;
    redis_server_command(server, "DEL " LOCK, "r"); /* evicted, say */
    lock = writer(30000);
    assert_status(rf_renew(old, 30000), RF_LOST);
    assert_status(rf_release(old), RF_LOST);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
    /* Nobody of that time counts among the readers of the next. */
    old = reader(30000);
    assert_int_equal(readers(), 1);
    assert_status(rf_release(old), RF_OK);
}

static void test_lost_reply_makes_one_reader(void **state)
{
    rf_lock *lock;

    (void)state;
    rf_release(reader(30000));
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    lock = reader(30000);
    assert_int_equal(readers(), 1);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

static void test_kept_reader_lives_on(void **state)
{
    rf_lock *lock = reader(300);

    (void)state;
    assert_status(rf_keep(lock, NULL), RF_OK);
    rf__sleep_until_ms(rf__now_ms() + 900);
    assert_int_equal(readers(), 1);
    assert_true(rf_lock_left_ms(lock) > 0);
    assert_status(rf_release(lock), RF_OK);
}

static void test_foreign_lock_and_readers_exclude_each_other(void **state)
{
    rf_lock *lock;

    (void)state;
    redis_server_command(server, "SET " LOCK " token NX PX 30000", "r");
    assert_true(busy(1));
    redis_server_command(server, "DEL " LOCK, "r");
    lock = reader(30000);
    assert_string_equal(
        redis_server_command(server, "SET " LOCK " token NX PX 30000", "r"),
        "(nil)");
    rf_release(lock);
}

static void test_writer_s_lock_serves_for_reading_but_not_otherwise(
    void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock = writer(30000), *again;

    (void)state;
    opts.reentrant = 1;
    opts.shared = 1;
    assert_status(rf_acquire(client, "r", &opts, &again), RF_OK);
    assert_ptr_equal(again, lock);
    assert_status(rf_release(again), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    lock = reader(30000);
    opts.shared = 0;
    assert_status(rf_acquire(client, "r", &opts, &again), RF_BUSY);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Many of both ------------------------------------------------------------- */

static atomic_int reading, writing, reads_together, mixed;

typedef struct person {
    pthread_t thread;
    int shared, rounds;
    rf_status status;
    rf_client *client; /* NULL: one of its own */
} person;

static void be_inside(int shared)
{
    if (shared) {
        if (++reading > 1)
            reads_together++;
        mixed += writing > 0;
    } else {
        mixed += ++writing > 1 || reading > 0;
    }
    rf__sleep_until_ms(rf__now_ms() + 2);
    if (shared)
        reading--;
    else
        writing--;
}

static void *live(void *arg)
{
    person *p = arg;
    rf_client *own = p->client;

    if (own == NULL && rf_open(redis_server_url(server), NULL, &own) != RF_OK)
        return NULL;
    for (int i = 0; i < p->rounds && p->status == RF_OK; i++) {
        rf_lock *lock;

        p->status = take(own, p->shared, 30000, 30000, &lock);
        if (p->status != RF_OK)
            break;
        be_inside(p->shared);
        p->status = rf_release(lock);
    }
    if (p->client == NULL)
        rf_close(own);
    return NULL;
}

static void test_readers_and_writers_never_meet_and_nobody_starves(void **state)
{
    person crowd[10] = { { 0 } };
    int64_t since = test_now_ms();

    (void)state;
    reading = writing = reads_together = mixed = 0;
    for (int i = 0; i < 10; i++) {
        crowd[i].shared = i % 5 != 0;
        crowd[i].rounds = 30;
        pthread_create(&crowd[i].thread, NULL, live, &crowd[i]);
    }
    for (int i = 0; i < 10; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_status(crowd[i].status, RF_OK);
    }
    assert_int_equal(mixed, 0);
    assert_true(reads_together > 0);
    assert_at_most_ms(since, 20000);
}

static void test_reader_who_comes_after_a_waiting_writer_waits(void **state)
{
    person one = { .shared = 0, .rounds = 1 };
    rf_lock *lock = reader(30000);
    int64_t since = test_now_ms();

    (void)state;
    pthread_create(&one.thread, NULL, live, &one);
    while (strstr(redis_server_command(server, "INFO clients"),
                  "blocked_clients:1\r") == NULL)
        assert_at_most_ms(since, 10000);
    assert_true(busy(1));
    since = test_now_ms();
    assert_status(rf_release(lock), RF_OK);
    pthread_join(one.thread, NULL);
    assert_at_most_ms(since, 1000);
    assert_status(one.status, RF_OK);
}

/* The wait was to be a long one, but nobody is there any more. */
static void test_readers_do_not_queue_behind_a_writer_that_left(void **state)
{
    person one = { .shared = 0, .rounds = 1 };
    rf_lock *first = reader(1000), *second;
    int64_t since = test_now_ms();

    (void)state;
    assert_status(rf_keep(first, NULL), RF_OK);
    assert_status(rf_open(redis_server_url(server), NULL, &one.client), RF_OK);
    pthread_create(&one.thread, NULL, live, &one);
    while (redis_server_number(server, "EXISTS {lock:v1:r}:waiters") == 0)
        assert_at_most_ms(since, 10000);
    rf_cancel(one.client);
    pthread_join(one.thread, NULL);
    assert_status(one.status, RF_TIMEOUT);
    rf_close(one.client);

    since = test_now_ms();
    assert_status(take(client, 1, 30000, 20000, &second), RF_OK);
    assert_at_most_ms(since, 10000);
    assert_true(rf_lock_left_ms(first) > 0);
    assert_status(rf_release(second), RF_OK);
    assert_status(rf_release(first), RF_OK);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_many_read_at_once_and_nobody_writes),
        CASE(test_while_one_writes_nobody_reads),
        CASE(test_reader_has_no_fence_and_an_end),
        CASE(test_each_reader_runs_out_by_itself),
        CASE(test_lock_ends_with_the_last_reader_s_end),
        CASE(test_reader_of_a_lock_that_a_writer_took_is_lost),
        CASE(test_lost_reply_makes_one_reader),
        CASE(test_kept_reader_lives_on),
        CASE(test_foreign_lock_and_readers_exclude_each_other),
        CASE(test_writer_s_lock_serves_for_reading_but_not_otherwise),
        CASE(test_readers_and_writers_never_meet_and_nobody_starves),
        CASE(test_reader_who_comes_after_a_waiting_writer_waits),
        CASE(test_readers_do_not_queue_behind_a_writer_that_left),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
