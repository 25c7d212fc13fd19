/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_many.c - several locks at once: all or none
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "redis_world.h"

static const char *const abc[] = { "a", "b", "c" };

static int open_client(void **state)
{
    (void)state;
    return redis_world_open_far(2000);
}

static rf_status take(rf_client *on, const char *const *names, size_t n,
                      int64_t wait_ms, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status;

    opts.wait_ms = wait_ms;
    status = rf_acquire_all(on, names, n, &opts, out);
    for (size_t i = 0; i < n; i++)
        assert_true((out[i] != NULL) == (status == RF_OK));
    return status;
}

static int exists(const char *name)
{
    return (int)redis_server_number(server, "EXISTS " LOCK, name);
}

static void set_counter(const char *name, const char *value)
{
    redis_server_command(server, "SET " COUNTER " %s", name, value);
}

static void test_each_has_a_fence_of_its_own_and_one_holder(void **state)
{
    rf_lock *locks[3];

    (void)state;
    set_counter("b", "41");
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_int_equal(rf_lock_fence(locks[0]), 1);
    assert_int_equal(rf_lock_fence(locks[1]), 42);
    assert_int_equal(rf_lock_fence(locks[2]), 1);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(rf_lock_resource(locks[i]), abc[i]);
        assert_string_equal(rf_lock_holder(locks[i]), rf_lock_holder(locks[0]));
        assert_int_equal(exists(abc[i]), 1);
    }
    assert_status(rf_release_all(locks, 3), RF_OK);
    for (int i = 0; i < 3; i++) {
        assert_null(locks[i]);
        assert_int_equal(exists(abc[i]), 0);
    }
}

static void test_one_that_is_held_leaves_all_others_untouched(void **state)
{
    rf_lock *held, *locks[3];

    (void)state;
    assert_status(rf_acquire(client, "c", NULL, &held), RF_OK);
    assert_status(take(client, abc, 3, 0, locks), RF_BUSY);
    assert_non_null(strstr(rf_message(client), "another: c"));
    assert_in_range(rf_busy_ms(client), 20000, 30000);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 2);
    assert_status(rf_release(held), RF_OK);
}

static void test_one_bad_counter_leaves_all_untouched(void **state)
{
    rf_lock *locks[3];

    (void)state;
    set_counter("c", "abc");
    assert_status(take(client, abc, 3, 0, locks), RF_MISUSE);
    redis_server_command(server, "SET " COUNTER " 5 PX 60000", "c");
    assert_status(take(client, abc, 3, 0, locks), RF_MISUSE);
    set_counter("c", "9007199254740991");
    assert_status(take(client, abc, 3, 0, locks), RF_MISUSE);
    redis_server_command(server, "DEL " COUNTER, "c");
    redis_server_command(server, "HSET " LOCK " x y", "c");
    assert_status(take(client, abc, 3, 0, locks), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 1);
}

static void test_floor_counts_for_each(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *locks[3];

    (void)state;
    set_counter("b", "500");
    opts.floor = 100;
    assert_status(rf_acquire_all(client, abc, 3, &opts, locks), RF_OK);
    assert_int_equal(rf_lock_fence(locks[0]), 101);
    assert_int_equal(rf_lock_fence(locks[1]), 501);
    assert_int_equal(rf_lock_fence(locks[2]), 101);
    assert_status(rf_release_all(locks, 3), RF_OK);
}

static void test_lost_reply_yields_the_same_fences(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rf_lock_fence(locks[i]), 2);
        assert_string_equal(
            redis_server_command(server, "GET " COUNTER, abc[i]), "2");
    }
    assert_status(rf_release_all(locks, 3), RF_OK);
}

static void test_release_whose_reply_is_lost_still_gives_back(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    for (int cut = 0; cut < 3; cut++) {
        assert_status(take(client, abc, 3, 0, locks), RF_OK);
        proxy_set(fault, cut % 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE, cut, 1);
        assert_true(rf_release_all(locks, 3) != RF_MISUSE);
        for (int i = 0; i < 3; i++)
            assert_int_equal(exists(abc[i]), 0);
    }
}

