/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_etcd_source.c - locks from etcd, and what gets in their way
 *
 * Three members.  What every source must do stands in test_every_source.c.
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "etcd_cluster.h"
#include "pg_world.h"

static etcd_cluster *etcd;

static int start(void **state)
{
    (void)state;
    etcd = etcd_cluster_start(3);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    etcd_cluster_stop(etcd);
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

static rf_client *open_etcd(int timeout_ms)
{
    return open_at(etcd_cluster_url(etcd), timeout_ms);
}

static rf_status take(rf_client *client, const char *resource, int64_t wait_ms,
                      rf_lock **lock)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.wait_ms = wait_ms;
    return rf_acquire(client, resource, &opts, lock);
}

static void assert_works(rf_client *client, const char *resource)
{
    rf_lock *lock;

    if (take(client, resource, 30000, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Members that fail ---------------------------------------------------------- */

static void test_lock_outlives_the_leader(void **state)
{
    rf_client *client = open_etcd(20000);
    int leader = etcd_cluster_leader(etcd);
    rf_lock *lock, *next;
    rf_fence before;

    (void)state;
    assert_status(take(client, "leader", 0, &lock), RF_OK);
    before = rf_lock_fence(lock);
    etcd_cluster_kill(etcd, leader);
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(take(client, "leader", 0, &next), RF_BUSY);
    assert_status(rf_release(lock), RF_OK);
    assert_status(take(client, "leader", 0, &next), RF_OK);
    assert_true(rf_lock_fence(next) > before);
    assert_status(rf_release(next), RF_OK);
    etcd_cluster_restart(etcd, leader);
    rf_close(client);
}

static void test_member_that_hangs_is_passed_over(void **state)
{
    rf_client *client = open_etcd(20000);
    int leader = etcd_cluster_leader(etcd);

    (void)state;
    assert_works(client, "hang");
    etcd_cluster_freeze(etcd, (leader + 1) % 3);
    for (int i = 0; i < 3; i++)
        assert_works(client, "hang");
    etcd_cluster_thaw(etcd, (leader + 1) % 3);
    rf_close(client);
}

static void test_minority_grants_nothing(void **state)
{
    rf_client *client = open_etcd(2000);
    int64_t begin_ms = test_now_ms();
    rf_status status;
    rf_lock *lock;

    (void)state;
    etcd_cluster_kill(etcd, 0);
    etcd_cluster_kill(etcd, 1);
    status = take(client, "minority", 0, &lock);
    assert_true(status == RF_RETRY || status == RF_UNKNOWN);
    assert_null(lock);
    assert_at_most_ms(begin_ms, 12000);
    etcd_cluster_restart(etcd, 0);
    etcd_cluster_restart(etcd, 1);
    assert_works(client, "minority");
    rf_close(client);
}

/* ---- The order of waiting ---------------------------------------------------------- */

#define WAITERS 4

typedef struct waiter {
    pthread_t thread;
    int place; /* in which it was served */
} waiter;

static atomic_int served;

static void *wait_in_thread(void *arg)
{
    waiter *w = arg;
    rf_client *client = open_etcd(10000);
    rf_lock *lock;

    if (take(client, "queue", 60000, &lock) == RF_OK) {
        w->place = ++served;
        rf_release(lock);
    }
    rf_close(client);
    return NULL;
}

/* How many stand in the queue of the resource. */
static int queued(const char *resource)
{
    char from[64], to[64], name[64], body[256];
    const char *said;
    int len;

    len = snprintf(name, sizeof(name), "lock:v1:\001q%s\001", resource);
    rf__base64_write(from, name, (size_t)len);
    name[len - 1] = '\002';
    rf__base64_write(to, name, (size_t)len);
    snprintf(body, sizeof(body),
             "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}", from,
             to);
    said = strstr(etcd_cluster_post(etcd, 0, "/v3/kv/range", body),
                  "\"count\":\"");
    return said != NULL ? (int)strtol(said + 9, NULL, 10) : 0;
}

static void test_who_came_first_is_served_first(void **state)
{
    rf_client *client = open_etcd(10000);
    waiter w[WAITERS] = { 0 };
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "queue", 0, &lock), RF_OK);
    for (int i = 0; i < WAITERS; i++) {
        pthread_create(&w[i].thread, NULL, wait_in_thread, &w[i]);
        while (queued("queue") <= i)
            usleep(2000);
    }
    assert_status(rf_release(lock), RF_OK);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].place, i + 1);
    }
    assert_int_equal(queued("queue"), 0);
    rf_close(client);
}

