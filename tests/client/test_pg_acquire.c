/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_acquire.c - a lock is acquired once it has been claimed
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "pg_proxy.h"
#include "pg_world.h"

#define TAKE_ONE "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'a'"

static rf_status try_acquire(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock = (rf_lock *)1;
    rf_status status;

    opts.ttl_ms = ttl_ms;
    status = rf_pg_acquire(world.client, world.conn, resource, &opts, &lock);
    assert_true((lock != NULL) == (status == RF_OK));
    rf_release(lock);
    return status;
}

static long long stored_fence(const char *resource)
{
    return database_number(world.admin, "SELECT ringfence.high_water('%s')",
                           resource);
}

/* ---- The claim ------------------------------------------------------------- */

static void test_acquired_lock_is_claimed_and_committed(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_int_equal(stored_fence("r"), rf_lock_fence(lock));
    assert_int_equal(database_number(world.admin,
                                     "SELECT count(*) FROM ringfence.registry"
                                     " WHERE resource = 'r' AND holder = '%s'",
                                     rf_lock_holder(lock)),
                     1);
    world_assert_idle();
    rf_release(lock);
    assert_false(world_held("r"));
}

static void test_older_holder_is_refused_from_the_acquisition_on(void **state)
{
    rf_lock *older = world_acquire("r", 30000);
    rf_pg_statement statement = { TAKE_ONE, 0, NULL };
    rf_lock *newer;

    (void)state;
    redis_server_command(world.redis, "DEL {lock:v1:r}");
    newer = world_acquire("r", 30000);
    /* The newer holder has only read so far: that is when it matters. */
    assert_outcome(rf_pg_exec(world.conn, older, &statement, NULL), RF_STALE);
    assert_int_equal(world_quantity(), 10);
    assert_outcome(rf_pg_exec(world.conn, newer, &statement, NULL), RF_OK);
    rf_release(older);
    rf_release(newer);
}

static rf_lock *acquire_as(const char *holder)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.holder = holder;
    assert_outcome(rf_pg_acquire(world.client, world.conn, "r", &opts, &lock),
                   RF_OK);
    return lock;
}

/*
 * Given back, not answered, and asked for again under the same holder: the same
 * number is handed out and its claim passes, for it is the same grant.  When the
 * request to give it back arrives after all, the lock is somebody else's; the
 * database is not fooled, and the number is not raised.
 */
static void test_replayed_grant_whose_release_is_late_writes_nothing(
    void **state)
{
    static const char holder[] = "0123456789abcdef0123456789abcdef";
    rf_pg_statement statement = { TAKE_ONE, 0, NULL };
    rf_lock *first = acquire_as(holder), *again, *next;

    (void)state;
    again = acquire_as(holder);
    assert_int_equal(rf_lock_fence(again), rf_lock_fence(first));
    assert_outcome(rf_release(first), RF_OK);
    assert_int_equal(rf_lock_fence(again), 1);
    assert_outcome(rf_pg_exec(world.conn, again, &statement, NULL), RF_OK);

    next = world_acquire("r", 30000);
    assert_int_equal(rf_lock_fence(next), 2);
    assert_outcome(rf_pg_exec(world.conn, again, &statement, NULL), RF_STALE);
    assert_int_equal(world_quantity(), 9);
    assert_int_equal(stored_fence("r"), 2);
    assert_outcome(rf_pg_exec(world.conn, next, &statement, NULL), RF_OK);
    assert_int_equal(world_quantity(), 8);
    rf_release(again);
    assert_true(world_held("r"));
    rf_release(next);
}

