/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_admin.c - for people: who has what, and taking it away
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

static rf_lock *acquire(const char *resource)
{
    rf_lock *lock;

    assert_status(rf_acquire(client, resource, NULL, &lock), RF_OK);
    return lock;
}

/* ---- Force ------------------------------------------------------------------- */

static void test_force_release_takes_the_lock_away(void **state)
{
    rf_lock *lock = acquire("r"), *next;

    (void)state;
    assert_status(rf_force_release(client, "r", 1, "host is gone"), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    next = acquire("r");
    assert_int_equal(rf_lock_fence(next), 2);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(next), RF_OK);
}

static void test_force_release_never_hits_another_holder(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_force_release(client, "r", 1, "why"), RF_LOST);
    assert_non_null(strstr(rf_message(client), "nobody"));
    rf_release(acquire("r"));
    lock = acquire("r");
    assert_status(rf_force_release(client, "r", 1, "why"), RF_LOST);
    assert_non_null(strstr(rf_message(client), "another fence"));
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_status(rf_release(lock), RF_OK);
}

static void test_force_release_demands_fence_and_reason(void **state)
{
    static const char *const bad[] = { NULL, "", "two\nlines", "\xff" };
    char long_one[300];
    rf_lock *lock = acquire("r");

    (void)state;
    memset(long_one, 'x', sizeof(long_one));
    long_one[256] = '\0';
    assert_status(rf_force_release(client, "r", 0, "why"), RF_MISUSE);
    assert_status(rf_force_release(client, "r", -1, "why"), RF_MISUSE);
    assert_status(rf_force_release(client, "r", RF_FENCE_MAX + 1, "why"),
                  RF_MISUSE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_status(rf_force_release(client, "r", 1, bad[i]), RF_MISUSE);
    assert_status(rf_force_release(client, "r", 1, long_one), RF_MISUSE);
    assert_status(rf_force_release(client, "", 1, "why"), RF_MISUSE);
    assert_status(rf_force_release(NULL, "r", 1, "why"), RF_MISUSE);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reason_stands_in_the_log_of_redis(void **state)
{
    char path[128], line[512];
    FILE *log;
    int found = 0;

    (void)state;
    rf_lock *lock = acquire("r");

    assert_status(rf_force_release(client, "r", 1, "host db7 is gone"), RF_OK);
    snprintf(path, sizeof(path), "%s/redis.log", redis_server_folder(server));
    log = fopen(path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof(line), log) != NULL)
        found += strstr(line, "host db7 is gone") != NULL;
    fclose(log);
    assert_int_equal(found, 1);
    rf_release(lock);
}

/* ---- List -------------------------------------------------------------------- */

typedef struct seen {
    int count, foreign;
    int64_t sum;
    int stop_after;
    char last[RF_RESOURCE_MAX + 1];
} seen;

static int note(const char *resource, const rf_info *info, void *arg)
{
    seen *s = arg;

    s->count++;
    s->sum += info->fence;
    s->foreign += info->fence == 0;
    memcpy(s->last, resource, strlen(resource) + 1);
    assert_int_equal(info->held, 1);
    return s->count == s->stop_after;
}

static void test_list_shows_every_held_lock_and_nothing_else(void **state)
{
    static rf_lock *locks[700];
    char name[32];
    seen s = { 0 };

    (void)state;
    redis_server_command(server, "SET other 1");
    redis_server_command(server, "SET {lock:v1:} 1");
    redis_server_command(server, "SET {lock:v1:a\nb} 1");
    redis_server_command(server, "SET {lock:v2:x} 1");
    assert_status(rf_list(client, note, &s), RF_OK);
    assert_int_equal(s.count, 0);
    for (int i = 0; i < 700; i++) {
        snprintf(name, sizeof(name), "item:%d", i);
        locks[i] = acquire(name);
    }
    rf_release(acquire("free again"));
    redis_server_command(server, "SET " LOCK " token", "foreign");
    assert_status(rf_list(client, note, &s), RF_OK);
    assert_in_range(s.count, 701, 720);
    assert_in_range(s.sum, 700, 720);
    assert_in_range(s.foreign, 1, 2);
    for (int i = 0; i < 700; i++)
        assert_status(rf_release(locks[i]), RF_OK);
}

static void test_list_stops_when_told_to(void **state)
{
    rf_lock *locks[3] = { acquire("a"), acquire("b"), acquire("c") };
    seen s = { .stop_after = 2 };

    (void)state;
    assert_status(rf_list(client, note, &s), RF_OK);
    assert_int_equal(s.count, 2);
    assert_status(rf_release_all(locks, 3), RF_OK);
}

static void test_prefix_is_taken_literally(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *star, *plain;
    rf_lock *a, *b;
    seen s = { 0 };

    (void)state;
    opts.prefix = "p*[x]?\\:";
    assert_status(rf_open(redis_server_url(server), &opts, &star), RF_OK);
    opts.prefix = "pzz:";
    assert_status(rf_open(redis_server_url(server), &opts, &plain), RF_OK);
    assert_status(rf_acquire(star, "mine", NULL, &a), RF_OK);
    assert_status(rf_acquire(plain, "theirs", NULL, &b), RF_OK);
    assert_status(rf_list(star, note, &s), RF_OK);
    assert_int_equal(s.count, 1);
    assert_string_equal(s.last, "mine");
    rf_release(a);
    rf_release(b);
    rf_close(star);
    rf_close(plain);
}

static void test_list_without_redis_is_retry(void **state)
{
    rf_client *lonely;
    seen s = { 0 };

    (void)state;
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &lonely), RF_OK);
    assert_status(rf_list(lonely, note, &s), RF_RETRY);
    assert_status(rf_list(NULL, note, &s), RF_MISUSE);
    rf_close(lonely);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_force_release_takes_the_lock_away),
        CASE(test_force_release_never_hits_another_holder),
        CASE(test_force_release_demands_fence_and_reason),
        CASE(test_reason_stands_in_the_log_of_redis),
        CASE(test_list_shows_every_held_lock_and_nothing_else),
        CASE(test_list_stops_when_told_to),
        CASE(test_prefix_is_taken_literally),
        CASE(test_list_without_redis_is_retry),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
