/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_nomem.c - memory runs out at the n-th request, for every n
 *
 * For our own code; the linker puts functions in the place of the two of hiredis
 * that allocate, as well.
 */
#include "our_memory.h"
#include "rf_test.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "internal.h"
#include "redis.h"
#include "redis_server.h"
#include "url.h"

static redis_server *server;
redisReader *__real_redisReaderCreateWithFunctions(
    redisReplyObjectFunctions *functions);
int __real_redisReaderFeed(redisReader *reader, const char *data, size_t len);

redisReader *__wrap_redisReaderCreateWithFunctions(
    redisReplyObjectFunctions *functions);
int __wrap_redisReaderFeed(redisReader *reader, const char *data, size_t len);

redisReader *__wrap_redisReaderCreateWithFunctions(
    redisReplyObjectFunctions *functions)
{
    return fails() ? NULL : __real_redisReaderCreateWithFunctions(functions);
}

int __wrap_redisReaderFeed(redisReader *reader, const char *data, size_t len)
{
    if (!fails())
        return __real_redisReaderFeed(reader, data, len);
    reader->err = REDIS_ERR_OOM;
    return REDIS_ERR;
}

static int start(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

static int locks_in_redis(void)
{
    return (int)redis_server_number(server, "EXISTS {lock:v1:r}");
}

/* Of every kind; nobody listens there, and opening does not ask. */
static const char *const urls[] = {
    "redis://127.0.0.1:1",
    "redis+sentinel://127.0.0.1:1,127.0.0.1:2/main",
    "redis+cluster://127.0.0.1:1,127.0.0.1:2",
    "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
    "postgresql:///nowhere",
#ifdef RF_ETCD
    "etcd://127.0.0.1:1,127.0.0.1:2",
#endif
#ifdef RF_ZOOKEEPER
    "zookeeper://127.0.0.1:1,127.0.0.1:2",
#endif
};
#define URLS (sizeof(urls) / sizeof(urls[0]))

static void open_without_memory(const char *url)
{
    int happened = 1;

    for (long n = 0; happened; n++) {
        rf_client *client = (rf_client *)&client;
        rf_status status;

        arm(n);
        status = rf_open(url, NULL, &client);
        happened = disarm();
        assert_status(status, happened ? RF_NOMEM : RF_OK);
        assert_true((client == NULL) == happened);
        if (happened)
            assert_string_equal(rf_message(NULL), "out of memory");
        rf_close(client);
        assert_true(n < 100);
    }
}

static void test_open_without_memory_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < URLS; i++)
        open_without_memory(urls[i]);
}

/* The keeper and those that wait have connections of their own. */
static void copy_without_memory(const char *url)
{
    int happened = 1;
    rf_client *client;

    assert_status(rf_open(url, NULL, &client), RF_OK);
    for (long n = 0; happened; n++) {
        rf__source *copy;

        arm(n);
        copy = client->source->ops->clone(client->source, &client->error);
        happened = disarm();
        assert_true((copy == NULL) == happened);
        if (copy != NULL)
            copy->ops->close(copy);
        assert_true(n < 100);
    }
    rf_close(client);
}

static void test_source_is_copied_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < URLS; i++)
        copy_without_memory(urls[i]);
}