static void test_release_of_some_that_are_lost_gives_back_the_rest(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    redis_server_command(server, "DEL " LOCK, "b");
    assert_status(rf_release_all(locks, 3), RF_LOST);
    assert_int_equal(exists("a") + exists("b") + exists("c"), 0);
    assert_status(rf_release_all(locks, 3), RF_OK); /* all NULL */
}

/* A lock that Redis would not give back is still there. */
static void test_release_that_is_refused_is_worse_than_one_too_late(
    void **state)
{
    rf_lock *locks[2];

    (void)state;
    assert_status(take(client, abc, 2, 0, locks), RF_OK);
    redis_server_command(server, "DEL " LOCK, "b");
    assert_status(rf_renew(locks[1], 30000), RF_LOST);
    redis_server_command(server, "CONFIG SET min-replicas-to-write 1");
    assert_status(rf_release_all(locks, 2), RF_REFUSED);
    redis_server_command(server, "CONFIG SET min-replicas-to-write 0");
    assert_int_equal(exists("a"), 1);
}

/* ---- In one round trip ------------------------------------------------------- */

#define MANY 40

/* How often Redis has found something to read: once for each pipeline. */
static long long reads(void)
{
    static const char name[] = "total_reads_processed:";
    const char *text = redis_server_command(server, "INFO stats");
    const char *found = strstr(text, name);

    return found != NULL ? strtoll(found + sizeof(name) - 1, NULL, 10) : 0;
}

/* So many round trips since then; two that count them go with it. */
static void assert_round_trips(long long before, int most)
{
    assert_in_range(reads() - before, 2, most + 1);
}

static void take_many(rf_client *on, int from, rf_lock **locks)
{
    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof(name), "many%d", from + i);
        assert_status(rf_acquire(on, name, NULL, &locks[i]), RF_OK);
    }
}

/* Straight to the server: the proxy would cut a pipeline into its requests. */
static rf_client *open_near(void)
{
    rf_client *near;

    assert_status(rf_open(redis_server_url(server), NULL, &near), RF_OK);
    return near;
}

static void test_many_are_renewed_and_given_back_in_one_round_trip(void **state)
{
    rf_client *near = open_near();
    rf_lock *locks[MANY];
    long long before;

    (void)state;
    /* At first the scripts are not known: once by name, once by text. */
    for (int known = 0; known < 2; known++) {
        take_many(near, 0, locks);
        if (!known)
            redis_server_command(server, "SCRIPT FLUSH");
        before = reads();
        assert_status(rf_renew_all(locks, MANY, 60000), RF_OK);
        assert_round_trips(before, known ? 1 : 2);
        before = reads();
        assert_status(rf_release_all(locks, MANY), RF_OK);
        assert_round_trips(before, known ? 1 : 2);
        assert_int_equal(redis_server_number(server, "DBSIZE"), MANY);
    }
    rf_close(near);
}

static void test_locks_of_several_clients_take_a_round_trip_for_each(
    void **state)
{
    rf_client *one = open_near(), *two = open_near();
    rf_lock *ones[MANY], *twos[MANY], *mixed[2 * MANY];
    long long before;

    (void)state;
    for (int round = 0; round < 2; round++) {
        take_many(one, 0, ones);
        take_many(two, MANY, twos);
        for (int i = 0; i < MANY; i++) {
            mixed[2 * i] = ones[i];
            mixed[2 * i + 1] = twos[i];
        }
        if (round == 0)
            redis_server_command(server, "SCRIPT FLUSH");
        before = reads();
        assert_status(rf_renew_all(mixed, 2 * MANY, 60000), RF_OK);
        assert_status(rf_release_all(mixed, 2 * MANY), RF_OK);
        /* The first of them does not know the scripts. */
        assert_round_trips(before, round == 0 ? 6 : 4);
        assert_int_equal(redis_server_number(server, "DBSIZE"), 2 * MANY);
    }
    rf_close(one);
    rf_close(two);
}

/* ---- Renewed together ---------------------------------------------------------- */

static int64_t left(const char *name)
{
    return redis_server_number(server, "PTTL " LOCK, name);
}