static void test_claim_takes_one_round_trip(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    int before;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    assert_outcome(try_acquire("r", 30000), RF_OK);
    before = pg_proxy_requests(proxy);
    assert_outcome(try_acquire("r", 30000), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
}

static void test_sessions_defaults_do_not_reach_the_claim(void **state)
{
    (void)state;
    database_run(world.conn,
                 "SET default_transaction_isolation = 'serializable';"
                 "SET default_transaction_read_only = on;"
                 "SET default_transaction_deferrable = on");
    assert_outcome(try_acquire("r", 30000), RF_OK);
    assert_true(stored_fence("r") >= 1);
}

/* ---- A counter that is gone, or went back ------------------------------------ */

/* How often a number had to be raised, which follows a refused claim alone. */
static long long raised(void)
{
    rf_stats stats;

    rf_get_stats(world.client, &stats);
    return (long long)stats.calls[RF_CALL_REISSUE][RF_OK];
}

static void test_missing_counter_is_asked_for_before_a_number_is_issued(
    void **state)
{
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 3; i++)
        rf_release(world_acquire("r", 30000));
    redis_server_command(world.redis, "FLUSHALL");
    lock = world_acquire("r", 30000);
    assert_int_equal(rf_lock_fence(lock), 4);
    assert_int_equal(stored_fence("r"), 4);
    assert_int_equal(raised(), 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_counter_is_not_restarted_when_nobody_can_be_asked(void **state)
{
    (void)state;
    database_run(world.admin, "CREATE ROLE nobody_special; GRANT USAGE"
                              " ON SCHEMA ringfence TO nobody_special");
    database_run(world.conn, "SET ROLE nobody_special");
    assert_outcome(try_acquire("r", 30000), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "42501");
    assert_int_equal(redis_server_number(world.redis, "DBSIZE"), 0);
    database_run(world.admin, "DROP OWNED BY nobody_special;"
                              "DROP ROLE nobody_special");
}

static void test_counter_that_went_back_is_healed_at_birth(void **state)
{
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 3; i++)
        rf_release(world_acquire("r", 30000));
    redis_server_command(world.redis, "SET {lock:v1:r}:fence 1");
    lock = world_acquire("r", 30000);
    assert_int_equal(rf_lock_fence(lock), 4);
    assert_int_equal(stored_fence("r"), 4);
    assert_true(raised() > 0);
    assert_outcome(world_exec(lock, TAKE_ONE), RF_OK);
    rf_release(lock);
}

static void test_number_issued_twice_is_healed_at_birth(void **state)
{
    rf_lock *first, *second;

    (void)state;
    rf_release(world_acquire("r", 30000));
    first = world_acquire("r", 30000);
    assert_int_equal(rf_lock_fence(first), 2);
    redis_server_command(world.redis, "DEL {lock:v1:r}");
    redis_server_command(world.redis, "SET {lock:v1:r}:fence 1");
    second = world_acquire("r", 30000);
    assert_int_equal(rf_lock_fence(second), 3);
    assert_outcome(world_exec(second, TAKE_ONE), RF_OK);
    assert_outcome(world_exec(first, TAKE_ONE), RF_STALE);
    assert_int_equal(world_quantity(), 9);
    rf_release(first);
    rf_release(second);
}

static void test_healed_lock_is_not_raised_again(void **state)
{
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 2; i++)
        rf_release(world_acquire("r", 30000));
    redis_server_command(world.redis, "SET {lock:v1:r}:fence 1");
    lock = world_acquire("r", 30000);
    assert_outcome(rf_reissue(lock, 100), RF_MISUSE);
    rf_release(lock);
}

static void test_lock_handed_out_again_is_never_raised(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *outer, *inner;

    (void)state;
    opts.reentrant = 1;
    assert_outcome(rf_pg_acquire(world.client, world.conn, "r", &opts, &outer),
                   RF_OK);
    assert_outcome(rf_pg_acquire(world.client, world.conn, "r", &opts, &inner),
                   RF_OK);
    assert_ptr_equal(inner, outer);
    rf_release(inner);
    world_overtake(outer);
    assert_outcome(rf_pg_acquire(world.client, world.conn, "r", &opts, &inner),
                   RF_STALE);
    assert_int_equal(rf_lock_fence(outer), 0);
    assert_outcome(world_exec(outer, TAKE_ONE), RF_STALE);
    rf_release(outer);
}

static void test_number_that_cannot_be_raised_is_misuse(void **state)
{
    (void)state;
    database_run(world.admin, "SELECT ringfence.guard('r', 9007199254740991)");
    assert_outcome(try_acquire("r", 30000), RF_MISUSE);
    assert_false(world_held("r"));
}

/* ---- While a claim waits ---------------------------------------------------- */

typedef struct waiting {
    pthread_t thread;
    int64_t ttl_ms;
    rf_status status;
} waiting;

static void *acquire_in_thread(void *arg)
{
    waiting *w = arg;

    w->status = try_acquire("r", w->ttl_ms);
    return NULL;
}

/* Somebody is in the middle of a fenced transaction; our claim waits. */
static void let_claim_wait(waiting *w)
{
    database_run(world.admin, "SELECT ringfence.guard('r', 1)");
    database_run(world.admin, "BEGIN; SELECT ringfence.guard('r', 1)");
    redis_server_command(world.redis, "SET {lock:v1:r}:fence 1");
    assert_int_equal(pthread_create(&w->thread, NULL, acquire_in_thread, w), 0);
}

