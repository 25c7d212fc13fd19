/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_transaction.c - fenced transactions of more than one statement
 */
#include <string.h>

#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

static rf_status begin(rf_lock *lock)
{
    return rf_pg_begin(world.conn, lock, RF_PG_READ_COMMITTED);
}

static void assert_inside(void)
{
    assert_int_equal(PQpipelineStatus(world.conn), PQ_PIPELINE_OFF);
    assert_int_equal(PQtransactionStatus(world.conn), PQTRANS_INTRANS);
}

/* Run what is going to fail, as the caller of a longer transaction would. */
static void run_failing(const char *sql)
{
    PGresult *result = PQexec(world.conn, sql);

    assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
    PQclear(result);
}

/* ---- What works ------------------------------------------------------------- */

static void test_transaction_commits_under_the_guard(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    assert_inside();
    database_run(world.conn, TAKE_ONE);
    database_run(world.conn, TAKE_ONE);
    assert_int_equal(database_number(world.conn, "SELECT ringfence.fence('r')"),
                     rf_lock_fence(lock));
    assert_int_equal(world_quantity(), 10);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    assert_int_equal(world_quantity(), 8);
    world_assert_idle();
    rf_release(lock);
}

static void assert_isolation(rf_lock *lock, rf_pg_isolation isolation,
                             const char *expected)
{
    assert_outcome(rf_pg_begin(world.conn, lock, isolation), RF_OK);
    assert_int_equal(database_number(world.conn,
                                     "SELECT (current_setting("
                                     "'transaction_isolation') = '%s')::int",
                                     expected),
                     1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
}

static void test_isolation_is_what_was_asked_for(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.conn,
                 "SET default_transaction_isolation = 'serializable'");
    assert_isolation(lock, RF_PG_READ_COMMITTED, "read committed");
    assert_isolation(lock, RF_PG_REPEATABLE_READ, "repeatable read");
    database_run(world.conn, "RESET default_transaction_isolation");
    assert_isolation(lock, RF_PG_SERIALIZABLE, "serializable");
    assert_outcome(rf_pg_begin(world.conn, lock, (rf_pg_isolation)3),
                   RF_MISUSE);
    assert_outcome(rf_pg_begin(world.conn, lock, (rf_pg_isolation)-1),
                   RF_MISUSE);
    world_assert_idle();
    rf_release(lock);
}

static void test_begin_and_commit_take_one_round_trip_each(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    int before;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    before = pg_proxy_requests(proxy);
    assert_outcome(begin(lock), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 2);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    rf_release(lock);
}

static void test_rollback_undoes_everything(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_OK);
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    assert_outcome(begin(lock), RF_OK);
    run_failing("SELECT 1/0");
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_OK);
    world_assert_idle();
    rf_release(lock);
}

static void test_newer_claim_waits_for_the_open_transaction(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.admin, "SET lock_timeout = 50");
    assert_int_equal(
        PQsendQuery(world.admin, "SELECT ringfence.guard('r', 100)"), 1);
    PQclear(PQgetResult(world.admin));
    assert_null(PQgetResult(world.admin));
    database_run(world.admin, "RESET lock_timeout");
    assert_int_equal(
        database_number(world.admin, "SELECT ringfence.high_water('r')"), 1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    world_overtake(lock);
    rf_release(lock);
}

/* ---- Begin refuses ----------------------------------------------------------- */