static void test_renewal_has_an_outcome_for_each_and_tells_the_worst(
    void **state)
{
    rf_lock *locks[4] = { NULL };

    (void)state;
    assert_status(rf_renew_all(NULL, 0, 60000), RF_OK);
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_renew_all(locks, 4, 60000), RF_OK);
    for (int i = 0; i < 3; i++) {
        assert_in_range(rf_lock_left_ms(locks[i]), 50000, 60000);
        assert_in_range(left(abc[i]), 50000, 60000);
    }
    redis_server_command(server, "DEL " LOCK, "b");
    assert_status(rf_renew_all(locks, 4, 90000), RF_LOST);
    assert_int_equal(rf_lock_fence(locks[1]), 0);
    assert_in_range(rf_lock_left_ms(locks[0]), 80000, 90000);
    assert_in_range(rf_lock_left_ms(locks[2]), 80000, 90000);
    /* One that is over is not asked for, and keeps nobody from it. */
    assert_status(rf_renew_all(locks, 4, 120000), RF_LOST);
    assert_in_range(rf_lock_left_ms(locks[2]), 110000, 120000);
    assert_int_equal(exists("b"), 0);
    assert_status(rf_release_all(locks, 3), RF_LOST);
}

static void test_wrong_renewal_of_one_is_misuse_and_renews_none(void **state)
{
    rf_lock *locks[RF_ALL_MAX + 1] = { NULL };

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_renew_all(locks, 3, 0), RF_MISUSE);
    assert_status(rf_renew_all(locks, RF_ALL_MAX + 1, 60000), RF_MISUSE);
    assert_status(rf_keep(locks[2], NULL), RF_OK);
    assert_status(rf_renew_all(locks, 3, 60000), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "kept"));
    for (int i = 0; i < 3; i++)
        assert_in_range(left(abc[i]), 20000, 30000);
    assert_status(rf_release_all(locks, 3), RF_OK);
}

static void test_renewal_whose_replies_are_lost_is_sent_again(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_renew_all(locks, 3, 30000), RF_OK);
    for (int cut = 0; cut < 3; cut++) {
        int ttl_ms = 60000 + 60000 * cut;

        proxy_set(fault, cut % 2 ? PROXY_CUT_AFTER : PROXY_CUT_BEFORE, cut, 1);
        assert_status(rf_renew_all(locks, 3, ttl_ms), RF_OK);
        for (int i = 0; i < 3; i++)
            assert_in_range(left(abc[i]), ttl_ms - 20000, ttl_ms);
    }
    assert_status(rf_release_all(locks, 3), RF_OK);
}

/* What may have been renewed or not has its old deadline, and is not lost. */
static void test_renewal_without_an_answer_is_unknown(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_renew_all(locks, 3, 30000), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 2, 100);
    assert_status(rf_renew_all(locks, 3, 60000), RF_UNKNOWN);
    proxy_set(fault, PROXY_PASS, 0, 0);
    for (int i = 0; i < 2; i++)
        assert_in_range(rf_lock_left_ms(locks[i]), 50000, 60000);
    assert_in_range(rf_lock_left_ms(locks[2]), 20000, 30000);
    assert_in_range(left("c"), 50000, 60000);
    assert_status(rf_release_all(locks, 3), RF_OK);
}

/* RF_LOST after a request that was not answered may be that request's own work. */
static void test_release_without_an_answer_is_unknown(void **state)
{
    rf_lock *locks[3];

    (void)state;
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    proxy_set(fault, PROXY_CUT_AFTER, 1, 1);
    assert_status(rf_release_all(locks, 3), RF_UNKNOWN);
    assert_int_equal(exists("a") + exists("b") + exists("c"), 0);
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 100);
    assert_true(rf_release_all(locks, 3) != RF_OK);
    proxy_set(fault, PROXY_PASS, 0, 0);
    assert_int_equal(exists("a") + exists("b") + exists("c"), 3);
}

