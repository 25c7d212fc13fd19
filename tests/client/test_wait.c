/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_wait.c - getting a lock that another has
 */
#include "rf_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "internal.h"
#include "redis_world.h"

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

static rf_status acquire(rf_client *on, const char *resource, int64_t ttl_ms,
                         int64_t wait_ms, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.ttl_ms = ttl_ms;
    opts.wait_ms = wait_ms;
    return rf_acquire(on, resource, &opts, out);
}

/* Somebody else, in a thread of its own, with a client of its own. */
typedef struct person {
    pthread_t thread;
    const char *resource;
    int64_t ttl_ms, wait_ms, hold_ms;
    int rounds;
    int64_t got_ms; /* when */
    rf_fence fence;
    rf_status status;
    rf_client *client; /* NULL: one of its own */
} person;

static void *live(void *arg)
{
    person *p = arg;
    rf_client *own = p->client;

    if (own == NULL && rf_open(redis_server_url(server), NULL, &own) != RF_OK)
        return NULL;
    for (int i = 0; i < p->rounds; i++) {
        rf_lock *lock;

        p->status = acquire(own, p->resource, p->ttl_ms, p->wait_ms, &lock);
        if (p->status != RF_OK)
            break;
        p->got_ms = test_now_ms();
        p->fence = rf_lock_fence(lock);
        rf__sleep_until_ms(rf__now_ms() + p->hold_ms);
        rf_release(lock);
    }
    if (p->client == NULL)
        rf_close(own);
    return NULL;
}

static void begin(person *p)
{
    if (p->resource == NULL)
        p->resource = "r";
    if (p->ttl_ms == 0)
        p->ttl_ms = 30000;
    if (p->rounds == 0)
        p->rounds = 1;
    assert_int_equal(pthread_create(&p->thread, NULL, live, p), 0);
}

static void end(person *p)
{
    pthread_join(p->thread, NULL);
}

static void until_blocked(int waiters)
{
    int64_t since = test_now_ms();
    char wanted[32];

    snprintf(wanted, sizeof(wanted), "blocked_clients:%d\r", waiters);
    while (strstr(redis_server_command(server, "INFO clients"), wanted) == NULL)
        assert_at_most_ms(since, 10000);
}

static long long calls_of(const char *command)
{
    char head[64];
    const char *found;
    long long calls = 0;

    snprintf(head, sizeof(head), "cmdstat_%s:calls=", command);
    found = strstr(redis_server_command(server, "INFO commandstats"), head);
    if (found != NULL)
        sscanf(found + strlen(head), "%lld", &calls);
    return calls;
}

static void test_release_wakes_the_waiter_at_once(void **state)
{
    person waiter = { .wait_ms = 20000 };
    rf_lock *lock;
    int64_t released;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    begin(&waiter);
    until_blocked(1);
    released = test_now_ms();
    assert_status(rf_release(lock), RF_OK);
    end(&waiter);
    assert_status(waiter.status, RF_OK);
    assert_int_equal(waiter.fence, 2);
    assert_in_range(waiter.got_ms - released, 0, 400);
}

static void test_wait_that_is_over_is_a_timeout(void **state)
{
    rf_lock *lock, *other = (rf_lock *)&other;
    rf_client *second;
    int64_t since;

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &second), RF_OK);
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    since = test_now_ms();
    assert_status(acquire(second, "r", 30000, 300, &other), RF_TIMEOUT);
    assert_null(other);
    assert_at_least_ms(since, 295);
    assert_at_most_ms(since, 2000);
    assert_in_range(rf_busy_ms(second), 20000, 30000);
    assert_int_equal(calls_of("incr"), 1);
    rf_release(lock);
    rf_close(second);
}

static void test_holder_that_died_is_waited_for_no_longer_than_its_ttl(
    void **state)
{
    rf_lock *dead, *lock;
    rf_client *second;
    int64_t since = test_now_ms();

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &second), RF_OK);
    assert_status(acquire(client, "r", 400, 0, &dead), RF_OK);
    assert_status(acquire(second, "r", 30000, 20000, &lock), RF_OK);
    assert_at_least_ms(since, 395);
    assert_at_most_ms(since, 2000);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_status(rf_release(dead), RF_LOST);
    rf_release(lock);
    rf_close(second);
}