static void test_refusal_stands_when_the_lock_is_gone(void **state)
{
    waiting w = { .ttl_ms = 30000 };
    PGconn *watch = database_connect("");

    (void)state;
    let_claim_wait(&w);
    database_await_blocked(watch, world.conn);
    redis_server_command(world.redis, "DEL {lock:v1:r}");
    database_run(world.admin, "SELECT ringfence.guard('r', 50); COMMIT");
    pthread_join(w.thread, NULL);
    assert_outcome(w.status, RF_STALE);
    assert_string_equal(rf_pg_sqlstate(world.client), "RF001");
    assert_int_equal(stored_fence("r"), 50);
    world_assert_idle();
    PQfinish(watch);
}

static void test_refusal_is_healed_when_the_lock_is_still_ours(void **state)
{
    waiting w = { .ttl_ms = 30000 };
    PGconn *watch = database_connect("");

    (void)state;
    let_claim_wait(&w);
    database_await_blocked(watch, world.conn);
    database_run(world.admin, "SELECT ringfence.guard('r', 50); COMMIT");
    pthread_join(w.thread, NULL);
    assert_outcome(w.status, RF_OK);
    assert_int_equal(stored_fence("r"), 51);
    PQfinish(watch);
}

static void test_claim_waits_no_longer_than_the_lock_lives(void **state)
{
    waiting w = { .ttl_ms = 800 };
    int64_t since = test_now_ms();

    (void)state;
    let_claim_wait(&w);
    pthread_join(w.thread, NULL);
    assert_outcome(w.status, RF_LOST);
    assert_at_least_ms(since, 700);
    assert_at_most_ms(since, 10000);
    database_run(world.admin, "ROLLBACK");
    assert_int_equal(stored_fence("r"), 1);
}

static void test_lock_timeout_of_the_claim_is_retry(void **state)
{
    waiting w = { .ttl_ms = 30000 };

    (void)state;
    database_run(world.conn, "SET lock_timeout = 50");
    let_claim_wait(&w);
    pthread_join(w.thread, NULL);
    assert_outcome(w.status, RF_RETRY);
    assert_string_equal(rf_pg_sqlstate(world.client), "55P03");
    assert_false(world_held("r"));
    world_assert_idle();
    database_run(world.admin, "ROLLBACK");
    assert_outcome(try_acquire("r", 30000), RF_OK);
}

/* ---- Failures --------------------------------------------------------------- */

static void test_what_the_lock_service_says_is_passed_on(void **state)
{
    rf_lock *lock = world_acquire("r", 30000);

    (void)state;
    assert_outcome(try_acquire("r", 30000), RF_BUSY);
    assert_outcome(try_acquire("", 30000), RF_MISUSE);
    assert_outcome(try_acquire("q", 0), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "");
    rf_release(lock);
}

static void test_lock_is_given_back_when_the_claim_fails(void **state)
{
    (void)state;
    assert_outcome(try_acquire("r", 30000), RF_OK);
    database_run(world.admin, "CREATE ROLE nobody_special; GRANT USAGE"
                              " ON SCHEMA ringfence TO nobody_special");
    database_run(world.conn, "SET ROLE nobody_special");
    assert_outcome(try_acquire("r", 30000), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "42501");
    assert_non_null(strstr(rf_message(world.client), "42501"));
    assert_false(world_held("r"));
    world_assert_idle();
    database_run(world.admin, "DROP OWNED BY nobody_special;"
                              "DROP ROLE nobody_special");
}

static void test_database_without_the_extension_is_misuse(void **state)
{
    PGconn *ours = world.conn;

    (void)state;
    world.conn = database_connect("dbname=template1");
    assert_outcome(try_acquire("r", 30000), RF_MISUSE);
    assert_string_equal(rf_pg_sqlstate(world.client), "3F000");
    assert_false(world_held("r"));
    PQfinish(world.conn);
    world.conn = ours;
}

static void test_connection_that_is_not_idle_takes_no_lock(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_pg_acquire(world.client, NULL, "r", NULL, &lock),
                  RF_MISUSE);
    assert_status(rf_pg_acquire(NULL, world.conn, "r", NULL, &lock), RF_MISUSE);
    assert_status(rf_pg_acquire(world.client, world.conn, "r", NULL, NULL),
                  RF_MISUSE);
    database_run(world.conn, "BEGIN");
    assert_outcome(try_acquire("r", 30000), RF_MISUSE);
    assert_int_equal(PQtransactionStatus(world.conn), PQTRANS_INTRANS);
    assert_int_equal(redis_server_number(world.redis, "DBSIZE"), 0);
}

