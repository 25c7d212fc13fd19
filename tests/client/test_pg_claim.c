/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_claim.c - a lock that was taken first and is claimed later
 */
#include "loop.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

static rf_lock *take(rf_client *client)
{
    rf_lock *lock;

    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    return lock;
}

static void test_lock_may_write_once_it_is_claimed(void **state)
{
    rf_lock *lock = take(world.client);

    (void)state;
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

static void test_number_too_low_at_birth_is_raised(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    world_overtake(lock);
    rf_release(lock);
    redis_server_command(world.redis, "FLUSHALL");
    lock = take(world.client);
    assert_true(rf_lock_fence(lock) == 1);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    assert_true(rf_lock_fence(lock) > 1);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

/* Another process may have claimed it, and be at work with its number. */
static void test_attached_lock_is_claimed_and_never_raised(void **state)
{
    rf_lock *lock = world_acquire("r", 30000), *attached;
    rf_fence fence = rf_lock_fence(lock);

    (void)state;
    assert_status(
        rf_attach(world.client, "r", fence, rf_lock_holder(lock), &attached),
        RF_OK);
    assert_outcome(rf_pg_claim(world.conn, attached), RF_OK);
    assert_outcome(world_exec(attached, TAKE_ONE), RF_OK);
    assert_status(rf_detach(attached), RF_OK);
    world_overtake(lock);
    assert_status(
        rf_attach(world.client, "r", fence, rf_lock_holder(lock), &attached),
        RF_OK);
    assert_outcome(rf_pg_claim(world.conn, attached), RF_STALE);
    assert_true(rf_lock_fence(attached) == 0);
    assert_status(rf_detach(attached), RF_OK);
    assert_int_equal(world_quantity(), 9);
    assert_status(rf_release(lock), RF_OK);
}

static void test_claimed_lock_is_never_raised(void **state)
{
    rf_lock *lock = take(world.client);

    (void)state;
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    world_overtake(lock);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_STALE);
    assert_true(rf_lock_fence(lock) == 0);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_STALE);
    rf_release(lock);
}

static void test_what_cannot_be_claimed_is_misuse(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    assert_status(rf_pg_claim(world.conn, NULL), RF_MISUSE);
    opts.shared = 1;
    assert_status(rf_acquire(world.client, "r", &opts, &lock), RF_OK);
    assert_status(rf_pg_claim(world.conn, lock), RF_MISUSE);
    rf_release(lock);
    lock = take(world.client);
    assert_status(rf_pg_claim(NULL, lock), RF_MISUSE);
    database_run(world.conn, "BEGIN");
    assert_status(rf_pg_claim(world.conn, lock), RF_MISUSE);
    database_run(world.conn, "ROLLBACK");
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    rf_release(lock);
}

/* ---- From an event loop ----------------------------------------------------------- */

static int told;
static rf_lock *granted;

static void on_acquired(rf_client *client, rf_status status, rf_lock *lock,
                        void *arg)
{
    (void)client, (void)arg;
    assert_status(status, RF_OK);
    granted = lock;
    told++;
}

static void on_done(rf_client *client, rf_status status, void *arg)
{
    (void)client, (void)arg;
    assert_status(status, RF_OK);
    told++;
}

static rf_lock *take_in(loop *l)
{
    told = 0;
    assert_status(
        rf_async_acquire(loop_client(l), "r", NULL, on_acquired, NULL), RF_OK);
    loop_until(l, &told, 1);
    return granted;
}

static void give_in(loop *l, rf_lock *lock)
{
    told = 0;
    assert_status(rf_async_release(lock, on_done, NULL), RF_OK);
    loop_until(l, &told, 1);
}

static void test_lock_of_an_event_loop_fences_its_writes(void **state)
{
    loop *l = loop_open(redis_server_url(world.redis), NULL);
    rf_lock *lock = take_in(l);

    (void)state;
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    /* A newer holder has claimed meanwhile: refused, and over. */
    world_overtake(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_int_equal(world_quantity(), 9);
    assert_true(rf_lock_fence(lock) == 0);
    give_in(l, lock);
    loop_close(l);
}

static void test_number_too_low_in_an_event_loop_is_refused(void **state)
{
    loop *l = loop_open(redis_server_url(world.redis), NULL);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    world_overtake(lock);
    rf_release(lock);
    redis_server_command(world.redis, "FLUSHALL");
    lock = take_in(l);
    assert_outcome(rf_pg_claim(world.conn, lock), RF_STALE);
    give_in(l, lock);
    assert_status(rf_pg_floor(world.conn, "r", &opts.floor), RF_OK);
    told = 0;
    assert_status(
        rf_async_acquire(loop_client(l), "r", &opts, on_acquired, NULL), RF_OK);
    loop_until(l, &told, 1);
    assert_outcome(rf_pg_claim(world.conn, granted), RF_OK);
    give_in(l, granted);
    loop_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(test_lock_may_write_once_it_is_claimed),
        world_test(test_number_too_low_at_birth_is_raised),
        world_test(test_attached_lock_is_claimed_and_never_raised),
        world_test(test_claimed_lock_is_never_raised),
        world_test(test_what_cannot_be_claimed_is_misuse),
        world_test(test_lock_of_an_event_loop_fences_its_writes),
        world_test(test_number_too_low_in_an_event_loop_is_refused),
    };

    return run_group(tests, world_start, world_stop);
}