static void *delete_later(void *arg)
{
    (void)arg;
    rf__sleep_until_ms(rf__now_ms() + 200);
    redis_server_command(server, "DEL " LOCK, "r");
    return NULL;
}

/* The time to live says when a dead holder ends, not when a living one does. */
static void test_holder_that_keeps_its_lock_is_waited_for_beyond_its_ttl(
    void **state)
{
    person waiter = { .wait_ms = 20000 };
    int64_t since = test_now_ms();
    rf_lock *lock;

    (void)state;
    assert_status(acquire(client, "r", 300, 0, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    begin(&waiter);
    while (test_now_ms() - since < 1000) {
        assert_true(rf_lock_fence(lock) == 1);
        usleep(2000);
    }
    assert_status(rf_release(lock), RF_OK);
    end(&waiter);
    assert_status(waiter.status, RF_OK);
    assert_true(waiter.fence == 2);
}

static void test_foreign_lock_is_polled_because_nobody_wakes_us(void **state)
{
    pthread_t thread;
    rf_lock *lock;
    int64_t since = test_now_ms();

    (void)state;
    redis_server_command(server, "SET " LOCK " token", "r");
    pthread_create(&thread, NULL, delete_later, NULL);
    assert_status(acquire(client, "r", 30000, 20000, &lock), RF_OK);
    pthread_join(thread, NULL);
    assert_at_most_ms(since, 2000);
    assert_int_equal(calls_of("blpop"), 0);
    rf_release(lock);
}

static void test_woken_waiter_that_died_costs_a_moment_only(void **state)
{
    person second = { .wait_ms = 20000 };
    rf_lock *lock;
    int64_t since;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    begin(&second);
    until_blocked(1);
    /* As if one that waited longer had been woken and had died then. */
    redis_server_command(server, "SET " LOCK " wake:1 PX 300", "r");
    since = test_now_ms();
    redis_server_command(server, "RPUSH {lock:v1:r}:wake 7");
    end(&second);
    assert_status(second.status, RF_OK);
    assert_at_most_ms(since, 5000);
    rf_release(lock);
}

static void on_alarm(int number)
{
    (void)number;
}

static void test_signals_neither_end_nor_stretch_a_wait(void **state)
{
    struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
    struct itimerval off = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm };
    rf_lock *lock, *other;
    int64_t since;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    since = test_now_ms();
    assert_status(acquire(client, "r", 30000, 300, &other), RF_TIMEOUT);
    setitimer(ITIMER_REAL, &off, NULL);
    assert_at_least_ms(since, 295);
    assert_at_most_ms(since, 2000);
    rf_release(lock);
}

static void test_redis_that_restarts_is_waited_for(void **state)
{
    person waiter = { .wait_ms = 20000 };
    rf_lock *lock;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    begin(&waiter);
    until_blocked(1);
    redis_server_kill(server);
    rf__sleep_until_ms(rf__now_ms() + 200);
    redis_server_restart(server);
    end(&waiter);
    assert_status(waiter.status, RF_OK);
    /* It forgot the lock and its fence: the database will notice. */
    assert_int_equal(waiter.fence, 1);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_redis_that_stays_away_is_retry_and_not_timeout(void **state)
{
    rf_client *lonely;
    rf_lock *lock;
    int64_t since = test_now_ms();

    (void)state;
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &lonely), RF_OK);
    assert_status(acquire(lonely, "r", 30000, 300, &lock), RF_RETRY);
    assert_at_least_ms(since, 295);
    assert_at_most_ms(since, 2000);
    rf_close(lonely);
}

