/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_replicas.c - grants that only count when replicas have them
 */
#include "rf_test.h"

#include <string.h>

#include "proxy.h"
#include "redis_topology.h"

#define LOCK "{lock:v1:%s}"

static redis_server *master, *replica[2];
static proxy *fault;

static int start(void **state)
{
    static const char *const options[] = { "--repl-diskless-sync-delay", "0",
                                           NULL };

    (void)state;
    master = redis_server_start(options);
    for (int i = 0; i < 2; i++) {
        replica[i] = redis_server_start(NULL);
        redis_server_command(replica[i], "REPLICAOF 127.0.0.1 %d",
                             redis_server_port(master));
    }
    wait_until(redis_replicas_ready(master, 2));
    fault = proxy_start(redis_server_socket(master));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    proxy_stop(fault);
    for (int i = 0; i < 2; i++)
        redis_server_stop(replica[i]);
    redis_server_stop(master);
    return 0;
}

static rf_client *open_for(int min_replicas, int replicas_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.min_replicas = min_replicas;
    opts.replicas_ms = replicas_ms;
    assert_status(rf_open(proxy_url(fault), &opts, &client), RF_OK);
    return client;
}

static int held(const char *resource)
{
    return (int)redis_server_number(master, "EXISTS " LOCK, resource);
}

static void test_grant_that_replicas_have_is_ok(void **state)
{
    rf_client *client = open_for(2, 5000);
    rf_lock *lock;
    int before = proxy_requests(fault);

    (void)state;
    assert_status(rf_acquire(client, "enough", NULL, &lock), RF_OK);
    assert_int_equal(redis_server_number(replica[0], "EXISTS " LOCK, "enough"),
                     1);
    assert_int_equal(redis_server_number(replica[1], "EXISTS " LOCK, "enough"),
                     1);
    assert_status(rf_reissue(lock, 10), RF_OK);
    assert_int_equal(
        redis_server_number(replica[0], "GET " LOCK ":fence", "enough"), 11);
    assert_status(rf_release(lock), RF_OK);
    /* Three scripts (each sent whole at first) and two questions. */
    assert_in_range(proxy_requests(fault) - before, 5, 10);
    rf_close(client);
}

static void test_shortfall_is_refused_and_given_back(void **state)
{
    rf_client *client = open_for(3, 50);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "short", NULL, &lock), RF_REFUSED);
    assert_null(lock);
    assert_non_null(strstr(rf_message(client), "2 replicas"));
    assert_int_equal(held("short"), 0);
    rf_close(client);
}

static void test_replica_that_hangs_does_not_count(void **state)
{
    rf_client *client = open_for(2, 100);
    rf_lock *lock;

    (void)state;
    redis_server_freeze(replica[1]);
    assert_status(rf_acquire(client, "hung", NULL, &lock), RF_REFUSED);
    assert_int_equal(held("hung"), 0);
    redis_server_thaw(replica[1]);
    rf_close(client);
    client = open_for(2, 5000);
    assert_status(rf_acquire(client, "hung", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_replayed_grant_is_not_taken_for_replicated(void **state)
{
    rf_client *client = open_for(2, 100);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "warm", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    redis_server_freeze(replica[1]);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    opts.ttl_ms = 60000;
    assert_status(rf_acquire(client, "again", &opts, &lock), RF_UNKNOWN);
    assert_int_equal(held("again"), 0);
    redis_server_thaw(replica[1]);
    rf_close(client);
}

static void test_set_of_locks_is_given_back_whole(void **state)
{
    static const char *const names[] = { "one", "two", "three" };
    rf_client *client = open_for(3, 50);
    rf_lock *locks[3];

    (void)state;
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_REFUSED);
    for (int i = 0; i < 3; i++) {
        assert_null(locks[i]);
        assert_int_equal(held(names[i]), 0);
    }
    rf_close(client);
    client = open_for(2, 5000);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    rf_close(client);
}

/* The count of replicas comes behind it, and must not be read as an answer. */
static void test_set_of_locks_is_asked_for_again_after_an_answer_without_sense(
    void **state)
{
    static const char *const names[] = { "sense1", "sense2" };
    static const char *const answers[] = { "*1\r\n$3\r\nabc\r\n", ":7\r\n",
                                           "-NOSCRIPT no\r\n" };
    rf_lock *locks[2];

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        rf_client *client = open_for(2, 5000);

        proxy_say(fault, 1, answers[i], strlen(answers[i]));
        assert_status(rf_acquire_all(client, names, 2, NULL, locks), RF_OK);
        assert_true(rf_lock_fence(locks[0]) == (rf_fence)i + 1);
        assert_status(rf_release_all(locks, 2), RF_OK);
        assert_int_equal(held(names[0]) + held(names[1]), 0);
        rf_close(client);
    }
}

static void test_reader_that_replicas_lack_is_given_back(void **state)
{
    rf_client *client = open_for(3, 50);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *one, *two;

    (void)state;
    opts.shared = 1;
    assert_status(rf_acquire(client, "read", &opts, &one), RF_REFUSED);
    assert_null(one);
    assert_int_equal(held("read"), 0);
    rf_close(client);
    client = open_for(2, 5000);
    assert_status(rf_acquire(client, "read", &opts, &one), RF_OK);
    assert_int_equal(redis_server_number(replica[0], "EXISTS " LOCK, "read"),
                     1);
    assert_int_equal(redis_server_number(replica[1], "EXISTS " LOCK, "read"),
                     1);
    /* The second one's shortfall leaves the first alone. */
    redis_server_freeze(replica[1]);
    rf_close(client);
    client = open_for(2, 100);
    assert_status(rf_acquire(client, "read", &opts, &two), RF_REFUSED);
    assert_int_equal(held("read"), 1);
    redis_server_thaw(replica[1]);
    assert_status(rf_release(one), RF_MISUSE); /* its client is closed */
    redis_server_command(master, "DEL " LOCK, "read");
    rf_close(client);
}

/*
 * It has no fence by which a late request to give it back could be told from
 * one that is meant for what the same holder was granted later.
 */
static void test_reader_that_was_given_back_does_not_ask_again(void **state)
{
    rf_client *client = open_for(3, 20);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;
    int before;

    (void)state;
    opts.shared = 1;
    /* Redis knows the scripts from here on. */
    assert_status(rf_acquire(client, "once", &opts, &lock), RF_REFUSED);
    opts.wait_ms = 2000;
    before = proxy_requests(fault);
    assert_status(rf_acquire(client, "once", &opts, &lock), RF_REFUSED);
    assert_in_range(proxy_requests(fault) - before, 2, 3);
    /* Who writes does: its fence tells them apart. */
    opts.shared = 0;
    opts.wait_ms = 300;
    before = proxy_requests(fault);
    assert_status(rf_acquire(client, "once", &opts, &lock), RF_REFUSED);
    assert_true(proxy_requests(fault) - before > 4);
    rf_close(client);
}

static void test_fence_raised_without_replicas_ends_the_lock(void **state)
{
    rf_client *client = open_for(2, 100);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "raised", NULL, &lock), RF_OK);
    redis_server_freeze(replica[1]);
    assert_status(rf_reissue(lock, 50), RF_REFUSED);
    assert_int_equal(rf_lock_fence(lock), 0);
    assert_int_equal(held("raised"), 0);
    redis_server_thaw(replica[1]);
    assert_status(rf_release(lock), RF_LOST);
    rf_close(client);
}