static void test_who_gives_up_leaves_the_queue(void **state)
{
    rf_client *holder = open_etcd(10000), *client = open_etcd(10000);
    rf_lock *lock, *none;

    (void)state;
    assert_status(take(holder, "leave", 0, &lock), RF_OK);
    assert_status(take(client, "leave", 300, &none), RF_TIMEOUT);
    assert_int_equal(queued("leave"), 0);
    rf_cancel(client);
    assert_status(take(client, "leave", 30000, &none), RF_TIMEOUT);
    assert_int_equal(queued("leave"), 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(holder);
    rf_close(client);
}

/* ---- Numbers ------------------------------------------------------------------------- */

static void test_base_is_added_to_every_number(void **state)
{
    rf_client *plain = open_etcd(10000), *based;
    char url[256];
    rf_lock *lock;
    rf_fence before;

    (void)state;
    assert_status(take(plain, "base", 0, &lock), RF_OK);
    before = rf_lock_fence(lock);
    assert_status(rf_release(lock), RF_OK);
    snprintf(url, sizeof(url), "%s?base=1000000", etcd_cluster_url(etcd));
    based = open_at(url, 10000);
    assert_status(take(based, "base", 0, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) > before + 1000000);
    assert_status(rf_renew(lock, 50000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(plain);
    rf_close(based);
}

/* As after a rebuild: the database has seen greater numbers. */
static void test_rebuilt_cluster_is_told_and_what_to_do(void **state)
{
    rf_client *client = open_etcd(10000);
    rf_lock *lock;

    (void)state;
    database_run(world.admin,
                 "SELECT ringfence.guard('rebuilt', 5000000, 'x')");
    assert_status(rf_pg_acquire(client, world.conn, "rebuilt", NULL, &lock),
                  RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "base=5000000"));
    rf_close(client);
}

/* ---- Time ----------------------------------------------------------------------------- */

#define FROZEN_MS 700

static void *thaw_after_a_while(void *arg)
{
    usleep(FROZEN_MS * 1000);
    for (int i = 0; i < 3; i++)
        etcd_cluster_thaw(etcd, i);
    return arg;
}

/* The lease began to run while nothing was heard of it. */
static void test_lock_ends_before_its_lease(void **state)
{
    rf_client *client = open_etcd(20000);
    pthread_t thread;
    rf_lock *lock;

    (void)state;
    assert_works(client, "slow");
    for (int i = 0; i < 3; i++)
        etcd_cluster_freeze(etcd, i);
    pthread_create(&thread, NULL, thaw_after_a_while, NULL);
    assert_status(take(client, "slow", 0, &lock), RF_OK);
    pthread_join(thread, NULL);
    assert_true(rf_lock_left_ms(lock) <= 30000 - FROZEN_MS);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* Of the key of a lock, as the gateway writes it. */
static void read_lease(const char *resource, char out[32])
{
    char key[64], name[64], body[128];
    const char *said;
    int len = snprintf(name, sizeof(name), "lock:v1:%s", resource);

    rf__base64_write(key, name, (size_t)len);
    snprintf(body, sizeof(body), "{\"key\":\"%s\"}", key);
    said = strstr(etcd_cluster_post(etcd, 0, "/v3/kv/range", body),
                  "\"lease\":\"");
    assert_non_null(said);
    snprintf(out, 32, "%.*s", (int)strcspn(said + 9, "\""), said + 9);
}

/* What ended the attempt before may come again, and late. */
static void test_late_end_of_an_attempt_meets_no_later_lock(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_client *client = open_etcd(10000);
    char first[32], body[64];
    rf_lock *lock;

    (void)state;
    opts.holder = "000000000000000000000000000000ab";
    assert_status(rf_acquire(client, "late", &opts, &lock), RF_OK);
    read_lease("late", first);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_acquire(client, "late", &opts, &lock), RF_OK);
    snprintf(body, sizeof(body), "{\"ID\":\"%s\"}", first);
    (void)etcd_cluster_post(etcd, 0, "/v3/lease/revoke", body);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* ---- Who may ----------------------------------------------------------------------------- */

static void post(const char *path, const char *body)
{
    const char *said = etcd_cluster_post(etcd, 0, path, body);

    if (strstr(said, "\"error\"") != NULL || *said == '\0')
        fail_msg("%s: %s", path, said);
}

static rf_status ask_as(const char *user)
{
    char url[256];
    rf_client *client;
    rf_lock *lock = NULL;
    rf_status status;

    snprintf(url, sizeof(url), "etcd://%s%s", user, etcd_cluster_url(etcd) + 7);
    client = open_at(url, 10000);
    status = take(client, "who", 0, &lock);
    print_message("%s\n", rf_message(client));
    assert_null(strstr(rf_message(client), "secret"));
    if (status == RF_OK)
        assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    return status;
}

/* Last: from here on the cluster asks who one is. */
static void test_user_and_password_are_asked_for(void **state)
{
    char from[64], to[64], body[256];

    (void)state;
    rf__base64_write(from, "lock:v1:", 8);
    rf__base64_write(to, "lock:v1;", 8);
    post("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"r\"}");
    post("/v3/auth/role/add", "{\"name\":\"root\"}");
    post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    post("/v3/auth/user/add", "{\"name\":\"app\",\"password\":\"secret\"}");
    post("/v3/auth/user/add", "{\"name\":\"no\",\"password\":\"secret\"}");
    post("/v3/auth/role/add", "{\"name\":\"locks\"}");
    snprintf(body, sizeof(body),
             "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\","
             "\"key\":\"%s\",\"range_end\":\"%s\"}}",
             from, to);
    post("/v3/auth/role/grant", body);
    post("/v3/auth/user/grant", "{\"user\":\"app\",\"role\":\"locks\"}");
    post("/v3/auth/enable", "{}");
    assert_status(ask_as("app:secret@"), RF_OK);
    assert_status(ask_as("app:wrong-secret@"), RF_MISUSE);
    assert_status(ask_as("no:secret@"), RF_MISUSE);
    assert_status(ask_as(""), RF_MISUSE);
}

/* ---- What is no etcd ------------------------------------------------------------------------ */

static void test_server_that_is_no_etcd_is_told(void **state)
{
    char url[64];
    rf_client *client;
    rf_lock *lock;
    rf_status status;

    (void)state;
    snprintf(url, sizeof(url), "etcd://127.0.0.1:%d",
             redis_server_port(world.redis));
    client = open_at(url, 1000);
    status = take(client, "r", 0, &lock);
    assert_true(status == RF_RETRY || status == RF_UNKNOWN);
    assert_null(lock);
    rf_close(client);
    client = open_at("etcd://127.0.0.1:1", 1000);
    assert_status(take(client, "r", 0, &lock), RF_RETRY);
    rf_close(client);
}

static int start_all(void **state)
{
    world_start(state);
    return start(state);
}

static int stop_all(void **state)
{
    stop(state);
    return world_stop(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_outlives_the_leader),
        cmocka_unit_test(test_member_that_hangs_is_passed_over),
        cmocka_unit_test(test_minority_grants_nothing),
        cmocka_unit_test(test_who_came_first_is_served_first),
        cmocka_unit_test(test_who_gives_up_leaves_the_queue),
        cmocka_unit_test(test_base_is_added_to_every_number),
        cmocka_unit_test(test_lock_ends_before_its_lease),
        cmocka_unit_test(test_late_end_of_an_attempt_meets_no_later_lock),
        world_test(test_rebuilt_cluster_is_told_and_what_to_do),
        world_test(test_server_that_is_no_etcd_is_told),
        cmocka_unit_test(test_user_and_password_are_asked_for),
    };

    return run_group(tests, start_all, stop_all);
}
