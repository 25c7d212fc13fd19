/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_sentinel.c - a master that moves, and sentinels that know where it is
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "proxy.h"
#include "redis_topology.h"
#include "sentinel.h"

#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"

static redis_sentinels *world;

static int start(void **state)
{
    (void)state;
    world = redis_sentinels_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_sentinels_stop(world);
    return 0;
}

static rf_client *open_at(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    assert_status(rf_open(url, &opts, &client), RF_OK);
    return client;
}

static rf_status try_on(rf_client *client, const char *resource)
{
    rf_lock *lock;
    rf_status status = rf_acquire(client, resource, NULL, &lock);

    if (lock != NULL)
        assert_status(rf_release(lock), RF_OK);
    return status;
}

static redis_server *master(void)
{
    int at = -1;

    wait_until((at = redis_sentinels_master(world)) >= 0);
    return world->data[at];
}

static void test_locks_come_from_the_master_that_sentinels_name(void **state)
{
    rf_client *client = open_at(world->url, 5000);

    (void)state;
    assert_status(try_on(client, "named"), RF_OK);
    assert_int_equal(redis_server_number(master(), "GET " COUNTER, "named"), 1);
    rf_close(client);
}

static void test_sentinel_that_hangs_is_passed_over(void **state)
{
    rf_client *client = open_at(world->url, 3000);
    int64_t begin = test_now_ms();

    (void)state;
    redis_server_freeze(world->sentinel[0]);
    assert_status(try_on(client, "hang"), RF_OK);
    redis_server_thaw(world->sentinel[0]);
    assert_at_most_ms(begin, 3000);
    rf_close(client);
}

static void test_name_that_no_sentinel_knows_is_misuse(void **state)
{
    char url[256];
    rf_client *client;

    (void)state;
    snprintf(url, sizeof(url),
             "redis+sentinel://:data@127.0.0.1:%d/nobody?sentinel=:watch",
             redis_server_port(world->sentinel[1]));
    client = open_at(url, 2000);
    assert_status(try_on(client, "r"), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "nobody"));
    rf_close(client);
}

static void test_wrong_password_is_misuse_and_is_not_shown(void **state)
{
    static const char *const urls[] = {
        "redis+sentinel://:data@127.0.0.1:%d/main?sentinel=:sesame",
        "redis+sentinel://:sesame@127.0.0.1:%d/main?sentinel=:watch"
    };

    (void)state;
    for (int i = 0; i < 2; i++) {
        char url[256];
        rf_client *client;

        snprintf(url, sizeof(url), urls[i],
                 redis_server_port(world->sentinel[1]));
        client = open_at(url, 2000);
        assert_status(try_on(client, "r"), RF_MISUSE);
        assert_null(strstr(rf_message(client), "sesame"));
        rf_close(client);
    }
}

static rf_client *open_sentinel(int port)
{
    char url[128];

    snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/main", port);
    return open_at(url, 5000);
}

static void test_server_that_is_no_sentinel_is_misuse(void **state)
{
    redis_server *plain = redis_server_start(NULL);
    rf_client *client = open_sentinel(redis_server_port(plain));

    (void)state;
    assert_status(try_on(client, "r"), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "refuses the command"));
    rf_close(client);
    redis_server_stop(plain);
}

