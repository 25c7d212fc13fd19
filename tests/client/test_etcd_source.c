/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_etcd_source.c - locks from etcd, and what gets in their way
 *
 * Three members.  What every source must do stands in test_every_source.c.
 */
#include "left_out.h"
#include "rf_test.h"

#ifdef RF_ETCD

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etcd.h"
#include "etcd_cluster.h"
#include "etcd_keys.h"
#include "pg_world.h"
#include "wire.h"

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

static void post(const char *path, const char *body)
{
    const char *said = etcd_cluster_post(etcd, 0, path, body);

    if (strstr(said, "\"error\"") != NULL || *said == '\0')
        fail_msg("%s: %s", path, said);
}

/* Of a key, as the gateway writes it. */
static void read_lease(const char *name, char out[32])
{
    char key[RF__BASE64_SIZE(128)], body[256];
    const char *said;

    rf__base64_write(key, name, strlen(name));
    snprintf(body, sizeof(body), "{\"key\":\"%s\"}", key);
    said = strstr(etcd_cluster_post(etcd, 0, "/v3/kv/range", body),
                  "\"lease\":\"");
    assert_non_null(said);
    snprintf(out, 32, "%.*s", (int)strcspn(said + 9, "\""), said + 9);
}

/* As an operator would, or the end of its time: with what hangs on it. */
static void end_lease(const char *lease)
{
    char body[64];

    snprintf(body, sizeof(body), "{\"ID\":\"%s\"}", lease);
    (void)etcd_cluster_post(etcd, 0, "/v3/lease/revoke", body);
}

/* What ended the attempt before may come again, and late. */
static void test_late_end_of_an_attempt_meets_no_later_lock(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_client *client = open_etcd(10000);
    char first[32];
    rf_lock *lock;

    (void)state;
    opts.holder = "000000000000000000000000000000ab";
    assert_status(rf_acquire(client, "late", &opts, &lock), RF_OK);
    read_lease("lock:v1:late", first);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_acquire(client, "late", &opts, &lock), RF_OK);
    end_lease(first);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* ---- Requests that come late ------------------------------------------------------------- */

static rf_client *open_through(wire *line, int timeout_ms)
{
    char url[64];

    snprintf(url, sizeof(url), "etcd://127.0.0.1:%d", wire_port(line));
    return open_at(url, timeout_ms);
}

static void await_held(wire *line)
{
    int64_t begin_ms = test_now_ms();

    while (!wire_is_holding(line)) {
        assert_at_most_ms(begin_ms, 30000);
        usleep(1000);
    }
}

/* The lease of the renewal that came late is older, and ends sooner. */
static void test_renewal_that_comes_late_does_not_move_the_lock_back(
    void **state)
{
    wire *line = wire_start(etcd_cluster_port(etcd, 0));
    rf_client *client = open_through(line, 3000);
    char newer[32], after[32];
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "moved back", 0, &lock), RF_OK);
    wire_hold(line, "/v3/kv/txn");
    assert_status(rf_renew(lock, 60000), RF_UNKNOWN);
    assert_true(wire_is_holding(line));
    assert_status(rf_renew(lock, 90000), RF_OK);
    read_lease("lock:v1:moved back", newer);
    wire_let_go(line);
    read_lease("lock:v1:moved back", after);
    assert_string_equal(after, newer);
    assert_status(rf_renew(lock, 90000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    wire_stop(line);
}

typedef struct renewal {
    pthread_t thread;
    rf_lock *lock;
    rf_status status;
} renewal;

static void *renew_in_thread(void *arg)
{
    renewal *r = arg;

    r->status = rf_renew(r->lock, 60000);
    return NULL;
}

static void begin_renewal(renewal *r, wire *line)
{
    wire_hold(line, "/v3/kv/txn");
    pthread_create(&r->thread, NULL, renew_in_thread, r);
    await_held(line);
}

static rf_status end_renewal(renewal *r, wire *line)
{
    wire_let_go(line);
    pthread_join(r->thread, NULL);
    return r->status;
}

static void test_renewal_that_another_has_overtaken_is_no_loss(void **state)
{
    wire *line = wire_start(etcd_cluster_port(etcd, 0));
    rf_client *client = open_through(line, 20000), *other = open_etcd(20000);
    renewal slow = { .status = RF_OK };
    rf_lock *same;

    (void)state;
    assert_status(take(client, "overtaken", 0, &slow.lock), RF_OK);
    assert_status(rf_attach(other, "overtaken", rf_lock_fence(slow.lock),
                            rf_lock_holder(slow.lock), &same),
                  RF_OK);
    begin_renewal(&slow, line);
    assert_status(rf_renew(same, 90000), RF_OK);
    assert_status(end_renewal(&slow, line), RF_RETRY);
    assert_status(rf_renew(slow.lock, 90000), RF_OK);
    assert_status(rf_release(slow.lock), RF_OK);
    assert_status(rf_release(same), RF_LOST);
    rf_close(client);
    rf_close(other);
    wire_stop(line);
}

/* All but the one that the key has. */
static void end_leases_but(const char *kept)
{
    char *all = strdup(etcd_cluster_post(etcd, 0, "/v3/lease/leases", "{}"));

    assert_non_null(all);
    for (char *at = all; (at = strstr(at, "\"ID\":\"")) != NULL;) {
        char id[32];

        at += 6;
        snprintf(id, sizeof(id), "%.*s", (int)strcspn(at, "\""), at);
        if (strcmp(id, kept) != 0)
            end_lease(id);
    }
    free(all);
}

/* The new lease has ended before the key could go over to it. */
static void test_lease_that_ends_under_way_is_worth_another_try(void **state)
{
    wire *line = wire_start(etcd_cluster_port(etcd, 0));
    rf_client *client = open_through(line, 20000);
    renewal slow = { .status = RF_OK };
    char lease[32];

    (void)state;
    assert_status(take(client, "ended", 0, &slow.lock), RF_OK);
    read_lease("lock:v1:ended", lease);
    begin_renewal(&slow, line);
    end_leases_but(lease);
    assert_status(end_renewal(&slow, line), RF_RETRY);
    assert_status(rf_renew(slow.lock, 60000), RF_OK);
    assert_status(rf_release(slow.lock), RF_OK);
    rf_close(client);
    wire_stop(line);
}

/* ---- What an operator may do meanwhile --------------------------------------------------- */

static void test_lock_whose_lease_is_gone_is_lost(void **state)
{
    rf_client *client = open_etcd(10000);
    char lease[32];
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "gone", 0, &lock), RF_OK);
    read_lease("lock:v1:gone", lease);
    end_lease(lease);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    rf_release(lock);
    assert_status(take(client, "gone", 0, &lock), RF_OK);
    read_lease("lock:v1:gone", lease);
    end_lease(lease);
    assert_status(rf_release(lock), RF_LOST);
    rf_close(client);
}