static void test_overtaken_holder_does_not_begin(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    world_overtake(lock);
    assert_outcome(begin(lock), RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF001");
    world_assert_idle();
    assert_outcome(begin(lock), RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    rf_release(lock);
}

static void test_lock_past_its_deadline_does_not_begin(void **state)
{
    rf_lock *lock = world_acquire("r", 200);

    (void)state;
    world_await_deadline(lock);
    assert_outcome(begin(lock), RF_LOST);
    world_assert_idle();
    rf_release(lock);
}

static void test_lock_that_was_not_claimed_does_not_begin(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_outcome(rf_acquire(world.client, "r", NULL, &lock), RF_OK);
    assert_outcome(begin(lock), RF_MISUSE);
    world_assert_idle();
    rf_release(lock);
}

static void test_connection_that_is_not_idle_does_not_begin(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_status(rf_pg_begin(world.conn, NULL, RF_PG_READ_COMMITTED),
                  RF_MISUSE);
    assert_outcome(rf_pg_begin(NULL, lock, RF_PG_READ_COMMITTED), RF_MISUSE);
    assert_outcome(begin(lock), RF_OK);
    assert_outcome(begin(lock), RF_MISUSE);
    assert_inside();
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    rf_release(lock);
}

/* ---- Commit refuses ---------------------------------------------------------- */

static void test_failed_statement_makes_commit_a_rollback(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    run_failing("SELECT 1/0");
    assert_outcome(rf_pg_commit(world.conn, lock), RF_RETRY);
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    rf_release(lock);
}

static void test_constraint_that_fails_at_commit_is_told(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    database_run(world.conn, "INSERT INTO once_only VALUES (1)");
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "23505");
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    rf_release(lock);
}

static void test_serialization_failure_at_commit_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    /* Write skew: each reads what the other is about to write. */
    database_run(world.admin, "INSERT INTO stock VALUES ('b', 10)");
    assert_outcome(rf_pg_begin(world.conn, lock, RF_PG_SERIALIZABLE), RF_OK);
    database_run(world.admin, "BEGIN ISOLATION LEVEL SERIALIZABLE");
    database_number(world.conn, "SELECT sum(quantity) FROM stock");
    database_number(world.admin, "SELECT sum(quantity) FROM stock");
    database_run(world.conn, TAKE_ONE);
    database_run(world.admin, "UPDATE stock SET quantity = 0 WHERE sku = 'b'");
    database_run(world.admin, "COMMIT");
    assert_outcome(rf_pg_commit(world.conn, lock), RF_RETRY);
    assert_string_equal(rf_pg_sqlstate(world.client), "40001");
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    rf_release(lock);
}

static void test_commit_past_the_deadline_rolls_back(void **state)
{
    rf_lock *lock = world_acquire("r", 1000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    world_await_deadline(lock);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_LOST);
    assert_int_not_equal(PQtransactionStatus(world.conn), PQTRANS_INTRANS);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

static void test_transaction_that_idles_ends_with_the_lease(void **state)
{
    rf_lock *lock = world_acquire("r", 1000);
    int64_t since = test_now_ms();

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    /* Nobody commits or rolls back, and still the next claim gets through. */
    world_overtake(lock);
    assert_at_most_ms(since, 10000);
    assert_int_equal(world_quantity(), 10);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_LOST);
    rf_release(lock);
}

static void test_transaction_begun_in_another_way_is_not_committed(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.conn, "BEGIN");
    database_run(world.conn, TAKE_ONE);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF006");
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    rf_release(lock);
}

static void test_procedure_can_not_commit_inside(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    run_failing("DO $$BEGIN " TAKE_ONE "; COMMIT; END$$");
    assert_outcome(rf_pg_commit(world.conn, lock), RF_RETRY);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

static void test_nothing_open_is_misuse(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_MISUSE);
    assert_outcome(rf_pg_commit(NULL, lock), RF_MISUSE);
    assert_outcome(rf_pg_rollback(NULL, lock), RF_MISUSE);
    assert_status(rf_pg_commit(world.conn, NULL), RF_MISUSE);
    assert_status(rf_pg_rollback(world.conn, NULL), RF_MISUSE);
    rf_release(lock);
}

static void test_busy_connection_is_left_alone(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    assert_int_equal(PQsendQuery(world.conn, "SELECT 1"), 1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_MISUSE);
    PQclear(PQgetResult(world.conn));
    assert_null(PQgetResult(world.conn));
    assert_int_equal(PQenterPipelineMode(world.conn), 1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_MISUSE);
    assert_int_equal(PQexitPipelineMode(world.conn), 1);
    assert_inside();
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    rf_release(lock);
}

static void test_rollback_works_when_the_lock_is_over(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    redis_server_command(world.redis, "DEL {lock:v1:r}");
    assert_outcome(rf_renew(lock, 30000), RF_LOST);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_OK);
    world_assert_idle();
    assert_outcome(begin(lock), RF_LOST);
    rf_release(lock);
}

