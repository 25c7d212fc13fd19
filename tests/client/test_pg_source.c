/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_pg_source.c - locks from PostgreSQL alone, and what gets in their way
 *
 * What every source must do stands in test_every_source.c.
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "pg_proxy.h"

static PGconn *admin;

static int start(void **state)
{
    (void)state;
    admin = database_connect("");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    PQfinish(admin);
    return 0;
}

static rf_client *open_at(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    if (rf_open(url, &opts, &client) != RF_OK)
        fail_msg("%s", rf_message(NULL));
    return client;
}

static rf_status ask(const char *url, const char *resource)
{
    rf_client *client = open_at(url, 3000);
    rf_lock *lock = NULL;
    rf_status status = rf_acquire(client, resource, NULL, &lock);

    print_message("%s\n", rf_message(client));
    assert_null(strstr(rf_message(client), "secret"));
    rf_release(lock);
    rf_close(client);
    return status;
}

/* ---- At open --------------------------------------------------------------------- */

static void assert_refused(const char *url, const rf_options *opts)
{
    rf_client *client;

    assert_status(rf_open(url, opts, &client), RF_MISUSE);
    assert_null(client);
    assert_null(strstr(rf_message(NULL), "secret"));
}

static void test_url_that_libpq_cannot_read_is_refused(void **state)
{
    (void)state;
    assert_refused("postgresql://user:secret@[::1", NULL);
    assert_refused("postgresql://h/db?secret", NULL);
    assert_refused("postgresql://h/db?password=secret&secret=x", NULL);
    assert_refused("postgres://h/%secret", NULL);
}

static void test_options_that_make_no_sense_are_refused(void **state)
{
    rf_options prefix = RF_OPTIONS_INIT, replicas = RF_OPTIONS_INIT;

    (void)state;
    prefix.prefix = "mine:";
    assert_refused("postgresql://", &prefix);
    replicas.min_replicas = 1;
    assert_refused("postgresql://", &replicas);
}

/* ---- A server that will not do ------------------------------------------------------ */

static void test_server_that_is_not_there_is_worth_another_try(void **state)
{
    (void)state;
    assert_status(ask("postgresql://u:secret@127.0.0.1:1/x", "r"), RF_RETRY);
    assert_status(ask("postgresql:///x?host=/nowhere", "r"), RF_RETRY);
}

static void test_refusal_of_the_server_needs_a_person(void **state)
{
    (void)state;
    assert_status(ask("postgresql:///no_such_database", "r"), RF_MISUSE);
    assert_status(ask("postgresql://nobody_known:secret@/", "r"), RF_MISUSE);
}

static void test_database_without_the_extension_needs_a_person(void **state)
{
    (void)state;
    assert_status(ask("postgresql:///template1", "r"), RF_MISUSE);
}

static void test_role_needs_a_grant_and_no_more(void **state)
{
    rf_client *client;
    rf_lock *lock;

    (void)state;
    database_run(admin, "DROP ROLE IF EXISTS rf_lock_user;"
                        "CREATE ROLE rf_lock_user LOGIN");
    assert_status(ask("postgresql://rf_lock_user@/", "role"), RF_MISUSE);
    database_run(admin, "SELECT ringfence.grant_to('rf_lock_user')");
    client = open_at("postgresql://rf_lock_user@/", 3000);
    assert_status(rf_acquire(client, "role", NULL, &lock), RF_OK);
    assert_status(rf_force_release(client, "role", rf_lock_fence(lock), "x"),
                  RF_MISUSE);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    database_run(admin, "DROP OWNED BY rf_lock_user; DROP ROLE rf_lock_user");
}

/* ---- Time and waiting ----------------------------------------------------------------- */