static void test_place_that_makes_no_sense_is_retry(void **state)
{
    static const char *const places[] = {
        "+OK\r\n",
        "*0\r\n",
        "*1\r\n$9\r\n127.0.0.1\r\n",
        "*2\r\n$0\r\n\r\n$4\r\n6379\r\n",
        "*2\r\n$9\r\n127.0.0.1\r\n$5\r\n65536\r\n",
        "*2\r\n$9\r\n127.0.0.1\r\n$1\r\nx\r\n",
        "*2\r\n:1\r\n:2\r\n",
    };
    redis_server *plain = redis_server_start(NULL);
    proxy *fault = proxy_start(redis_server_socket(plain));
    rf__service service;
    rf__error error;
    rf__locator *locator;
    char url[128];

    (void)state;
    snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/main",
             proxy_port(fault));
    assert_status(rf__service_parse(url, &service, &error), RF_OK);
    locator = rf__sentinel_locator(&service, 5000);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        rf__url found;

        proxy_say(fault, 1, places[i], strlen(places[i]));
        assert_status(
            locator->locate(locator, &found, test_now_ms() + 5000, &error),
            RF_RETRY);
        assert_non_null(strstr(error.text, "makes no sense"));
    }
    locator->free(locator);
    proxy_stop(fault);
    redis_server_stop(plain);
}

/* A sentinel that lags names a server that is a master no more. */
static void test_server_that_is_no_master_is_not_believed(void **state)
{
    redis_server *replica = world->data[master() == world->data[1] ? 2 : 1];
    char url[256];
    rf_client *client;
    int64_t begin;

    (void)state;
    redis_server_command(world->sentinel[2],
                         "SENTINEL MONITOR lagging "
                         "127.0.0.1 %d 3",
                         redis_server_port(replica));
    snprintf(url, sizeof(url),
             "redis+sentinel://:data@127.0.0.1:%d/lagging?sentinel=:watch",
             redis_server_port(world->sentinel[2]));
    client = open_at(url, 400);
    begin = test_now_ms();
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_at_most_ms(begin, 2000);
    assert_non_null(strstr(rf_message(client), "not a master"));
    redis_server_command(world->sentinel[2], "SENTINEL REMOVE lagging");
    rf_close(client);
}

/* Whatever it is that answers where the sentinel points, it says no such thing. */
static void test_role_that_makes_no_sense_is_not_believed(void **state)
{
    static const char *const options[] = { "--sentinel", NULL };
    static const char *const roles[] = { "*1\r\n:1\r\n", "*0\r\n",
                                         "*1\r\n$7\r\nmas\0ter\r\n" };
    static const size_t lengths[] = { 8, 4, 17 };
    redis_server *plain = redis_server_start(NULL);
    proxy *fault = proxy_start(redis_server_socket(plain));
    redis_server *sentinel;
    rf_client *client;
    char config[128];

    (void)state;
    snprintf(config, sizeof(config), "sentinel monitor main 127.0.0.1 %d 1\n",
             proxy_port(fault));
    sentinel = redis_server_start_with(config, options);
    client = open_sentinel(redis_server_port(sentinel));
    assert_status(try_on(client, "r"), RF_OK);
    rf_close(client);
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        char url[128];

        /* The sentinel's own questions meet it as well. */
        proxy_say(fault, 1000000, roles[i], lengths[i]);
        snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/main",
                 redis_server_port(sentinel));
        client = open_at(url, 400);
        /* The text is of the last try, which may have run out of time. */
        do
            assert_status(try_on(client, "r"), RF_RETRY);
        while (strstr(rf_message(client), "is not a master") == NULL);
        rf_close(client);
    }
    assert_int_equal(redis_server_number(plain, "GET " COUNTER, "r"), 1);
    redis_server_stop(sentinel);
    proxy_stop(fault);
    redis_server_stop(plain);
}