static void test_hundred_and_more_are_taken_in_one_round_trip(void **state)
{
    const char *names[RF_ALL_MAX];
    static char room[RF_ALL_MAX][256];
    rf_lock *locks[RF_ALL_MAX];
    int before;

    (void)state;
    for (int i = 0; i < RF_ALL_MAX; i++) {
        memset(room[i], 'n', 255);
        snprintf(room[i], sizeof(room[i]), "%d", i);
        room[i][strlen(room[i])] = 'n';
        names[i] = room[i];
    }
    assert_status(take(client, names, RF_ALL_MAX, 0, locks), RF_OK);
    assert_status(rf_release_all(locks, RF_ALL_MAX), RF_OK);
    before = proxy_requests(fault);
    assert_status(take(client, names, RF_ALL_MAX, 0, locks), RF_OK);
    assert_int_equal(proxy_requests(fault) - before, 1);
    for (int i = 0; i < RF_ALL_MAX; i++)
        assert_int_equal(rf_lock_fence(locks[i]), 2);
    assert_status(rf_release_all(locks, RF_ALL_MAX), RF_OK);
    assert_int_equal(redis_server_number(server, "DBSIZE"), RF_ALL_MAX);
}

static void test_bad_input_is_misuse_and_nothing_is_sent(void **state)
{
    static const char *const twice[] = { "a", "b", "a" };
    static const char *const empty[] = { "a", "" };
    static const char *const null[] = { "a", NULL };
    const char *names[RF_ALL_MAX + 1];
    rf_lock *locks[RF_ALL_MAX + 1];

    (void)state;
    for (int i = 0; i <= RF_ALL_MAX; i++)
        names[i] = "x";
    assert_status(take(client, twice, 3, 0, locks), RF_MISUSE);
    assert_status(take(client, empty, 2, 0, locks), RF_MISUSE);
    assert_status(take(client, null, 2, 0, locks), RF_MISUSE);
    assert_status(take(client, abc, 0, 0, locks), RF_MISUSE);
    assert_status(take(client, names, RF_ALL_MAX + 1, 0, locks), RF_MISUSE);
    assert_status(take(NULL, abc, 3, 0, locks), RF_MISUSE);
    assert_int_equal(proxy_requests(fault), 0);
}

typedef struct person {
    pthread_t thread;
    const char *const *names;
    size_t n;
    int rounds;
    rf_status status;
} person;

static void *live(void *arg)
{
    person *p = arg;
    rf_client *own;

    if (rf_open(redis_server_url(server), NULL, &own) != RF_OK)
        return NULL;
    for (int i = 0; i < p->rounds && p->status == RF_OK; i++) {
        rf_acquire_options opts = RF_ACQUIRE_INIT;
        rf_lock *locks[4];

        opts.wait_ms = 30000;
        p->status = rf_acquire_all(own, p->names, p->n, &opts, locks);
        if (p->status == RF_OK)
            p->status = rf_release_all(locks, p->n);
    }
    rf_close(own);
    return NULL;
}

/* Each pair of neighbours shares one resource, in both orders. */
static void test_philosophers_neither_block_each_other_nor_starve(void **state)
{
    static const char *const plates[][2] = {
        { "f1", "f2" }, { "f2", "f3" }, { "f3", "f4" },
        { "f4", "f5" }, { "f5", "f1" }, { "f1", "f5" },
    };
    person people[6] = { { 0 } };
    int64_t since = test_now_ms();

    (void)state;
    for (int i = 0; i < 6; i++) {
        people[i].names = plates[i];
        people[i].n = 2;
        people[i].rounds = 25;
        pthread_create(&people[i].thread, NULL, live, &people[i]);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(people[i].thread, NULL);
        assert_status(people[i].status, RF_OK);
    }
    assert_at_most_ms(since, 20000);
}

static void *release_later(void *arg)
{
    rf__sleep_until_ms(rf__now_ms() + 150);
    rf_release(arg);
    return NULL;
}

static void test_waiter_for_two_is_woken_by_the_one_that_was_held(void **state)
{
    rf_client *other;
    rf_lock *held, *locks[3];
    pthread_t thread;
    int64_t since = test_now_ms();

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &other), RF_OK);
    assert_status(rf_acquire(other, "b", NULL, &held), RF_OK);
    pthread_create(&thread, NULL, release_later, held);
    assert_status(take(client, abc, 3, 20000, locks), RF_OK);
    assert_at_most_ms(since, 2000);
    pthread_join(thread, NULL);
    assert_status(rf_release_all(locks, 3), RF_OK);
    rf_close(other);
}