/* A waiter's place ends when it was stopped for long: it gets another one. */
static void *wait_for_place(void *arg)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_client *client = open_etcd(10000);
    rf_lock *lock;

    opts.wait_ms = 60000;
    opts.holder = "000000000000000000000000000000cd";
    if (rf_acquire(client, "place", &opts, &lock) == RF_OK) {
        *(int *)arg = 1;
        rf_release(lock);
    }
    rf_close(client);
    return NULL;
}

static void test_waiter_whose_place_is_gone_is_served_all_the_same(void **state)
{
    static const char place[] = "lock:v1:\001qplace\001"
                                "000000000000000000000000000000cd";
    rf_client *client = open_etcd(10000);
    int served_it = 0;
    char lease[32];
    pthread_t thread;
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "place", 0, &lock), RF_OK);
    pthread_create(&thread, NULL, wait_for_place, &served_it);
    while (queued("place") == 0)
        usleep(2000);
    read_lease(place, lease);
    end_lease(lease);
    assert_status(rf_release(lock), RF_OK);
    pthread_join(thread, NULL);
    assert_true(served_it);
    assert_int_equal(queued("place"), 0);
    rf_close(client);
}

/* What is too old to be told is no reason to sleep on. */
static void test_history_that_is_gone_ends_a_watch(void **state)
{
    rf_client *client = open_etcd(10000);
    int64_t begin_ms = test_now_ms();
    rf__error error = { .text = "" };
    rf__service service;
    rf__etcd_key key;
    char body[64];
    rf__etcd *watching;
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_works(client, "compacted");
    assert_status(take(client, "compacted", 0, &lock), RF_OK);
    snprintf(body, sizeof(body), "{\"revision\":\"%lld\"}",
             (long long)rf_lock_fence(lock));
    post("/v3/kv/compaction", body);
    assert_status(rf__service_parse(etcd_cluster_url(etcd), &service, &error),
                  RF_OK);
    watching = rf__etcd_new(&service, &error);
    rf__etcd_lock_key(&key, "lock:v1:", "compacted");
    assert_status(
        rf__etcd_watch(watching, key.text, 2, -1, rf__now_ms() + 60000), RF_OK);
    assert_at_most_ms(begin_ms, 30000);
    rf__etcd_free(watching);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* ---- Numbers that are too low -------------------------------------------------------- */

/* A renewal for longer has moved the key to another lease than it began with. */
static void test_grant_too_low_is_given_back_wherever_its_key_is(void **state)
{
    rf_client *client = open_etcd(10000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock, *none;
    rf_info info;

    (void)state;
    opts.holder = "000000000000000000000000000000ef";
    assert_status(rf_acquire(client, "moved", &opts, &lock), RF_OK);
    assert_status(rf_renew(lock, 90000), RF_OK);
    opts.floor = 1000000000;
    assert_status(rf_acquire(client, "moved", &opts, &none), RF_MISUSE);
    assert_status(rf_inspect(client, "moved", &info), RF_OK);
    assert_false(info.held);
    assert_status(rf_renew(lock, 90000), RF_LOST);
    rf_release(lock);
    rf_close(client);
}

/* ---- Who may ----------------------------------------------------------------------------- */

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
        cmocka_unit_test(
            test_renewal_that_comes_late_does_not_move_the_lock_back),
        cmocka_unit_test(test_renewal_that_another_has_overtaken_is_no_loss),
        cmocka_unit_test(test_lease_that_ends_under_way_is_worth_another_try),
        world_test(test_rebuilt_cluster_is_told_and_what_to_do),
        cmocka_unit_test(test_lock_whose_lease_is_gone_is_lost),
        cmocka_unit_test(
            test_waiter_whose_place_is_gone_is_served_all_the_same),
        cmocka_unit_test(test_history_that_is_gone_ends_a_watch),
        cmocka_unit_test(test_grant_too_low_is_given_back_wherever_its_key_is),
        world_test(test_server_that_is_no_etcd_is_told),
        cmocka_unit_test(test_user_and_password_are_asked_for),
    };

    return run_group(tests, start_all, stop_all);
}

#else /* RF_ETCD */

int main(void)
{
    return run_left_out("etcd://127.0.0.1");
}

#endif
