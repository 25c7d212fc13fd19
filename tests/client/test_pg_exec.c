/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_exec.c - one fenced statement in one round trip
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

/* ---- What works ------------------------------------------------------------ */

static void test_statement_is_committed_and_its_result_handed_out(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    rf_pg_statement statement = { TAKE_ONE " RETURNING quantity", 0, NULL };
    PGresult *result;

    (void)state;
    assert_outcome(rf_pg_exec(world.conn, lock, &statement, &result), RF_OK);
    assert_string_equal(PQgetvalue(result, 0, 0), "9");
    assert_string_equal(PQcmdTuples(result), "1");
    PQclear(result);
    assert_int_equal(world_quantity(), 9);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 8);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    world_assert_idle();
    rf_release(lock);
}

static void test_parameters_are_values_and_never_sql(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    const char *values[] = { "x'); DROP TABLE stock; --", NULL };
    rf_pg_statement statement = {
        "INSERT INTO stock (sku, note) VALUES ($1, $2)", 2, values
    };

    (void)state;
    assert_outcome(rf_pg_exec(world.conn, lock, &statement, NULL), RF_OK);
    assert_int_equal(database_number(world.admin,
                                     "SELECT count(*) FROM stock WHERE"
                                     " sku LIKE 'x''%%' AND note IS NULL"),
                     1);
    rf_release(lock);
}

static void test_guard_and_statement_take_one_round_trip(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    int before;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    before = pg_proxy_requests(proxy);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    rf_release(lock);
}

static void test_large_values_and_results_pass(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    size_t size = 4 * 1000 * 1000;
    char *big = malloc(size + 1);
    const char *values[] = { big };
    rf_pg_statement statement = { "UPDATE stock SET note = $1 RETURNING note",
                                  1, values };
    PGresult *result;

    (void)state;
    memset(big, 'x', size);
    big[size] = '\0';
    assert_outcome(rf_pg_exec(world.conn, lock, &statement, &result), RF_OK);
    assert_int_equal(PQgetlength(result, 0, 0), size);
    PQclear(result);
    world_assert_idle();
    free(big);
    rf_release(lock);
}