static void test_work_of_the_holder_before_is_waited_for(void **state)
{
    rf_client *client = open_at("postgresql://", 1000);
    PGconn *late = database_connect("");
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    int64_t begin_ms = test_now_ms();
    rf_lock *lock;

    (void)state;
    database_run(admin, "SELECT ringfence.acquire('work', 'old', '1 min')");
    database_run(late, "BEGIN; SELECT ringfence.guard('work', 1, 'old')");
    database_run(admin, "UPDATE ringfence.leases SET expires_at = 'epoch'"
                        " WHERE resource = 'work'");
    assert_status(rf_acquire(client, "work", NULL, &lock), RF_BUSY);
    assert_at_most_ms(begin_ms, 1000);
    assert_int_equal(rf_busy_ms(client), -1);
    assert_non_null(strstr(rf_message(client), "still open"));
    database_run(late, "COMMIT");
    opts.wait_ms = 10000;
    assert_status(rf_acquire(client, "work", &opts, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == 2);
    assert_status(rf_release(lock), RF_OK);
    PQfinish(late);
    rf_close(client);
}

/* Half a minute of the holder's is left: without the notice it would be that. */
static void test_release_wakes_who_waits(void **state)
{
    rf_client *holder = open_at("postgresql://", 3000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    int64_t begin_ms;
    rf_lock *lock, *next;
    pid_t child;
    int result;

    (void)state;
    assert_status(rf_acquire(holder, "wake", NULL, &lock), RF_OK);
    child = fork();
    if (child == 0) {
        opts.wait_ms = 60000;
        _exit(rf_acquire(open_at("postgresql://", 3000), "wake", &opts,
                         &next) == RF_OK
                  ? 0
                  : 1);
    }
    while (database_number(admin, "SELECT count(*) FROM pg_locks"
                                  " WHERE objsubid = x'5257'::int"
                                  " AND mode = 'ShareLock'") == 0)
        usleep(1000);
    begin_ms = test_now_ms();
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_at_most_ms(begin_ms, 15000);
    rf_close(holder);
}

/* ---- Connections that break ------------------------------------------------------------- */

static void test_connection_that_was_ended_is_made_anew(void **state)
{
    rf_client *client = open_at("postgresql://", 3000);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "again", NULL, &lock), RF_OK);
    database_run(admin, "SELECT pg_terminate_backend(pid, 10000)"
                        " FROM pg_stat_activity"
                        " WHERE application_name = 'ringfence'"
                        " AND datname = current_database()");
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void through_proxy(pg_fault fault, int skip, rf_status expected)
{
    pg_proxy *proxy = pg_proxy_start();
    char url[256], resource[64];
    rf_client *client;
    rf_lock *lock = NULL;

    snprintf(url, sizeof(url), "postgresql:///?host=%s&port=5432",
             pg_proxy_folder(proxy));
    snprintf(resource, sizeof(resource), "fault %d %d", (int)fault, skip);
    client = open_at(url, 1000);
    pg_proxy_set(proxy, fault, skip);
    assert_status(rf_acquire(client, resource, NULL, &lock), expected);
    if (expected == RF_OK) {
        assert_int_equal(database_number(admin,
                                         "SELECT fence FROM ringfence.locks"
                                         " WHERE resource = '%s'",
                                         resource),
                         rf_lock_fence(lock));
        assert_status(rf_release(lock), RF_OK);
    }
    rf_close(client);
    pg_proxy_stop(proxy);
}

/* Requests: start-up, the look for a pooler, the acquisition. */
static void test_answer_that_was_lost_is_asked_for_again(void **state)
{
    (void)state;
    through_proxy(PG_CUT_AFTER, 2, RF_OK);
    through_proxy(PG_CUT_INSIDE, 2, RF_OK);
    through_proxy(PG_CUT_LAST, 2, RF_OK);
}

static void test_silence_is_not_waited_for_longer_than_allowed(void **state)
{
    (void)state;
    through_proxy(PG_SWALLOW, 0, RF_RETRY);
    through_proxy(PG_DEAF, 1, RF_RETRY);
    through_proxy(PG_SWALLOW, 2, RF_UNKNOWN);
    through_proxy(PG_MUTE, 2, RF_UNKNOWN);
}

/* Whoever asks again as the same holder gets what it may have, and no more. */
static void test_unknown_acquire_asked_again_grants_once(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_client *client;
    rf_lock *lock;
    char url[256];

    (void)state;
    opts.holder = "00000000000000000000000000000abc";
    snprintf(url, sizeof(url), "postgresql:///?host=%s&port=5432",
             pg_proxy_folder(proxy));
    client = open_at(url, 1000);
    pg_proxy_set(proxy, PG_MUTE, 2);
    assert_status(rf_acquire(client, "once", &opts, &lock), RF_UNKNOWN);
    assert_status(rf_acquire(client, "once", &opts, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == 1);
    assert_int_equal(
        database_number(admin, "SELECT ringfence.high_water('once')"), 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    pg_proxy_stop(proxy);
}

/*
 * Of two locks the second is busy, so the first is given back, and that is
 * lost on the way: it could come at any later time.  Under its number the lock
 * must not be had again.
 */
static void test_grant_that_is_on_its_way_back_is_not_had_again(void **state)
{
    static const char *const names[] = { "back:a", "back:b" };
    pg_proxy *proxy = pg_proxy_start();
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *locks[2];
    rf_client *client;
    char url[256];

    (void)state;
    opts.wait_ms = 30000;
    snprintf(url, sizeof(url), "postgresql:///?host=%s&port=5432",
             pg_proxy_folder(proxy));
    client = open_at(url, 1000);
    database_run(admin, "SELECT ringfence.acquire('back:b', 'x', '500 ms')");
    /* Start-up, the look for a pooler, two acquisitions, the giving back. */
    pg_proxy_set(proxy, PG_SWALLOW, 4);
    assert_status(rf_acquire_all(client, names, 2, &opts, locks), RF_OK);
    assert_true(rf_lock_fence(locks[0]) > 1);
    assert_status(rf_renew(locks[0], 30000), RF_OK);
    assert_status(rf_release_all(locks, 2), RF_OK);
    rf_close(client);
    pg_proxy_stop(proxy);
}

static void test_each_step_is_one_round_trip(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    rf_lock *lock, *locks[3];
    static const char *const names[] = { "one", "two", "three" };
    rf_client *client;
    char url[256];
    int before;

    (void)state;
    snprintf(url, sizeof(url), "postgresql:///?host=%s&port=5432",
             pg_proxy_folder(proxy));
    client = open_at(url, 5000);
    assert_status(rf_acquire(client, "trip", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    before = pg_proxy_requests(proxy);
    assert_status(rf_acquire(client, "trip", NULL, &lock), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 2);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 3);
    for (int i = 0; i < 3; i++)
        assert_status(rf_acquire(client, names[i], NULL, &locks[i]), RF_OK);
    before = pg_proxy_requests(proxy);
    assert_status(rf_release_all(locks, 3), RF_OK);
    assert_int_equal(pg_proxy_requests(proxy) - before, 1);
    rf_close(client);
    pg_proxy_stop(proxy);
}

static void test_each_step_is_planned_once(void **state)
{
    pg_proxy *proxy = pg_proxy_start();
    rf_client *client;
    rf_lock *lock;
    char url[256];
    int before = 0;

    (void)state;
    snprintf(url, sizeof(url), "postgresql:///?host=%s&port=5432",
             pg_proxy_folder(proxy));
    client = open_at(url, 5000);
    for (int i = 0; i < 10; i++) {
        assert_status(rf_acquire(client, "plan", NULL, &lock), RF_OK);
        assert_status(rf_renew(lock, 40000), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        if (i == 0)
            before = pg_proxy_parsed(proxy);
    }
    assert_int_equal(pg_proxy_parsed(proxy), before);
    rf_close(client);
    pg_proxy_stop(proxy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url_that_libpq_cannot_read_is_refused),
        cmocka_unit_test(test_options_that_make_no_sense_are_refused),
        cmocka_unit_test(test_server_that_is_not_there_is_worth_another_try),
        cmocka_unit_test(test_refusal_of_the_server_needs_a_person),
        cmocka_unit_test(test_database_without_the_extension_needs_a_person),
        cmocka_unit_test(test_role_needs_a_grant_and_no_more),
        cmocka_unit_test(test_work_of_the_holder_before_is_waited_for),
        cmocka_unit_test(test_release_wakes_who_waits),
        cmocka_unit_test(test_connection_that_was_ended_is_made_anew),
        cmocka_unit_test(test_answer_that_was_lost_is_asked_for_again),
        cmocka_unit_test(test_silence_is_not_waited_for_longer_than_allowed),
        cmocka_unit_test(test_unknown_acquire_asked_again_grants_once),
        cmocka_unit_test(test_grant_that_is_on_its_way_back_is_not_had_again),
        cmocka_unit_test(test_each_step_is_one_round_trip),
        cmocka_unit_test(test_each_step_is_planned_once),
    };

    return run_group(tests, start, stop);
}
