/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_prepared.c - the guard's call is planned once, and never missed
 */
#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"
#define NAME     "ringfence_guard"

static long long prepared(void)
{
    return database_number(world.conn, "SELECT count(*)"
                                       " FROM pg_prepared_statements"
                                       " WHERE name = '" NAME "'");
}

/* Until the server has the plan: who answers is known from the claim. */
static rf_lock *acquire_and_prepare(void)
{
    rf_lock *lock = world_acquire("r", 30000);

    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(prepared(), 1);
    return lock;
}

static void test_the_guard_is_prepared_once_and_then_only_called(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_int_equal(prepared(), 0);
    for (int i = 0; i < 4; i++)
        assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_outcome(rf_pg_begin(world.conn, lock, RF_PG_SERIALIZABLE), RF_OK);
    database_run(world.conn, TAKE_ONE);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    assert_int_equal(database_number(world.conn,
                                     "SELECT generic_plans + custom_plans"
                                     " FROM pg_prepared_statements"
                                     " WHERE name = '" NAME "'"),
                     5);
    assert_int_equal(world_quantity(), 5);
    rf_release(lock);
}

static void test_a_prepared_guard_refuses_as_any_other(void **state)
{
    rf_lock *lock = acquire_and_prepare();

    (void)state;
    world_overtake(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF001");
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

/* Each form of a guarded call, right after sql was run. */
static void assert_all_forms_work_after(const char *sql)
{
    rf_lock *lock;
    int committed;

    lock = acquire_and_prepare();
    database_run(world.conn, "%s", sql);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    assert_string_equal(rf_message(world.client), "");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 7);
    PQreset(world.conn);

    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    database_run(world.conn, "%s", sql);
    assert_outcome(rf_pg_begin(world.conn, lock, RF_PG_READ_COMMITTED), RF_OK);
    database_run(world.conn, TAKE_ONE);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    assert_int_equal(world_quantity(), 4);
    PQreset(world.conn);

    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    database_run(world.conn, "%s", sql);
    assert_outcome(rf_pg_resolve(world.conn, lock, "none", &committed), RF_OK);
    assert_int_equal(committed, 0);
    rf_release(lock);
    PQreset(world.conn);

    lock = acquire_and_prepare();
    rf_release(lock);
    database_run(world.conn, "%s", sql);
    rf_release(world_acquire("r", 30000));
    world_assert_idle();
}

static void test_no_call_fails_when_all_was_discarded(void **state)
{
    (void)state;
    assert_all_forms_work_after("DISCARD ALL");
}

static void test_no_call_fails_when_it_was_deallocated(void **state)
{
    (void)state;
    assert_all_forms_work_after("DEALLOCATE " NAME);
}

static void test_no_call_fails_when_the_name_is_taken(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.conn, "PREPARE " NAME " AS SELECT true");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    world_overtake(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

/* Its own names are the statement's matter, and no reason to do it twice. */
static void test_a_name_that_the_statement_misses_is_its_failure(void **state)
{
    rf_lock *lock = acquire_and_prepare();

    (void)state;
    assert_outcome(world_exec(lock, "EXECUTE nobody"), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "26000");
    assert_int_equal(prepared(), 1);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 8);
    rf_release(lock);
}

static void test_a_connection_that_was_reset_begins_anew(void **state)
{
    rf_lock *lock = acquire_and_prepare();

    (void)state;
    PQreset(world.conn);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(prepared(), 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(prepared(), 1);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 6);
    rf_release(lock);
}

/* The first call finds out, the second prepares, the third is prepared. */
static void test_each_of_the_first_calls_is_one_round_trip(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    int before;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    for (int i = 0; i < 3; i++) {
        before = pg_proxy_requests(proxy);
        assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
        assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    }
    assert_int_equal(prepared(), 1);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    rf_release(lock);
}

static void test_lost_while_it_is_prepared_is_unknown_and_comes_back(
    void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    pg_proxy_set(proxy, PG_CUT_INSIDE, 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_UNKNOWN);
    rf_release(lock);
    PQreset(world.conn);
    lock = acquire_and_prepare();
    rf_release(lock);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_the_guard_is_prepared_once_and_then_only_called),
        world_test(test_a_prepared_guard_refuses_as_any_other),
        world_test(test_no_call_fails_when_all_was_discarded),
        world_test(test_no_call_fails_when_it_was_deallocated),
        world_test(test_no_call_fails_when_the_name_is_taken),
        world_test(test_a_name_that_the_statement_misses_is_its_failure),
        world_test(test_a_connection_that_was_reset_begins_anew),
        world_test(test_each_of_the_first_calls_is_one_round_trip),
        world_test(test_lost_while_it_is_prepared_is_unknown_and_comes_back),
    };

    return run_group(tests, world_start, world_stop);
}