static void test_nonblocking_connection_works_and_stays_so(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_int_equal(PQisnonblocking(world.conn), 0);
    assert_int_equal(PQsetnonblocking(world.conn, 1), 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(PQisnonblocking(world.conn), 1);
    assert_int_equal(PQsetnonblocking(world.conn, 0), 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(PQisnonblocking(world.conn), 0);
    rf_release(lock);
}

static void test_sessions_default_isolation_is_kept(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    rf_pg_statement statement = { "SHOW transaction_isolation", 0, NULL };
    PGresult *result;

    (void)state;
    database_run(world.conn, "SET default_transaction_isolation ="
                             " 'serializable'");
    assert_outcome(rf_pg_exec(world.conn, lock, &statement, &result), RF_OK);
    assert_string_equal(PQgetvalue(result, 0, 0), "serializable");
    PQclear(result);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

static void test_read_only_session_reads_and_does_not_write(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.conn, "SET default_transaction_read_only = on");
    assert_outcome(world_exec(lock, "SELECT * FROM stock"), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "25006");
    rf_release(lock);
}

/* ---- Refusals -------------------------------------------------------------- */

static void test_overtaken_holder_is_stale_and_writes_nothing(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    world_overtake(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF001");
    assert_non_null(strstr(rf_message(world.client), "fence is stale"));
    assert_int_equal(world_quantity(), 9);
    world_assert_idle();
    rf_release(lock);
}

static void test_refused_lock_is_over_and_nobody_is_asked_again(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    world_overtake(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_int_equal(rf_lock_fence(lock), 0);
    /* Even if the registry were rewound, what was read is worthless. */
    database_run(world.admin, "DELETE FROM ringfence.registry");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

static void test_same_number_of_another_holder_is_a_collision(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    /* As after a restore: the number is known, from somebody else. */
    database_run(world.admin,
                 "UPDATE ringfence.registry SET holder = 'another'");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_COLLISION);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF002");
    assert_int_equal(world_quantity(), 10);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_COLLISION);
    rf_release(lock);
}

static void test_of_two_live_holders_only_the_newer_one_writes(void **state)
{
    rf_lock *older = world_acquire("r", 30000);
    rf_lock *newer;

    (void)state;
    /* Redis forgets lock and counter: it grants again, the same number. */
    redis_server_command(world.redis, "FLUSHALL");
    newer = world_acquire("r", 30000);
    assert_true(rf_lock_fence(older) > 0);
    assert_true(rf_lock_fence(newer) > rf_lock_fence(older));
    assert_outcome(world_exec(older, TAKE_ONE), RF_STALE);
    assert_outcome(world_exec(newer, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    rf_release(older);
    rf_release(newer);
}

static void test_lock_past_its_deadline_is_lost_and_nothing_is_sent(
    void **state)
{
    rf_lock *lock = world_acquire("r", 200);

    (void)state;
    world_await_deadline(lock);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_LOST);
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
    rf_release(lock);
}

static void test_statement_ends_with_the_lease(void **state)
{
    rf_lock *lock = world_acquire("r", 800);
    int64_t since = test_now_ms();

    (void)state;
    assert_outcome(world_exec(lock, "UPDATE stock SET quantity = 0"
                                    " FROM pg_sleep(60)"),
                   RF_LOST);
    assert_at_most_ms(since, 10000);
    assert_int_equal(world_quantity(), 10);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_LOST);
    rf_release(lock);
}

static void test_lock_that_was_not_claimed_is_refused(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_outcome(rf_acquire(world.client, "r", NULL, &lock), RF_OK);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

/* ---- Failing statements ---------------------------------------------------- */

static void assert_fails(rf_lock *lock, const char *sql, rf_status expected,
                         const char *sqlstate)
{
    rf_pg_statement statement = { sql, 0, NULL };
    PGresult *result = (PGresult *)1;

    assert_outcome(rf_pg_exec(world.conn, lock, &statement, &result), expected);
    assert_string_equal(rf_pg_sqlstate(world.client), sqlstate);
    assert_null(result);
    assert_int_equal(world_quantity(), 10);
    world_assert_idle();
}

static void test_failed_statement_commits_nothing_and_tells_why(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_fails(lock, "SELECT 1/0", RF_MISUSE, "22012");
    assert_fails(lock, "UPDATE stock SET quantity = -1", RF_MISUSE, "23514");
    assert_fails(lock, "UPDATE nowhere SET a = 1", RF_MISUSE, "42P01");
    assert_fails(lock, TAKE_ONE "; SELECT 1", RF_MISUSE, "42601");
    assert_fails(lock, "VACUUM stock", RF_MISUSE, "25001");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    rf_release(lock);
}

static void test_statement_that_fails_at_commit_is_not_ok(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_fails(lock, "INSERT INTO once_only VALUES (1)", RF_MISUSE, "23505");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_details_of_rows_are_not_told(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_fails(lock, "INSERT INTO stock VALUES ('a', 4711)", RF_MISUSE,
                 "23505");
    assert_null(strstr(rf_message(world.client), "(sku)=(a)"));
    rf_release(lock);
}

static void test_what_may_pass_is_retry_and_leaves_the_lock_alone(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.admin, "BEGIN; UPDATE stock SET note = 'held'");
    database_run(world.conn, "SET lock_timeout = 20");
    assert_fails(lock, TAKE_ONE, RF_RETRY, "55P03");
    database_run(world.conn, "RESET lock_timeout; SET statement_timeout = 20");
    assert_fails(lock, TAKE_ONE, RF_RETRY, "57014");
    database_run(world.admin, "ROLLBACK");
    database_run(world.conn, "RESET statement_timeout");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_serialization_failure_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.admin,
                 "CREATE FUNCTION unlucky() RETURNS int LANGUAGE plpgsql AS"
                 " $$BEGIN RAISE SQLSTATE '40001'; END$$");
    assert_fails(lock, "SELECT unlucky()", RF_RETRY, "40001");
    database_run(world.admin, "DROP FUNCTION unlucky");
    rf_release(lock);
}

static void test_statements_that_split_the_transaction_are_refused(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_run(world.admin,
                 "CREATE PROCEDURE split() LANGUAGE plpgsql AS $$BEGIN"
                 " " TAKE_ONE "; COMMIT; " TAKE_ONE "; END$$");
    assert_fails(lock, "CALL split()", RF_MISUSE, "");
    assert_fails(lock, "BEGIN", RF_MISUSE, "");
    assert_fails(lock, "COMMIT", RF_MISUSE, "");
    assert_fails(lock, "COPY stock FROM STDIN", RF_MISUSE, "");
    assert_fails(lock, "", RF_MISUSE, "");
    database_run(world.admin, "DROP PROCEDURE split");
    rf_release(lock);
}

/* ---- Wrong calls ----------------------------------------------------------- */

static void test_connection_that_is_not_idle_is_refused(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    rf_pg_statement statement = { TAKE_ONE, 0, NULL };

    (void)state;
    assert_outcome(rf_pg_exec(NULL, lock, &statement, NULL), RF_MISUSE);

    database_run(world.conn, "BEGIN");
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_int_equal(PQtransactionStatus(world.conn), PQTRANS_INTRANS);
    database_run(world.conn, "ROLLBACK");

    assert_int_equal(PQsendQuery(world.conn, "SELECT 1"), 1);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    PQclear(PQgetResult(world.conn));
    assert_null(PQgetResult(world.conn));

    assert_int_equal(PQenterPipelineMode(world.conn), 1);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_MISUSE);
    assert_int_equal(PQexitPipelineMode(world.conn), 1);

    assert_int_equal(world_quantity(), 10);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_missing_arguments_are_refused(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    rf_pg_statement statement = { TAKE_ONE, 0, NULL };
    rf_pg_statement no_sql = { NULL, 0, NULL };
    rf_pg_statement no_values = { "SELECT $1", 1, NULL };
    rf_pg_statement negative = { "SELECT 1", -1, NULL };
    rf_pg_statement too_many = { "SELECT 1", 65536, &no_sql.sql };
    PGresult *result = (PGresult *)1;

    (void)state;
    assert_status(rf_pg_exec(world.conn, NULL, &statement, &result), RF_MISUSE);
    assert_null(result);
    assert_outcome(rf_pg_exec(world.conn, lock, NULL, NULL), RF_MISUSE);
    assert_outcome(rf_pg_exec(world.conn, lock, &no_sql, NULL), RF_MISUSE);
    assert_outcome(rf_pg_exec(world.conn, lock, &no_values, NULL), RF_MISUSE);
    assert_outcome(rf_pg_exec(world.conn, lock, &negative, NULL), RF_MISUSE);
    assert_outcome(rf_pg_exec(world.conn, lock, &too_many, NULL), RF_MISUSE);
    rf_release(lock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_statement_is_committed_and_its_result_handed_out),
        world_test(test_parameters_are_values_and_never_sql),
        world_test(test_guard_and_statement_take_one_round_trip),
        world_test(test_large_values_and_results_pass),
        world_test(test_nonblocking_connection_works_and_stays_so),
        world_test(test_sessions_default_isolation_is_kept),
        world_test(test_read_only_session_reads_and_does_not_write),
        world_test(test_overtaken_holder_is_stale_and_writes_nothing),
        world_test(test_refused_lock_is_over_and_nobody_is_asked_again),
        world_test(test_same_number_of_another_holder_is_a_collision),
        world_test(test_of_two_live_holders_only_the_newer_one_writes),
        world_test(test_lock_past_its_deadline_is_lost_and_nothing_is_sent),
        world_test(test_statement_ends_with_the_lease),
        world_test(test_lock_that_was_not_claimed_is_refused),
        world_test(test_failed_statement_commits_nothing_and_tells_why),
        world_test(test_statement_that_fails_at_commit_is_not_ok),
        world_test(test_details_of_rows_are_not_told),
        world_test(test_what_may_pass_is_retry_and_leaves_the_lock_alone),
        world_test(test_serialization_failure_is_retry),
        world_test(test_statements_that_split_the_transaction_are_refused),
        world_test(test_connection_that_is_not_idle_is_refused),
        world_test(test_missing_arguments_are_refused),
    };

    return run_group(tests, world_start, world_stop);
}
