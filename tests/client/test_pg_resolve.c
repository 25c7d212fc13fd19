/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_resolve.c - what became of an operation whose answer was lost
 */
#include <pthread.h>

#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

/* One statement that takes one, with a receipt. */
#define TAKE_ONCE TAKE_ONE " AND ringfence.once('r', 'order 1')"

static pg_proxy *proxy;
static PGconn *direct;

static int open_through_proxy(void **state)
{
    int failed = world_open(state);

    database_run(world.admin, "DELETE FROM ringfence.receipts");
    proxy = pg_proxy_start();
    direct = world.conn;
    world.conn = database_connect(pg_proxy_options(proxy));
    return failed;
}

static int close_proxy(void **state)
{
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
    return world_close(state);
}

/* The operation meets a fault; a new lock on a new connection asks. */
static void resolve_after(pg_fault fault, int expected)
{
    rf_lock *lock = world_acquire("r", 30000);
    int committed = -1;

    pg_proxy_set(proxy, fault, 0);
    assert_outcome(world_exec(lock, TAKE_ONCE), RF_UNKNOWN);
    assert_outcome(rf_pg_resolve(world.conn, lock, "order 1", &committed),
                   RF_UNKNOWN);
    rf_release(lock);

    PQreset(world.conn);
    lock = world_acquire("r", 30000);
    assert_outcome(rf_pg_resolve(world.conn, lock, "order 1", &committed),
                   RF_OK);
    assert_int_equal(committed, expected);
    assert_int_equal(world_quantity(), 10 - expected);
    world_assert_idle();
    rf_release(lock);
}

static void test_operation_that_arrived_is_found(void **state)
{
    (void)state;
    resolve_after(PG_CUT_AFTER, 1);
}

static void test_operation_that_did_not_arrive_is_not_found(void **state)
{
    (void)state;
    resolve_after(PG_CUT_BEFORE, 0);
}

static void test_asking_leaves_no_receipt(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    int committed = -1;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_outcome(rf_pg_resolve(world.conn, lock, "order 1", &committed),
                       RF_OK);
        assert_int_equal(committed, 0);
    }
    assert_int_equal(
        database_number(world.admin, "SELECT count(*) FROM ringfence.receipts"),
        0);
    assert_outcome(world_exec(lock, TAKE_ONCE), RF_OK);
    assert_outcome(rf_pg_resolve(world.conn, lock, "order 1", &committed),
                   RF_OK);
    assert_int_equal(committed, 1);
    assert_int_equal(world_quantity(), 9);
    rf_release(lock);
}

/* ---- One that is still running ------------------------------------------------- */

typedef struct asking {
    pthread_t thread;
    PGconn *conn;
    rf_client *client;
    rf_status status;
    int committed;
} asking;

/* Another process would: its own client, its own connection, a new lock. */
static void *ask_in_thread(void *arg)
{
    asking *a = arg;
    rf_lock *lock;

    a->status = rf_pg_acquire(a->client, a->conn, "r", NULL, &lock);
    if (a->status == RF_OK)
        a->status = rf_pg_resolve(a->conn, lock, "order 1", &a->committed);
    rf_release(lock);
    return NULL;
}

static void test_operation_that_is_still_running_is_waited_for(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    asking a = { .conn = database_connect(""), .committed = -1 };

    (void)state;
    assert_outcome(rf_pg_begin(world.conn, lock, RF_PG_READ_COMMITTED), RF_OK);
    database_run(world.conn, TAKE_ONCE);
    /* The lock is gone meanwhile, and somebody wants to know. */
    redis_server_command(world.redis, "DEL {lock:v1:r}");
    assert_status(rf_open(redis_server_url(world.redis), NULL, &a.client),
                  RF_OK);
    assert_int_equal(pthread_create(&a.thread, NULL, ask_in_thread, &a), 0);
    database_await_blocked(world.admin, a.conn);
    assert_int_equal(a.committed, -1);
    assert_outcome(rf_pg_commit(world.conn, lock), RF_OK);
    pthread_join(a.thread, NULL);
    assert_status(a.status, RF_OK);
    assert_int_equal(a.committed, 1);
    rf_close(a.client);
    PQfinish(a.conn);
    rf_release(lock);
}

/* ---- What can go wrong ------------------------------------------------------------ */

static void test_overtaken_or_wrong_calls_are_told_apart(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    int committed = -1;

    (void)state;
    assert_status(rf_pg_resolve(world.conn, NULL, "x", &committed), RF_MISUSE);
    assert_outcome(rf_pg_resolve(world.conn, lock, NULL, &committed),
                   RF_MISUSE);
    assert_outcome(rf_pg_resolve(world.conn, lock, "x", NULL), RF_MISUSE);
    assert_outcome(rf_pg_resolve(NULL, lock, "x", &committed), RF_MISUSE);
    assert_outcome(rf_pg_resolve(world.conn, lock, "", &committed), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF004");
    database_run(world.conn, "BEGIN");
    assert_outcome(rf_pg_resolve(world.conn, lock, "x", &committed), RF_MISUSE);
    database_run(world.conn, "ROLLBACK");
    world_overtake(lock);
    assert_outcome(rf_pg_resolve(world.conn, lock, "x", &committed), RF_STALE);
    assert_int_equal(committed, 0);
    world_assert_idle();
    rf_release(lock);
}

static void test_question_that_was_cut_off_is_retry(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);
    int committed = -1;

    (void)state;
    pg_proxy_set(proxy, PG_CUT_AFTER, 0);
    assert_outcome(rf_pg_resolve(world.conn, lock, "x", &committed), RF_RETRY);
    PQreset(world.conn);
    assert_outcome(rf_pg_resolve(world.conn, lock, "x", &committed), RF_OK);
    assert_int_equal(committed, 0);
    rf_release(lock);
}

#define proxy_test(f) \
    cmocka_unit_test_setup_teardown(f, open_through_proxy, close_proxy)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        proxy_test(test_operation_that_arrived_is_found),
        proxy_test(test_operation_that_did_not_arrive_is_not_found),
        proxy_test(test_asking_leaves_no_receipt),
        proxy_test(test_operation_that_is_still_running_is_waited_for),
        proxy_test(test_overtaken_or_wrong_calls_are_told_apart),
        proxy_test(test_question_that_was_cut_off_is_retry),
    };

    return run_group(tests, world_start, world_stop);
}
