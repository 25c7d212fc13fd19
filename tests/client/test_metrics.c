/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_metrics.c - what a client tells of itself
 */
#include "rf_test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open_far(3000);
}

static void test_every_call_is_counted_under_its_outcome(void **state)
{
    rf_lock *lock, *other;
    rf_stats s;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_status(rf_acquire(client, "r", NULL, &other), RF_BUSY);
    assert_status(rf_acquire(client, "r", NULL, &other), RF_BUSY);
    assert_status(rf_acquire(client, "", NULL, &other), RF_MISUSE);
    assert_status(rf_renew(lock, 1000), RF_OK);
    assert_status(rf_renew(lock, 0), RF_MISUSE);
    assert_status(rf_reissue(lock, 5), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_get_stats(client, &s);
    assert_int_equal(s.calls[RF_CALL_ACQUIRE][RF_OK], 1);
    assert_int_equal(s.calls[RF_CALL_ACQUIRE][RF_BUSY], 2);
    assert_int_equal(s.calls[RF_CALL_ACQUIRE][RF_MISUSE], 1);
    assert_int_equal(s.calls[RF_CALL_RENEW][RF_OK], 1);
    assert_int_equal(s.calls[RF_CALL_RENEW][RF_MISUSE], 1);
    assert_int_equal(s.calls[RF_CALL_REISSUE][RF_OK], 1);
    assert_int_equal(s.calls[RF_CALL_RELEASE][RF_OK], 1);
    assert_int_equal(s.timing[RF_TIME_ACQUIRE].count, 3);
    assert_int_equal(s.timing[RF_TIME_RENEW].count, 2);
    assert_int_equal(s.timing[RF_TIME_WAIT].count, 0);
}

static void test_times_fall_into_their_bucket(void **state)
{
    rf_stats s;
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "a", NULL, &lock), RF_OK);
    rf_release(lock);
    proxy_set_delay(fault, 0, 1, 120);
    assert_status(rf_acquire(client, "b", NULL, &lock), RF_OK);
    rf_release(lock);
    rf_get_stats(client, &s);
    assert_int_equal(s.timing[RF_TIME_ACQUIRE].count, 2);
    /* Up to 200 ms, or on a slow day 500. */
    assert_int_equal(s.timing[RF_TIME_ACQUIRE].bucket[10] +
                         s.timing[RF_TIME_ACQUIRE].bucket[11],
                     1);
    assert_in_range(s.timing[RF_TIME_ACQUIRE].sum_us, 120000, 2000000);
}

static void test_wait_for_a_grant_is_timed(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *dead, *lock;
    rf_stats s;

    (void)state;
    opts.ttl_ms = 100;
    assert_status(rf_acquire(client, "r", &opts, &dead), RF_OK);
    opts.wait_ms = 10000;
    opts.ttl_ms = 30000;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    rf_get_stats(client, &s);
    assert_int_equal(s.timing[RF_TIME_WAIT].count, 1);
    assert_in_range(s.timing[RF_TIME_WAIT].sum_us, 90000, 5000000);
    rf_release(dead);
    rf_release(lock);
}

static void test_keeper_s_renewals_and_losses_are_counted(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    int64_t since = test_now_ms();
    rf_lock *lock;
    rf_stats s;

    (void)state;
    opts.ttl_ms = 900;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    do {
        usleep(2000); /* valgrind runs one thread, and may not let go of us */
        rf_get_stats(client, &s);
        assert_at_most_ms(since, 10000);
    } while (s.calls[RF_CALL_RENEW][RF_OK] < 3);
    redis_server_command(server, "FLUSHALL");
    do {
        usleep(2000);
        rf_get_stats(client, &s);
        assert_at_most_ms(since, 10000);
    } while (s.lost[RF_LOST_EXPIRED] == 0);
    assert_int_equal(s.lost[RF_LOST_EXPIRED], 1);
    assert_int_equal(s.lost[RF_LOST_TAKEN], 0);
    assert_status(rf_release(lock), RF_LOST);
}

typedef struct diary {
    atomic_int events;
    rf_event last;
    char resource[RF_RESOURCE_MAX + 1];
    rf_fence fence_of_lock;
} diary;

static void write_down(const rf_event *event, void *arg)
{
    diary *d = arg;

    d->last = *event;
    memcpy(d->resource, event->resource, strlen(event->resource) + 1);
    d->events++;
}

static void test_hook_is_told_of_each_call_once_it_is_settled(void **state)
{
    diary d = { 0 };
    rf_lock *lock, *other;

    (void)state;
    rf_set_hook(client, write_down, &d);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_int_equal(d.events, 1);
    assert_int_equal(d.last.call, RF_CALL_ACQUIRE);
    assert_status(d.last.status, RF_OK);
    assert_int_equal(d.last.fence, 1);
    assert_string_equal(d.resource, "r");
    assert_in_range(d.last.us, 1, 10000000);
    assert_status(rf_acquire(client, "r", NULL, &other), RF_BUSY);
    assert_status(d.last.status, RF_BUSY);
    assert_int_equal(d.last.fence, 0);
    assert_status(rf_acquire(client, "a\nb", NULL, &other), RF_MISUSE);
    assert_string_equal(d.resource, "");
    assert_status(rf_acquire(client, NULL, NULL, &other), RF_MISUSE);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(d.last.call, RF_CALL_RELEASE);
    assert_int_equal(d.events, 5);
    rf_set_hook(client, NULL, NULL);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    rf_release(lock);
    assert_int_equal(d.events, 5);
}

static void test_text_is_what_prometheus_reads(void **state)
{
    rf_lock *lock;
    char text[16384], cut[50];
    size_t len;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    len = rf_stats_text(client, text, sizeof(text));
    assert_int_equal(len, strlen(text));
    assert_non_null(strstr(
        text, "ringfence_calls_total{call=\"acquire\",outcome=\"RF_OK\"} 1\n"));
    assert_non_null(strstr(
        text, "ringfence_seconds_bucket{step=\"acquire\",le=\"+Inf\"} 1\n"));
    assert_non_null(strstr(text, "ringfence_lost_total{reason=\"taken\"} 0\n"));
    assert_non_null(strstr(text, "# TYPE ringfence_seconds histogram\n"));
    /* Cut to what fits, and the whole length is told. */
    assert_int_equal(rf_stats_text(client, cut, sizeof(cut)), len);
    assert_int_equal(strlen(cut), sizeof(cut) - 1);
    assert_int_equal(strncmp(cut, text, sizeof(cut) - 1), 0);
    assert_int_equal(rf_stats_text(client, NULL, 0), len);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_every_call_is_counted_under_its_outcome),
        CASE(test_times_fall_into_their_bucket),
        CASE(test_wait_for_a_grant_is_timed),
        CASE(test_keeper_s_renewals_and_losses_are_counted),
        CASE(test_hook_is_told_of_each_call_once_it_is_settled),
        CASE(test_text_is_what_prometheus_reads),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