static void *cancel_when_blocked(void *arg)
{
    while (strstr(redis_server_command(server, "INFO clients"),
                  "blocked_clients:1\r") == NULL)
        continue;
    redis_server_command(server, "DEL " LOCK, "b");
    rf_cancel(arg);
    return NULL;
}

/* Whose wait is cancelled passes a turn on by taking all, and gives all back. */
static void test_cancelled_wait_leaves_none_of_them_held(void **state)
{
    rf_client *other, *third;
    rf_lock *held, *locks[3];
    pthread_t thread;

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &other), RF_OK);
    assert_status(rf_open(redis_server_url(server), NULL, &third), RF_OK);
    assert_status(rf_acquire(other, "b", NULL, &held), RF_OK);
    pthread_create(&thread, NULL, cancel_when_blocked, third);
    assert_status(take(third, abc, 3, 20000, locks), RF_TIMEOUT);
    pthread_join(thread, NULL);
    assert_string_equal(redis_server_command(server, "GET " COUNTER, "b"), "2");
    assert_status(take(client, abc, 3, 0, locks), RF_OK);
    assert_status(rf_release_all(locks, 3), RF_OK);
    assert_status(rf_release(held), RF_LOST);
    rf_close(other);
    rf_close(third);
}

/* Woken for b while c is held: b's turn goes to who waits for b alone. */
static void test_turn_that_cannot_be_used_is_passed_on(void **state)
{
    static const char *const b_c[] = { "b", "c" };
    person both = { .names = b_c, .n = 2, .rounds = 1 };
    person one = { .names = b_c, .n = 1, .rounds = 1 };
    rf_client *other;
    rf_lock *b, *c;
    int64_t since;

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &other), RF_OK);
    assert_status(rf_acquire(other, "b", NULL, &b), RF_OK);
    pthread_create(&both.thread, NULL, live, &both);
    while (redis_server_number(server, "EXISTS {lock:v1:b}:waiters") == 0)
        continue;
    while (strstr(redis_server_command(server, "INFO clients"),
                  "blocked_clients:1\r") == NULL)
        continue;
    assert_status(rf_acquire(other, "c", NULL, &c), RF_OK);
    pthread_create(&one.thread, NULL, live, &one);
    while (strstr(redis_server_command(server, "INFO clients"),
                  "blocked_clients:2\r") == NULL)
        continue;
    since = test_now_ms();
    assert_status(rf_release(b), RF_OK);
    pthread_join(one.thread, NULL);
    assert_at_most_ms(since, 400);
    assert_status(one.status, RF_OK);
    assert_status(rf_release(c), RF_OK);
    pthread_join(both.thread, NULL);
    assert_status(both.status, RF_OK);
    rf_close(other);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_each_has_a_fence_of_its_own_and_one_holder),
        CASE(test_one_that_is_held_leaves_all_others_untouched),
        CASE(test_one_bad_counter_leaves_all_untouched),
        CASE(test_floor_counts_for_each),
        CASE(test_lost_reply_yields_the_same_fences),
        CASE(test_release_whose_reply_is_lost_still_gives_back),
        CASE(test_release_of_some_that_are_lost_gives_back_the_rest),
        CASE(test_release_that_is_refused_is_worse_than_one_too_late),
        CASE(test_many_are_renewed_and_given_back_in_one_round_trip),
        CASE(test_locks_of_several_clients_take_a_round_trip_for_each),
        CASE(test_renewal_has_an_outcome_for_each_and_tells_the_worst),
        CASE(test_wrong_renewal_of_one_is_misuse_and_renews_none),
        CASE(test_renewal_whose_replies_are_lost_is_sent_again),
        CASE(test_renewal_without_an_answer_is_unknown),
        CASE(test_release_without_an_answer_is_unknown),
        CASE(test_hundred_and_more_are_taken_in_one_round_trip),
        CASE(test_bad_input_is_misuse_and_nothing_is_sent),
        CASE(test_philosophers_neither_block_each_other_nor_starve),
        CASE(test_waiter_for_two_is_woken_by_the_one_that_was_held),
        CASE(test_cancelled_wait_leaves_none_of_them_held),
        CASE(test_turn_that_cannot_be_used_is_passed_on),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