static void test_demoted_master_applies_nothing_and_is_left(void **state)
{
    rf_client *client = open_at(world->url, 20000);
    redis_server *old = master();
    rf_lock *lock;
    rf_fence before;

    (void)state;
    assert_status(rf_acquire(client, "moved", NULL, &lock), RF_OK);
    before = rf_lock_fence(lock);
    assert_status(rf_release(lock), RF_OK);
    wait_until(strcmp(redis_server_command(world->sentinel[0],
                                           "SENTINEL FAILOVER main"),
                      "OK") == 0);
    wait_until(redis_sentinels_master(world) >= 0 && master() != old);
    /* What the sentinels will do too, in eight seconds. */
    redis_server_command(old, "REPLICAOF 127.0.0.1 %d",
                         redis_server_port(master()));
    /* Whatever the old connection is told, the call finds the new master. */
    assert_status(rf_acquire(client, "moved", NULL, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) > before);
    assert_true(master() != old);
    wait_until(redis_server_number(master(), "GET " COUNTER, "moved") ==
               rf_lock_fence(lock));
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* ---- The master dies while clients acquire ----------------------------------- */

typedef struct worker {
    pthread_t thread;
    atomic_int *moved; /* the new master is there */
    rf_status odd;
    int granted, after;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    rf_client *client = open_at(world->url, 1000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.wait_ms = 1000;
    opts.ttl_ms = 2000;
    while (w->after < 3) {
        rf_lock *lock;
        rf_status status = rf_acquire(client, "busy", &opts, &lock);

        if (status == RF_OK) {
            w->granted++;
            w->after += atomic_load(w->moved);
            rf_release(lock);
        } else if (status != RF_TIMEOUT && status != RF_RETRY &&
                   status != RF_UNKNOWN) {
            w->odd = status;
            break;
        }
    }
    rf_close(client);
    return NULL;
}

static atomic_int told;

static void note_loss(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    (void)lock, (void)arg;
    atomic_store(&told, (int)reason);
}

static rf_lock *keep_one(rf_client *client)
{
    rf_keep_options keep = RF_KEEP_INIT;
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = 30000;
    assert_status(rf_acquire(client, "kept", &opts, &lock), RF_OK);
    keep.ttl_ms = 24000;
    keep.on_lost = note_loss;
    assert_status(rf_keep(lock, &keep), RF_OK);
    return lock;
}

static void check_fail_over(worker *workers, size_t n)
{
    redis_server *old = master();
    atomic_int moved = 0;

    for (size_t i = 0; i < n; i++) {
        workers[i].moved = &moved;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    wait_until(redis_server_number(old, "GET " COUNTER, "busy") > 20);
    redis_server_kill(old);
    wait_until(redis_sentinels_master(world) >= 0 && master() != old);
    atomic_store(&moved, 1);
    for (size_t i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_status(workers[i].odd, RF_OK);
        assert_int_equal(workers[i].after, 3);
    }
}

static void test_clients_go_on_after_a_real_fail_over(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    worker workers[3] = { { .odd = RF_OK } };
    rf_client *client;
    rf_lock *lock;
    rf_info info;

    (void)state;
    wait_until(redis_replicas_ready(master(), 2));
    /* On both replicas, so that whoever is promoted has it. */
    opts.min_replicas = 2;
    opts.replicas_ms = 5000;
    opts.timeout_ms = 12000;
    assert_status(rf_open(world->url, &opts, &client), RF_OK);
    lock = keep_one(client);
    check_fail_over(workers, 3);

    wait_until(rf_inspect(client, "kept", &info) == RF_OK);
    assert_string_equal(info.holder, rf_lock_holder(lock));
    assert_true(rf_lock_fence(lock) == info.fence);
    assert_int_equal(atomic_load(&told), 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locks_come_from_the_master_that_sentinels_name),
        cmocka_unit_test(test_sentinel_that_hangs_is_passed_over),
        cmocka_unit_test(test_name_that_no_sentinel_knows_is_misuse),
        cmocka_unit_test(test_wrong_password_is_misuse_and_is_not_shown),
        cmocka_unit_test(test_server_that_is_no_sentinel_is_misuse),
        cmocka_unit_test(test_place_that_makes_no_sense_is_retry),
        cmocka_unit_test(test_server_that_is_no_master_is_not_believed),
        cmocka_unit_test(test_role_that_makes_no_sense_is_not_believed),
        cmocka_unit_test(test_clients_go_on_after_a_real_fail_over),
        cmocka_unit_test(test_demoted_master_applies_nothing_and_is_left),
    };

    return run_group(tests, start, stop);
}