static void test_lost_answer_during_a_wait_is_asked_for_again(void **state)
{
    proxy *fault = proxy_start(redis_server_socket(server));
    rf_client *far;
    rf_lock *lock;

    (void)state;
    assert_status(rf_open(proxy_url(fault), NULL, &far), RF_OK);
    assert_status(acquire(far, "r", 30000, 0, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 5);
    assert_status(acquire(far, "r", 30000, 20000, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_int_equal(calls_of("incr"), 2);
    assert_status(rf_release(lock), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 100000);
    assert_status(acquire(far, "r", 30000, 300, &lock), RF_UNKNOWN);
    rf_close(far);
    proxy_stop(fault);
}

/* The second request is the one that sleeps in Redis. */
static void test_sleep_that_redis_never_answers_ends_with_the_wait(void **state)
{
    proxy *fault = proxy_start(redis_server_socket(server));
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *far;
    rf_lock *held, *lock;
    int64_t since;

    (void)state;
    opts.timeout_ms = 200;
    assert_status(rf_open(proxy_url(fault), &opts, &far), RF_OK);
    assert_status(acquire(client, "r", 30000, 0, &held), RF_OK);
    since = test_now_ms();
    proxy_set(fault, PROXY_MUTE, 1, 1);
    assert_status(acquire(far, "r", 30000, 1000, &lock), RF_TIMEOUT);
    assert_at_least_ms(since, 990);
    assert_at_most_ms(since, 5000);
    assert_status(rf_release(held), RF_OK);
    assert_status(acquire(far, "r", 30000, 1000, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(far);
    proxy_stop(fault);
}

static void *cancel_later(void *arg)
{
    rf__sleep_until_ms(rf__now_ms() + 150);
    rf_cancel(arg);
    return NULL;
}

static void cancels_after_150_ms(rf_client *on, const char *resource)
{
    int64_t since = test_now_ms();
    pthread_t thread;
    rf_lock *lock;

    pthread_create(&thread, NULL, cancel_later, on);
    assert_status(acquire(on, resource, 30000, 20000, &lock), RF_TIMEOUT);
    pthread_join(thread, NULL);
    assert_at_least_ms(since, 140);
    assert_at_most_ms(since, 1500);
    assert_non_null(strstr(rf_message(on), "cancelled"));
}

static void test_cancel_from_another_thread_ends_a_wait(void **state)
{
    rf_lock *lock, *other;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    cancels_after_150_ms(client, "r");
    /* Once: the next wait lasts. */
    assert_status(acquire(client, "r", 30000, 100, &other), RF_TIMEOUT);
    assert_status(rf_release(lock), RF_OK);
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

static void test_cancel_ends_polling_too(void **state)
{
    (void)state;
    redis_server_command(server, "SET " LOCK " token", "r");
    cancels_after_150_ms(client, "r");
}

static void test_cancel_ends_a_wait_for_a_redis_that_is_away(void **state)
{
    rf_client *lonely;

    (void)state;
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &lonely), RF_OK);
    cancels_after_150_ms(lonely, "r");
    rf_close(lonely);
}

static void test_cancel_before_the_wait_counts_for_the_next_one(void **state)
{
    rf_lock *lock, *other;
    int64_t since = test_now_ms();

    (void)state;
    rf_cancel(client);
    rf_cancel(client);
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    assert_status(acquire(client, "r", 30000, 20000, &other), RF_TIMEOUT);
    assert_at_most_ms(since, 1500);
    assert_status(acquire(client, "r", 30000, 100, &other), RF_TIMEOUT);
    assert_at_least_ms(since, 100);
    assert_status(rf_release(lock), RF_OK);
}

static rf_client *to_cancel;

static void cancel_on_alarm(int number)
{
    (void)number;
    rf_cancel(to_cancel);
}

static void test_cancel_from_a_signal_handler(void **state)
{
    struct itimerval once = { { 0, 0 }, { 0, 150000 } };
    struct sigaction action = { .sa_handler = cancel_on_alarm };
    int64_t since = test_now_ms();
    rf_lock *lock, *other;

    (void)state;
    to_cancel = client;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    assert_status(acquire(client, "r", 30000, 20000, &other), RF_TIMEOUT);
    assert_at_most_ms(since, 1500);
    assert_status(rf_release(lock), RF_OK);
}

/*
 * Two wait, and the first is cancelled in about the moment in which it is woken:
 * the turn must then be the second one's, and at once.
 */
static void test_cancel_at_the_moment_of_waking_passes_the_turn_on(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        person first = { .wait_ms = 20000 }, second = { .wait_ms = 20000 };
        rf_client *own;
        rf_lock *lock;
        int64_t released;

        assert_status(rf_open(redis_server_url(server), NULL, &own), RF_OK);
        first.client = own;
        assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
        begin(&first);
        until_blocked(1);
        begin(&second);
        until_blocked(2);
        released = test_now_ms();
        if (i % 2)
            rf_cancel(own);
        assert_status(rf_release(lock), RF_OK);
        if (i % 2 == 0)
            rf_cancel(own);
        end(&second);
        end(&first);
        assert_status(second.status, RF_OK);
        assert_in_range(second.got_ms - released, 0, 400);
        rf_close(own);
    }
}

#define CROWD 12

static void test_longest_waiter_comes_first(void **state)
{
    person crowd[CROWD] = { { 0 } };
    rf_lock *lock;

    (void)state;
    assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
    for (int i = 0; i < CROWD; i++) {
        crowd[i].wait_ms = 30000;
        begin(&crowd[i]);
        until_blocked(i + 1);
    }
    assert_status(rf_release(lock), RF_OK);
    for (int i = 0; i < CROWD; i++) {
        end(&crowd[i]);
        assert_status(crowd[i].status, RF_OK);
        assert_int_equal(crowd[i].fence, i + 2);
    }
}

static void test_who_gives_back_and_asks_again_has_to_queue(void **state)
{
    person waiter = { .wait_ms = 20000, .hold_ms = 20 };
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_status(acquire(client, "r", 30000, 0, &lock), RF_OK);
        begin(&waiter);
        until_blocked(1);
        assert_status(rf_release(lock), RF_OK);
        assert_status(acquire(client, "r", 30000, 20000, &lock), RF_OK);
        end(&waiter);
        assert_status(waiter.status, RF_OK);
        assert_true(waiter.fence < rf_lock_fence(lock));
        assert_status(rf_release(lock), RF_OK);
    }
}

static void test_hand_over_takes_four_commands_and_starves_nobody(void **state)
{
    person crowd[CROWD] = { { 0 } };
    long long calls, grants;

    (void)state;
    for (int i = 0; i < CROWD; i++) {
        crowd[i].wait_ms = 60000;
        crowd[i].rounds = 30;
        begin(&crowd[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        end(&crowd[i]);
        assert_status(crowd[i].status, RF_OK);
    }
    grants = CROWD * 30;
    assert_int_equal(calls_of("incr"), grants);
    calls = calls_of("evalsha") + calls_of("eval") + calls_of("blpop");
    assert_in_range(calls, 2 * grants, 4 * grants + CROWD);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_release_wakes_the_waiter_at_once),
        CASE(test_wait_that_is_over_is_a_timeout),
        CASE(test_holder_that_died_is_waited_for_no_longer_than_its_ttl),
        CASE(test_holder_that_keeps_its_lock_is_waited_for_beyond_its_ttl),
        CASE(test_foreign_lock_is_polled_because_nobody_wakes_us),
        CASE(test_woken_waiter_that_died_costs_a_moment_only),
        CASE(test_signals_neither_end_nor_stretch_a_wait),
        CASE(test_redis_that_restarts_is_waited_for),
        CASE(test_redis_that_stays_away_is_retry_and_not_timeout),
        CASE(test_lost_answer_during_a_wait_is_asked_for_again),
        CASE(test_sleep_that_redis_never_answers_ends_with_the_wait),
        CASE(test_cancel_from_another_thread_ends_a_wait),
        CASE(test_cancel_ends_polling_too),
        CASE(test_cancel_ends_a_wait_for_a_redis_that_is_away),
        CASE(test_cancel_before_the_wait_counts_for_the_next_one),
        CASE(test_cancel_from_a_signal_handler),
        CASE(test_cancel_at_the_moment_of_waking_passes_the_turn_on),
        CASE(test_longest_waiter_comes_first),
        CASE(test_who_gives_back_and_asks_again_has_to_queue),
        CASE(test_hand_over_takes_four_commands_and_starves_nobody),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
