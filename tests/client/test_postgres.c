/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_postgres.c - what is known when a conversation breaks off
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"
#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

/* ---- One fault --------------------------------------------------------------- */

/* Run a statement that meets a fault; afterwards the connection is broken. */
static void meet(pg_fault fault, rf_lock *lock,
                 const rf_pg_statement *statement, rf_status expected)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *conn = database_connect(pg_proxy_options(proxy));
    PGresult *result = (PGresult *)1;
    int64_t since = test_now_ms();

    pg_proxy_set(proxy, fault, 0);
    assert_outcome(rf_pg_exec(conn, lock, statement, &result), expected);
    assert_null(result);
    assert_at_most_ms(since, 10000);
    assert_int_equal(PQstatus(conn), CONNECTION_BAD);
    PQreset(conn);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    assert_int_equal(PQpipelineStatus(conn), PQ_PIPELINE_OFF);
    assert_int_equal(PQtransactionStatus(conn), PQTRANS_IDLE);
    assert_int_equal(PQisnonblocking(conn), 0);
    PQfinish(conn);
    pg_proxy_stop(proxy);
}

static const rf_pg_statement take_one = { TAKE_ONE, 0, NULL };

static void test_cut_off_before_it_arrives_is_unknown(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    meet(PG_CUT_BEFORE, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
    lock = world_acquire("r", 30000);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_cut_off_after_it_arrived_is_unknown(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    meet(PG_CUT_AFTER, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
    lock = world_acquire("r", 30000);
    meet(PG_CUT_INSIDE, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 8);
    rf_release(lock);
}

/* With the same grant one can't wait for what may still be running. */
static void test_lock_is_over_once_an_outcome_is_unknown(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    meet(PG_CUT_AFTER, lock, &take_one, RF_UNKNOWN);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_UNKNOWN);
    assert_outcome(rf_pg_begin(world.conn, lock, RF_PG_READ_COMMITTED),
                   RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
    assert_outcome(rf_release(lock), RF_OK);
    assert_false(world_held("r"));
}

static void test_silence_is_unknown_soon_after_the_deadline(void **state)
{
    rf_lock *lock = world_acquire("r", 1500);

    (void)state;
    meet(PG_SWALLOW, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
    lock = world_acquire("r", 1500);
    meet(PG_MUTE, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

/* More than the socket's buffers take. */
static void test_request_that_nobody_reads_has_not_landed(void **state)
{
    rf_lock *lock = world_acquire("r", 1500);
    size_t size = 16 * 1000 * 1000;
    char *big = malloc(size + 1);
    const char *values[] = { big };
    rf_pg_statement statement = { "UPDATE stock SET note = $1, quantity = 0", 1,
                                  values };

    (void)state;
    memset(big, 'x', size);
    big[size] = '\0';
    meet(PG_DEAF, lock, &statement, RF_LOST);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
    lock = world_acquire("r", 30000);
    meet(PG_CUT_BEFORE, lock, &statement, RF_RETRY);
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
    free(big);
}

/* ---- The server ends it ------------------------------------------------------- */

static void test_idle_connection_that_was_closed_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    database_terminate(world.admin, world.conn);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_RETRY);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_RETRY);
    PQreset(world.conn);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

static void test_session_ended_in_the_middle_is_unknown(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(world_exec(lock, "UPDATE stock SET quantity = 0 WHERE"
                                    " pg_terminate_backend(pg_backend_pid())"),
                   RF_UNKNOWN);
    assert_string_equal(rf_pg_sqlstate(world.client), "57P01");
    assert_int_equal(world_quantity(), 10);
    rf_release(lock);
}

static void test_refusal_stands_when_the_connection_breaks_after_it(
    void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    world_overtake(lock);
    meet(PG_CUT_LAST, lock, &take_one, RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF001");
    rf_release(lock);
}

static void test_success_without_the_end_of_its_answer_is_unknown(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    meet(PG_CUT_LAST, lock, &take_one, RF_UNKNOWN);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

static void test_broken_pipe_does_not_kill_the_process(void **state)
{
    struct sigaction before, default_action = { .sa_handler = SIG_DFL };
    rf_lock *lock = world_acquire("r", 30000);
    size_t size = 16 * 1000 * 1000;
    char *big = malloc(size + 1);
    const char *values[] = { big };
    rf_pg_statement statement = { "UPDATE stock SET note = $1", 1, values };

    (void)state;
    memset(big, 'x', size);
    big[size] = '\0';
    sigaction(SIGPIPE, &default_action, &before);
    meet(PG_CUT_BEFORE, lock, &statement, RF_RETRY);
    sigaction(SIGPIPE, &before, NULL);
    free(big);
    rf_release(lock);
}

/* ---- The conversation itself --------------------------------------------------- */

static rf_status converse(const char *sql, int64_t ms, PGresult **last)
{
    rf__pg_step step = { .sql = sql };
    rf__pg_talk talk = { .steps = &step,
                         .n = 1,
                         .until_ms = rf__now_ms() + ms,
                         .error = rf__client_error(world.client) };
    rf_status status = rf__pg_converse(world.conn, &talk);

    *last = talk.last;
    return status;
}

static void test_copy_gives_the_connection_up(void **state)
{
    PGresult *last;

    (void)state;
    assert_outcome(converse("COPY stock TO STDOUT", 5000, &last), RF_UNKNOWN);
    assert_null(last);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    PQreset(world.conn);
    assert_outcome(converse("COPY stock FROM STDIN", 5000, &last), RF_UNKNOWN);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    PQreset(world.conn);
    world_assert_idle();
}

static void test_late_answer_is_never_read_as_the_next_one(void **state)
{
    PGresult *last;

    (void)state;
    assert_outcome(converse("SELECT 1, pg_sleep(0.5)", 50, &last), RF_UNKNOWN);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    PQreset(world.conn);
    assert_outcome(converse("SELECT 2", 5000, &last), RF_OK);
    assert_string_equal(PQgetvalue(last, 0, 0), "2");
    PQclear(last);
}

static void test_transaction_that_can_not_be_rolled_back_is_cut(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    database_run(world.conn, "BEGIN; " TAKE_ONE);
    pg_proxy_set(proxy, PG_SWALLOW, 0);
    assert_outcome(
        rf__pg_end_transaction(world.conn, rf__client_error(world.client)),
        RF_RETRY);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    /* The row is free again: the server has rolled back. */
    database_run(world.admin,
                 "SET lock_timeout = '5s'; " TAKE_ONE "; RESET lock_timeout");
    assert_int_equal(world_quantity(), 9);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_cut_off_before_it_arrives_is_unknown),
        world_test(test_cut_off_after_it_arrived_is_unknown),
        world_test(test_lock_is_over_once_an_outcome_is_unknown),
        world_test(test_silence_is_unknown_soon_after_the_deadline),
        world_test(test_request_that_nobody_reads_has_not_landed),
        world_test(test_idle_connection_that_was_closed_is_retry),
        world_test(test_session_ended_in_the_middle_is_unknown),
        world_test(test_refusal_stands_when_the_connection_breaks_after_it),
        world_test(test_success_without_the_end_of_its_answer_is_unknown),
        world_test(test_broken_pipe_does_not_kill_the_process),
        world_test(test_copy_gives_the_connection_up),
        world_test(test_late_answer_is_never_read_as_the_next_one),
        world_test(test_transaction_that_can_not_be_rolled_back_is_cut),
    };

    return run_group(tests, world_start, world_stop);
}