static void test_connection_lost_while_replicas_are_counted(void **state)
{
    rf_client *client = open_for(2, 5000);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "cut", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    /* The script is answered; the question behind it is not. */
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 1);
    assert_status(rf_acquire(client, "cut", NULL, &lock), RF_REFUSED);
    assert_int_equal(held("cut"), 0);
    rf_close(client);
}

/* The first answer is that the script is not known; what follows is lost. */
static void test_script_goes_out_again_on_a_new_connection(void **state)
{
    rf_client *client = open_for(2, 5000);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "flushed", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    redis_server_command(master, "SCRIPT FLUSH", "flushed");
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 1);
    assert_status(rf_acquire(client, "flushed", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/*
 * The question how many have it is lost, and so is the request that gives the
 * lock back: that may be on its way, and whoever believed in the lock that is
 * handed out again would lose it when it comes.
 */
static void test_what_was_given_back_is_not_granted(void **state)
{
    rf_client *client = open_for(2, 5000);
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "back", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    proxy_set(fault, PROXY_CUT_BEFORE, 1, 2);
    assert_status(rf_acquire(client, "back", NULL, &lock), RF_UNKNOWN);
    assert_int_equal(held("back"), 0);
    assert_status(rf_acquire(client, "back", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_numbers_out_of_range_are_misuse(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    (void)state;
    opts.min_replicas = -1;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
    opts.min_replicas = 1;
    opts.replicas_ms = 0;
    assert_status(rf_open("redis://h", &opts, &client), RF_MISUSE);
    opts.replicas_ms = 1;
    assert_status(rf_open("redlock://a,b,c", &opts, &client), RF_MISUSE);
    assert_non_null(strstr(rf_message(NULL), "independent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grant_that_replicas_have_is_ok),
        cmocka_unit_test(test_shortfall_is_refused_and_given_back),
        cmocka_unit_test(test_replica_that_hangs_does_not_count),
        cmocka_unit_test(test_replayed_grant_is_not_taken_for_replicated),
        cmocka_unit_test(test_set_of_locks_is_given_back_whole),
        cmocka_unit_test(
            test_set_of_locks_is_asked_for_again_after_an_answer_without_sense),
        cmocka_unit_test(test_reader_that_replicas_lack_is_given_back),
        cmocka_unit_test(test_reader_that_was_given_back_does_not_ask_again),
        cmocka_unit_test(test_fence_raised_without_replicas_ends_the_lock),
        cmocka_unit_test(test_connection_lost_while_replicas_are_counted),
        cmocka_unit_test(test_script_goes_out_again_on_a_new_connection),
        cmocka_unit_test(test_what_was_given_back_is_not_granted),
        cmocka_unit_test(test_numbers_out_of_range_are_misuse),
    };

    return run_group(tests, start, stop);
}