static void test_keeping_without_memory_leaves_the_lock_as_it_was(void **state)
{
    int happened = 1;

    (void)state;
    for (long n = 0; happened; n++) {
        rf_client *client;
        rf_lock *lock;
        rf_status status;

        redis_server_command(server, "FLUSHALL");
        assert_status(rf_open(redis_server_url(server), NULL, &client), RF_OK);
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
        arm(n);
        status = rf_keep(lock, NULL);
        happened = disarm();
        /* The thread may be the one that goes without, and asks again. */
        assert_true(status == RF_OK || (happened && status == RF_NOMEM));
        assert_int_equal(rf_lock_fence(lock), 1);
        if (status != RF_OK)
            assert_status(rf_keep(lock, NULL), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        rf_close(client);
        assert_true(n < 100);
    }
}

/* NOMEM: nothing landed.  When the answer can't be stored: unknown, resent. */
static void test_acquire_without_memory_grants_once_or_not_at_all(void **state)
{
    int happened = 1;

    (void)state;
    for (long n = 0; happened; n++) {
        rf_client *client;
        rf_lock *lock;
        rf_status status;

        redis_server_command(server, "FLUSHALL");
        redis_server_command(server, "SCRIPT FLUSH");
        assert_status(rf_open(redis_server_url(server), NULL, &client), RF_OK);
        arm(n);
        status = rf_acquire(client, "r", NULL, &lock);
        happened = disarm();
        assert_true((lock != NULL) == (status == RF_OK));
        if (status == RF_NOMEM)
            assert_int_equal(locks_in_redis(), 0);
        else
            assert_true(status == RF_OK || status == RF_UNKNOWN);
        if (lock != NULL)
            assert_int_equal(rf_lock_fence(lock), 1);
        rf_release(lock);
        redis_server_command(server, "DEL {lock:v1:r}");
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        rf_close(client);
        assert_true(n < 100);
    }
}

static void test_held_lock_survives_a_call_without_memory(void **state)
{
    int happened = 1;

    (void)state;
    for (long n = 0; happened; n++) {
        rf_client *client;
        rf_lock *lock;
        rf_info info;
        rf_status status;

        redis_server_command(server, "FLUSHALL");
        assert_status(rf_open(redis_server_url(server), NULL, &client), RF_OK);
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
        redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
        redis_server_command(server, "SCRIPT FLUSH");
        arm(n);
        status = rf_renew(lock, 60000);
        if (status == RF_OK)
            status = rf_reissue(lock, 10);
        if (status == RF_OK)
            status = rf_inspect(client, "r", &info);
        happened = disarm();
        assert_true(status == RF_OK || status == RF_NOMEM ||
                    status == RF_UNKNOWN || status == RF_RETRY);
        if (rf__lock_state(lock) == RF_OK)
            assert_status(rf_renew(lock, 60000), RF_OK);
        arm(happened ? 0 : -1);
        status = rf_release(lock); /* frees whatever the outcome */
        disarm();
        assert_true(status == RF_OK || status == RF_NOMEM ||
                    status == RF_UNKNOWN || status == RF_LOST);
        rf_close(client);
        assert_true(n < 200);
    }
}

/* A login is more commands, and is not the request. */
static void test_login_without_memory_sends_no_request(void **state)
{
    int happened = 1;
    char url[256];

    (void)state;
    snprintf(url, sizeof(url), "%s?db=3", redis_server_url(server));
    for (long n = 0; happened; n++) {
        rf_client *client;
        rf_lock *lock;
        rf_status status;

        redis_server_command(server, "FLUSHALL");
        assert_status(rf_open(url, NULL, &client), RF_OK);
        arm(n);
        status = rf_acquire(client, "r", NULL, &lock);
        happened = disarm();
        if (status == RF_NOMEM)
            assert_string_equal(redis_server_command(server, "INFO keyspace"),
                                "# Keyspace\r\n");
        else
            assert_true(status == RF_OK || status == RF_RETRY ||
                        status == RF_UNKNOWN);
        rf_release(lock);
        rf_close(client);
        assert_true(n < 100);
    }
}

/* As an event loop would: again when what it asked for has come. */
static rf_status connect_in_steps(rf__redis *r, rf__error *error)
{
    rf_status status = RF__PENDING;

    while (status == RF__PENDING) {
        struct pollfd p = { 0 };

        status = rf__redis_step_connect(r, &p.events, error);
        p.fd = rf__redis_fd(r);
        if (status == RF__PENDING)
            assert_true(poll(&p, 1, 5000) == 1);
    }
    return status;
}

static void test_login_in_steps_without_memory_says_so(void **state)
{
    rf__service where;
    rf__error error;
    int happened = 1;
    char url[256];

    (void)state;
    redis_server_command(server, "ACL SETUSER app on >s3cret ~* +@all");
    snprintf(url, sizeof(url), "redis+unix://app:s3cret@%s?db=3",
             redis_server_socket(server));
    assert_status(rf__service_parse(url, &where, &error), RF_OK);
    for (long n = 0; happened; n++) {
        rf__redis *r = rf__redis_new(&where.node[0], 1000);
        rf_status status;

        error.text[0] = '\0';
        arm(n);
        status = connect_in_steps(r, &error);
        happened = disarm();
        assert_true(rf__redis_connected(r) == !happened);
        if (happened) {
            assert_true(status == RF_NOMEM || status == RF_RETRY);
            assert_non_null(strstr(error.text, "out of memory"));
            assert_status(connect_in_steps(r, &error), RF_OK);
        }
        rf__redis_free(r);
        assert_true(n < 100);
    }
}

/* Where the slots are is a question of its own, and the first one. */
static void test_asking_for_slots_without_memory_grants_nothing(void **state)
{
    int happened = 1;
    char url[64];

    (void)state;
    snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d",
             redis_server_port(server));
    for (long n = 0; happened; n++) {
        rf_client *client;
        rf_lock *lock;
        rf_status status;

        assert_status(rf_open(url, NULL, &client), RF_OK);
        arm(n);
        status = rf_acquire(client, "r", NULL, &lock);
        happened = disarm();
        /* Without a failure: the server is no cluster. */
        assert_true(status == RF_MISUSE || (happened && status != RF_OK));
        assert_null(lock);
        rf_close(client);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_without_memory_leaves_nothing),
        cmocka_unit_test(test_source_is_copied_whole_or_not_at_all),
        cmocka_unit_test(test_keeping_without_memory_leaves_the_lock_as_it_was),
        cmocka_unit_test(test_login_without_memory_sends_no_request),
        cmocka_unit_test(test_login_in_steps_without_memory_says_so),
        cmocka_unit_test(test_asking_for_slots_without_memory_grants_nothing),
        cmocka_unit_test(test_acquire_without_memory_grants_once_or_not_at_all),
        cmocka_unit_test(test_held_lock_survives_a_call_without_memory),
    };

    return run_group(tests, start, stop);
}
