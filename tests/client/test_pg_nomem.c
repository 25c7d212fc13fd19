/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_nomem.c - memory runs out at the n-th request, for every n
 *
 * libpq's included: that is who allocates here.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "no_memory.h"
#include "pg_world.h"

/*
 * Short, because libpq without memory for its "pipeline is synchronized" waits
 * for ever: it is the lock's deadline that ends this.
 */
#define TTL_MS 800

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

/* Broken or as good as new, nothing in between. */
static void assert_usable_or_broken(void)
{
    if (PQstatus(world.conn) != CONNECTION_OK)
        PQreset(world.conn);
    world_assert_idle();
    assert_int_equal(PQisnonblocking(world.conn), 0);
}

/* What the outcome says of the database is so. */
static void assert_true_of_data(rf_status status, long long before)
{
    long long after = world_quantity();

    if (status == RF_OK)
        assert_int_equal(after, before - 1);
    else if (status == RF_UNKNOWN)
        assert_in_range(after, before - 1, before);
    else
        assert_int_equal(after, before);
}

static int one_statement(long nth)
{
    rf_lock *lock = world_acquire("r", TTL_MS);
    rf_pg_statement statement = { TAKE_ONE " RETURNING quantity", 0, NULL };
    long long before = world_quantity();
    PGresult *result;
    rf_status status;
    int happened;

    arm(nth);
    status = rf_pg_exec(world.conn, lock, &statement, &result);
    happened = disarm();
    assert_true((result != NULL) == (status == RF_OK));
    PQclear(result);
    assert_true_of_data(status, before);
    assert_usable_or_broken();
    rf_release(lock);
    return happened;
}

static void test_statement_tells_the_truth_without_memory(void **state)
{
    long n = 0;

    (void)state;
    database_run(world.admin, "UPDATE stock SET quantity = 1000");
    while (one_statement(n))
        n++;
    assert_in_range(n, 5, 1000);
}

static int one_refusal(long nth)
{
    rf_lock *lock = world_acquire("r", TTL_MS);
    rf_status status;
    int happened;

    world_overtake(lock);
    arm(nth);
    status = world_exec(lock, TAKE_ONE);
    happened = disarm();
    assert_int_not_equal(status, RF_OK);
    assert_usable_or_broken();
    /* Whatever could be told: the lock never writes again. */
    assert_int_not_equal(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
    return happened;
}

static void test_refusal_is_never_success_without_memory(void **state)
{
    long n = 0;

    (void)state;
    while (one_refusal(n))
        n++;
    assert_in_range(n, 5, 1000);
}

static int one_transaction(long nth)
{
    rf_lock *lock = world_acquire("r", TTL_MS);
    long long before = world_quantity();
    rf_status status;
    long made;
    int happened;

    arm(nth);
    status = rf_pg_begin(world.conn, lock, RF_PG_READ_COMMITTED);
    made = allocations;
    happened = disarm();
    if (status == RF_OK) {
        database_run(world.conn, TAKE_ONE);
        arm(happened ? -1 : nth - made);
        status = rf_pg_commit(world.conn, lock);
        happened |= disarm();
    }
    assert_true_of_data(status, before);
    assert_usable_or_broken();
    rf_release(lock);
    return happened;
}

static void test_transaction_tells_the_truth_without_memory(void **state)
{
    long n = 0;

    (void)state;
    database_run(world.admin, "UPDATE stock SET quantity = 1000");
    while (one_transaction(n))
        n++;
    assert_in_range(n, 10, 1000);
}

/* With healing, so that every step of an acquisition is reached. */
static int one_acquisition(long nth)
{
    rf_acquire_options opts = { .ttl_ms = TTL_MS };
    rf_lock *lock;
    rf_status status;
    int happened;

    redis_server_command(world.redis, "FLUSHALL");
    arm(nth);
    status = rf_pg_acquire(world.client, world.conn, "r", &opts, &lock);
    happened = disarm();
    assert_true((lock != NULL) == (status == RF_OK));
    assert_usable_or_broken();
    if (status == RF_OK)
        assert_outcome(world_exec(lock, "SELECT 1"), RF_OK);
    rf_release(lock);
    return happened;
}

static void test_acquisition_is_claimed_or_fails_without_memory(void **state)
{
    long n = 0;

    (void)state;
    rf_release(world_acquire("r", TTL_MS));
    while (one_acquisition(n))
        n++;
    assert_in_range(n, 10, 1000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_statement_tells_the_truth_without_memory),
        world_test(test_refusal_is_never_success_without_memory),
        world_test(test_transaction_tells_the_truth_without_memory),
        world_test(test_acquisition_is_claimed_or_fails_without_memory),
    };

    return run_group(tests, world_start, world_stop);
}