/* ---- Lost connections -------------------------------------------------------- */

static void test_begin_on_a_lost_connection_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_terminate(world.admin, world.conn);
    assert_outcome(begin(lock), RF_RETRY);
    PQreset(world.conn);
    assert_outcome(begin(lock), RF_OK);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    rf_release(lock);
}

static void test_connection_lost_before_commit_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    database_terminate(world.admin, world.conn);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_RETRY);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_RETRY);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

/* Begin through a proxy, meet a fault at the end. */
static void meet(pg_fault fault, rf_status (*end)(PGconn *, rf_lock *),
                 int64_t ttl_ms, rf_status expected)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    rf_lock *lock;
    int64_t since;

    world.conn = database_connect(pg_proxy_options(proxy));
    lock = world_acquire("r", ttl_ms);
    assert_outcome(begin(lock), RF_OK);
    database_run(world.conn, TAKE_ONE);
    pg_proxy_set(proxy, fault, 0);
    since = test_now_ms();
    assert_outcome(end(world.conn, lock), expected);
    assert_at_most_ms(since, 10000);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    PQreset(world.conn);
    world_assert_idle();
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    rf_release(lock);
}

static void test_commit_that_was_cut_off_is_unknown_either_way(void **state)
{
    (void)state;
    meet(PG_CUT_BEFORE, rf_pg_commit, 30000, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 10);
    meet(PG_CUT_AFTER, rf_pg_commit, 30000, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
    meet(PG_CUT_INSIDE, rf_pg_commit, 30000, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 8);
}

static void test_commit_into_silence_is_unknown_after_the_deadline(void **state)
{
    (void)state;
    meet(PG_SWALLOW, rf_pg_commit, 1500, RF_UNKNOWN);
    meet(PG_MUTE, rf_pg_commit, 1500, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
}

static void test_rollback_that_was_cut_off_is_retry(void **state)
{
    (void)state;
    meet(PG_CUT_BEFORE, rf_pg_rollback, 30000, RF_RETRY);
    meet(PG_SWALLOW, rf_pg_rollback, 30000, RF_RETRY);
    assert_int_equal(world_quantity(), 10);
}

static void test_begin_that_was_cut_off_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    pg_proxy_set(proxy, PG_CUT_AFTER, 0);
    assert_outcome(begin(lock), RF_RETRY);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    PQreset(world.conn);
    assert_outcome(begin(lock), RF_OK);
    assert_outcome(rf_pg_rollback(world.conn, lock), RF_OK);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    rf_release(lock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_transaction_commits_under_the_guard),
        world_test(test_isolation_is_what_was_asked_for),
        world_test(test_begin_and_commit_take_one_round_trip_each),
        world_test(test_rollback_undoes_everything),
        world_test(test_newer_claim_waits_for_the_open_transaction),
        world_test(test_overtaken_holder_does_not_begin),
        world_test(test_lock_past_its_deadline_does_not_begin),
        world_test(test_lock_that_was_not_claimed_does_not_begin),
        world_test(test_connection_that_is_not_idle_does_not_begin),
        world_test(test_failed_statement_makes_commit_a_rollback),
        world_test(test_constraint_that_fails_at_commit_is_told),
        world_test(test_serialization_failure_at_commit_is_retry),
        world_test(test_commit_past_the_deadline_rolls_back),
        world_test(test_transaction_that_idles_ends_with_the_lease),
        world_test(test_transaction_begun_in_another_way_is_not_committed),
        world_test(test_procedure_can_not_commit_inside),
        world_test(test_nothing_open_is_misuse),
        world_test(test_busy_connection_is_left_alone),
        world_test(test_rollback_works_when_the_lock_is_over),
        world_test(test_begin_on_a_lost_connection_is_retry),
        world_test(test_connection_lost_before_commit_is_retry),
        world_test(test_commit_that_was_cut_off_is_unknown_either_way),
        world_test(test_commit_into_silence_is_unknown_after_the_deadline),
        world_test(test_rollback_that_was_cut_off_is_retry),
        world_test(test_begin_that_was_cut_off_is_retry),
    };

    return run_group(tests, world_start, world_stop);
}
