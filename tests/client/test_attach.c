/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_attach.c - a grant that goes from one process to another
 */
#include "rf_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "pg_internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

/* A grant as it is passed on. */
typedef struct passed {
    rf_fence fence;
    char holder[RF_HOLDER_LEN + 1];
} passed;

/* Taken elsewhere: nothing of it is left here but the grant. */
static passed take(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;
    passed p;

    opts.ttl_ms = ttl_ms;
    assert_status(rf_acquire(client, resource, &opts, &lock), RF_OK);
    p.fence = rf_lock_fence(lock);
    memcpy(p.holder, rf_lock_holder(lock), sizeof(p.holder));
    assert_status(rf_detach(lock), RF_OK);
    return p;
}

static rf_lock *attach(const char *resource, const passed *p)
{
    rf_lock *lock;

    assert_status(rf_attach(client, resource, p->fence, p->holder, &lock),
                  RF_OK);
    return lock;
}

static void test_detach_leaves_the_lock_where_it_is(void **state)
{
    passed p = take("r", 30000);
    rf_info info;

    (void)state;
    assert_status(rf_inspect(client, "r", &info), RF_OK);
    assert_int_equal(info.fence, p.fence);
    assert_string_equal(info.holder, p.holder);
    assert_status(rf_detach(NULL), RF_OK);
}

static void test_detach_ends_the_keeping(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_stats stats;
    rf_lock *lock;

    (void)state;
    opts.ttl_ms = 300;
    assert_status(rf_acquire(client, "r", &opts, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    assert_status(rf_detach(lock), RF_OK);
    while (redis_server_number(server, "EXISTS " LOCK, "r") == 1)
        continue;
    rf_get_stats(client, &stats);
    for (int reason = 0; reason < RF_REASONS; reason++)
        assert_int_equal(stats.lost[reason], 0);
}

static void test_attached_lock_renews_and_releases(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock = attach("r", &p);

    (void)state;
    assert_int_equal(rf_lock_fence(lock), p.fence);
    assert_string_equal(rf_lock_holder(lock), p.holder);
    assert_string_equal(rf_lock_resource(lock), "r");
    assert_in_range(rf_lock_left_ms(lock), 20000, 29700);
    assert_status(rf_renew(lock, 60000), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 50000, 59400);
    assert_in_range(redis_server_number(server, "PTTL " LOCK, "r"), 50000,
                    60000);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_attached_lock_is_kept(void **state)
{
    passed p = take("r", 600);
    rf_keep_options keep = RF_KEEP_INIT;
    rf_lock *lock = attach("r", &p);
    int64_t begin = test_now_ms();

    (void)state;
    keep.ttl_ms = 60000;
    assert_status(rf_keep(lock, &keep), RF_OK);
    /* Due when a third of what it will have is over, but not after its end. */
    while (redis_server_number(server, "PTTL " LOCK, "r") < 50000)
        assert_at_most_ms(begin, 10000);
    assert_status(rf_release(lock), RF_OK);
}

static void test_deadline_is_what_redis_has_left(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock;

    (void)state;
    redis_server_command(server, "PEXPIRE " LOCK " 5000", "r");
    lock = attach("r", &p);
    assert_in_range(rf_lock_left_ms(lock), 1, 4948);
    rf_detach(lock);
    /* Somebody took its end away: it is ours, but nothing lasts for ever. */
    redis_server_command(server, "PERSIST " LOCK, "r");
    lock = attach("r", &p);
    assert_in_range(rf_lock_left_ms(lock), 1, RF_TTL_MAX_MS);
    assert_status(rf_release(lock), RF_OK);
}

static void test_attach_is_lost_when_it_is_not_the_holders(void **state)
{
    passed p = take("r", 30000), later;
    rf_lock *lock = NULL;

    (void)state;
    assert_status(rf_attach(client, "r", p.fence + 1, p.holder, &lock),
                  RF_LOST);
    assert_null(lock);
    assert_non_null(strstr(rf_message(client), "another"));
    assert_status(rf_attach(client, "other", p.fence, p.holder, &lock),
                  RF_LOST);
    assert_non_null(strstr(rf_message(client), "nobody"));
    redis_server_command(server, "DEL " LOCK, "r");
    later = take("r", 30000);
    assert_status(rf_attach(client, "r", p.fence, p.holder, &lock), RF_LOST);
    assert_status(rf_attach(client, "r", later.fence, p.holder, &lock),
                  RF_LOST);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 1);
}

static void test_attach_never_takes_a_lock_that_is_gone(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock;

    (void)state;
    redis_server_command(server, "DEL " LOCK, "r");
    assert_status(rf_attach(client, "r", p.fence, p.holder, &lock), RF_LOST);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    assert_int_equal(redis_server_number(server, "GET " COUNTER, "r"), p.fence);
}

static void test_attached_lock_is_never_raised(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock = attach("r", &p);

    (void)state;
    assert_status(rf_reissue(lock, 10), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "another process"));
    assert_int_equal(rf_lock_fence(lock), p.fence);
    assert_status(rf_release(lock), RF_OK);
}

static void test_attached_lock_does_not_pass_for_claimed(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock = attach("r", &p);

    (void)state;
    assert_status(rf__pg_check_lock(lock, rf__pg_error(lock)), RF_MISUSE);
    assert_status(rf_release(lock), RF_OK);
}

static void test_attach_in_another_process(void **state)
{
    passed p = take("r", 30000);
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        rf_lock *lock;

        if (rf_attach(client, "r", p.fence, p.holder, &lock) != RF_OK)
            _exit(1);
        _exit(rf_release(lock) == RF_OK ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
}

static void test_attach_refuses_what_is_no_grant(void **state)
{
    passed p = take("r", 30000);
    rf_lock *lock;

    (void)state;
    assert_status(rf_attach(NULL, "r", 1, p.holder, &lock), RF_MISUSE);
    assert_null(lock);
    assert_status(rf_attach(client, "", 1, p.holder, &lock), RF_MISUSE);
    assert_status(rf_attach(client, NULL, 1, p.holder, &lock), RF_MISUSE);
    assert_status(rf_attach(client, "r", 0, p.holder, &lock), RF_MISUSE);
    assert_status(rf_attach(client, "r", RF_FENCE_MAX + 1, p.holder, &lock),
                  RF_MISUSE);
    assert_status(rf_attach(client, "r", 1, NULL, &lock), RF_MISUSE);
    assert_status(rf_attach(client, "r", 1, "short", &lock), RF_MISUSE);
}

static void test_attach_without_redis_is_retry(void **state)
{
    rf_client *lonely;
    rf_lock *lock;
    char holder[RF_HOLDER_LEN + 1];

    (void)state;
    assert_status(rf_holder_new(holder), RF_OK);
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &lonely), RF_OK);
    assert_status(rf_attach(lonely, "r", 1, holder, &lock), RF_RETRY);
    assert_null(lock);
    rf_close(lonely);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_detach_leaves_the_lock_where_it_is),
        CASE(test_detach_ends_the_keeping),
        CASE(test_attached_lock_renews_and_releases),
        CASE(test_attached_lock_is_kept),
        CASE(test_deadline_is_what_redis_has_left),
        CASE(test_attach_is_lost_when_it_is_not_the_holders),
        CASE(test_attach_never_takes_a_lock_that_is_gone),
        CASE(test_attached_lock_is_never_raised),
        CASE(test_attached_lock_does_not_pass_for_claimed),
        CASE(test_attach_in_another_process),
        CASE(test_attach_refuses_what_is_no_grant),
        CASE(test_attach_without_redis_is_retry),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