static void test_lost_connection_is_retry_and_leaves_no_lock(void **state)
{
    (void)state;
    database_terminate(world.admin, world.conn);
    assert_outcome(try_acquire("r", 30000), RF_RETRY);
    assert_false(world_held("r"));
    /* Now that it is known, Redis is not even asked. */
    redis_server_command(world.redis, "FLUSHALL");
    assert_outcome(try_acquire("r", 30000), RF_RETRY);
    assert_int_equal(redis_server_number(world.redis, "DBSIZE"), 0);
    PQreset(world.conn);
    assert_outcome(try_acquire("r", 30000), RF_OK);
}

static void meet(pg_fault fault, int64_t ttl_ms, rf_status expected)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;
    int64_t since;

    redis_server_command(world.redis, "SET {lock:v1:r}:fence %d NX", 100);
    world.conn = database_connect(pg_proxy_options(proxy));
    pg_proxy_set(proxy, fault, 0);
    since = test_now_ms();
    assert_outcome(try_acquire("r", ttl_ms), expected);
    assert_at_most_ms(since, 10000);
    assert_int_equal(PQstatus(world.conn), CONNECTION_BAD);
    assert_false(world_held("r"));
    PQreset(world.conn);
    world_assert_idle();
    assert_outcome(try_acquire("r", 30000), RF_OK);
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
}

static void test_claim_that_was_cut_off_is_retry_landed_or_not(void **state)
{
    (void)state;
    meet(PG_CUT_BEFORE, 30000, RF_RETRY);
    assert_int_equal(stored_fence("r"), 102);
    meet(PG_CUT_AFTER, 30000, RF_RETRY);
    assert_int_equal(stored_fence("r"), 104);
    meet(PG_CUT_INSIDE, 30000, RF_RETRY);
    assert_int_equal(stored_fence("r"), 106);
}

static void test_claim_answered_past_the_deadline_is_lost(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *direct = world.conn;

    (void)state;
    world.conn = database_connect(pg_proxy_options(proxy));
    assert_outcome(try_acquire("r", 30000), RF_OK);
    pg_proxy_set_delay(proxy, 400);
    assert_outcome(try_acquire("r", 600), RF_LOST);
    assert_int_equal(stored_fence("r"), 2);
    world_assert_idle();
    PQfinish(world.conn);
    world.conn = direct;
    pg_proxy_stop(proxy);
}

static void test_silent_database_costs_no_more_than_the_lock(void **state)
{
    (void)state;
    meet(PG_SWALLOW, 800, RF_LOST);
    meet(PG_MUTE, 800, RF_LOST);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        world_test(test_acquired_lock_is_claimed_and_committed),
        world_test(test_older_holder_is_refused_from_the_acquisition_on),
        world_test(test_replayed_grant_whose_release_is_late_writes_nothing),
        world_test(test_claim_takes_one_round_trip),
        world_test(test_sessions_defaults_do_not_reach_the_claim),
        world_test(test_missing_counter_is_asked_for_before_a_number_is_issued),
        world_test(test_counter_is_not_restarted_when_nobody_can_be_asked),
        world_test(test_counter_that_went_back_is_healed_at_birth),
        world_test(test_number_issued_twice_is_healed_at_birth),
        world_test(test_healed_lock_is_not_raised_again),
        world_test(test_lock_handed_out_again_is_never_raised),
        world_test(test_number_that_cannot_be_raised_is_misuse),
        world_test(test_refusal_stands_when_the_lock_is_gone),
        world_test(test_refusal_is_healed_when_the_lock_is_still_ours),
        world_test(test_claim_waits_no_longer_than_the_lock_lives),
        world_test(test_lock_timeout_of_the_claim_is_retry),
        world_test(test_what_the_lock_service_says_is_passed_on),
        world_test(test_lock_is_given_back_when_the_claim_fails),
        world_test(test_database_without_the_extension_is_misuse),
        world_test(test_connection_that_is_not_idle_takes_no_lock),
        world_test(test_lost_connection_is_retry_and_leaves_no_lock),
        world_test(test_claim_that_was_cut_off_is_retry_landed_or_not),
        world_test(test_claim_answered_past_the_deadline_is_lost),
        world_test(test_silent_database_costs_no_more_than_the_lock),
    };

    return run_group(tests, world_start, world_stop);
}
