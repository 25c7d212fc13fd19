/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_zookeeper_nomem.c - memory runs out at the n-th request, for every n
 *
 * Of our own code's: ZooKeeper's client does not look at what malloc() returns,
 * and would end the program.  Whatever runs out: an outcome that is true, and a
 * client that works when there is memory again.
 */
#include "left_out.h"
#include "rf_test.h"

#ifdef RF_ZOOKEEPER

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "our_memory.h"
#include "told.h"
#include "zookeeper_ensemble.h"

#define TTL_MS 30000

static zookeeper_ensemble *zookeeper;
static rf_client *other; /* never short of memory */

static rf_client *open_client(void)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = 10000;
    if (rf_open(zookeeper_ensemble_url(zookeeper), &opts, &client) != RF_OK)
        fail_msg("%s", rf_message(NULL));
    return client;
}

static int start(void **state)
{
    (void)state;
    zookeeper = zookeeper_ensemble_start(1);
    other = open_client();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rf_close(other);
    zookeeper_ensemble_stop(zookeeper);
    return 0;
}

static int is_held(const char *resource)
{
    rf_info info;

    if (rf_inspect(other, resource, &info) != RF_OK)
        fail_msg("%s", rf_message(other));
    return info.held;
}

/* What is taken away behind the caller's back is, soon. */
static void await_free(const char *resource)
{
    int64_t begin_ms = test_now_ms();

    while (is_held(resource)) {
        assert_at_most_ms(begin_ms, TTL_MS / 2);
        usleep(2000);
    }
}

static rf_status take(rf_client *client, const char *resource, int64_t wait_ms,
                      rf_lock **lock)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.ttl_ms = TTL_MS;
    opts.wait_ms = wait_ms;
    return rf_acquire(client, resource, &opts, lock);
}

static void assert_works(rf_client *client)
{
    rf_lock *lock;

    await_free("r");
    if (take(client, "r", 0, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

/* RF_NOMEM is said, and only where memory has run out. */
static void assert_true_outcome(rf_client *client, rf_status status,
                                int happened)
{
    if (status == RF_OK)
        return;
    if (!happened)
        fail_msg("%s: %s", rf_status_name(status), rf_message(client));
    if (status == RF_NOMEM)
        assert_string_equal(rf_message(client), "out of memory");
    else
        assert_status(status, RF_UNKNOWN);
}

/* ---- What is tried -------------------------------------------------------------- */

/* Each: 1 when memory ran out on the way. */

static int one_acquisition(long nth)
{
    rf_client *client = open_client();
    rf_lock *lock;
    rf_status status;
    int happened;

    arm(nth);
    status = take(client, "r", 0, &lock);
    happened = disarm();
    assert_true((lock != NULL) == (status == RF_OK));
    assert_true_outcome(client, status, happened);
    if (status == RF_OK)
        assert_true(rf_lock_fence(lock) > 0 && is_held("r"));
    rf_release(lock);
    assert_works(client);
    rf_close(client);
    return happened;
}

/* A renewal, and that it may be given back. */
static int one_held(long nth)
{
    rf_client *client = open_client();
    rf_lock *lock;
    rf_status renewed, released;
    int happened;

    assert_status(take(client, "r", 0, &lock), RF_OK);
    arm(nth);
    renewed = rf_renew(lock, 40000);
    happened = disarm();
    assert_true_outcome(client, renewed, happened);
    assert_true(rf_lock_fence(lock) > 0);
    arm(happened ? -1 : nth - allocations);
    released = rf_release(lock);
    happened |= disarm();
    if (released != RF_OK)
        assert_true(happened && released == RF_NOMEM);
    assert_works(client);
    rf_close(client);
    return happened;
}

/* Who stands in line, and what stands in the line's place afterwards. */
static int one_wait(long nth)
{
    rf_client *client = open_client();
    rf_lock *in_the_way, *lock;
    rf_status status;
    int happened;

    assert_status(take(other, "r", 0, &in_the_way), RF_OK);
    arm(nth);
    status = take(client, "r", 40, &lock);
    happened = disarm();
    assert_null(lock);
    if (status != RF_TIMEOUT)
        assert_true_outcome(client, status, happened);
    assert_status(rf_release(in_the_way), RF_OK);
    assert_works(client);
    rf_close(client);
    return happened;
}

static int one_set(long nth)
{
    static const char *const names[] = { "r", "s", "t" };
    rf_client *client = open_client();
    rf_lock *locks[3];
    rf_status status;
    int happened;

    arm(nth);
    status = rf_acquire_all(client, names, 3, NULL, locks);
    happened = disarm();
    assert_true_outcome(client, status, happened);
    for (int i = 0; i < 3; i++)
        assert_true((locks[i] != NULL) == (status == RF_OK));
    rf_release_all(locks, 3);
    for (int i = 0; i < 3; i++)
        await_free(names[i]);
    assert_works(client);
    rf_close(client);
    return happened;
}

static atomic_int losses;

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    (void)lock, (void)reason, (void)arg;
    losses++;
}

static uint64_t renewals(const rf_client *client)
{
    rf_stats stats;

    rf_get_stats(client, &stats);
    return stats.calls[RF_CALL_RENEW][RF_OK];
}

/* From the first use of the keeper to its first renewal. */
static int one_kept(long nth)
{
    rf_keep_options keep = RF_KEEP_INIT;
    rf_client *client = open_client();
    rf_lock *lock;
    rf_status status;
    int happened;

    losses = 0;
    keep.ttl_ms = 450;
    keep.on_lost = on_lost;
    assert_status(take(client, "r", 0, &lock), RF_OK);
    arm(nth);
    status = rf_keep(lock, &keep);
    while (status == RF_OK && renewals(client) == 0 && losses == 0)
        usleep(2000);
    happened = disarm();
    assert_true(status == RF_OK || (happened && status == RF_NOMEM));
    /* One attempt that fails is no loss. */
    assert_int_equal(losses, 0);
    assert_true(is_held("r"));
    rf_release(lock);
    assert_works(client);
    rf_close(client);
    return happened;
}

static int look_on(const char *resource, const rf_info *info, void *arg)
{
    (void)resource, (void)info, (void)arg;
    return 0;
}

/* An operator's questions. */
static int one_look(long nth)
{
    rf_client *client = open_client();
    rf_lock *lock;
    rf_info info;
    rf_status status;
    int happened;

    assert_status(take(other, "r", 0, &lock), RF_OK);
    arm(nth);
    status = rf_inspect(client, "r", &info);
    if (status == RF_OK)
        status = rf_inspect(client, "nobody's", &info);
    if (status == RF_OK)
        status = rf_list(client, look_on, NULL);
    if (status == RF_OK)
        status = rf_force_release(client, "r", rf_lock_fence(lock), "test");
    happened = disarm();
    assert_true_outcome(client, status, happened);
    rf_release(lock);
    assert_works(client);
    rf_close(client);
    return happened;
}

/* What could not be asked is told, or it ends with RF_NOMEM. */
static int one_examination(long nth)
{
    rf_client *client = open_client();
    told t = { 0 };
    rf_status status;
    int happened;

    arm(nth);
    status = rf_examine(client, told_note, &t);
    happened = disarm();
    assert_true(status == RF_OK || (happened && status == RF_NOMEM));
    assert_true(happened || t.of[RF_CRITICAL] == 0);
    assert_works(client);
    rf_close(client);
    return happened;
}

/* ---- For every n ------------------------------------------------------------------ */

static void for_every_n(int (*try)(long nth), long least)
{
    long n = 0;

    while (try(n))
        n++;
    assert_in_range(n, least, 400);
}

static void test_acquisition_without_memory_leaves_nothing(void **state)
{
    (void)state;
    for_every_n(one_acquisition, 4);
}

static void test_held_lock_survives_a_call_without_memory(void **state)
{
    (void)state;
    for_every_n(one_held, 2);
}

static void test_wait_without_memory_leaves_no_place_behind(void **state)
{
    (void)state;
    for_every_n(one_wait, 6);
}

static void test_all_are_taken_or_none_without_memory(void **state)
{
    (void)state;
    for_every_n(one_set, 10);
}

static void test_kept_lock_survives_a_renewal_without_memory(void **state)
{
    (void)state;
    for_every_n(one_kept, 4);
}

static void test_look_without_memory_says_so(void **state)
{
    (void)state;
    for_every_n(one_look, 10);
}

static void test_examination_without_memory_tells_or_ends(void **state)
{
    (void)state;
    for_every_n(one_examination, 20);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acquisition_without_memory_leaves_nothing),
        cmocka_unit_test(test_held_lock_survives_a_call_without_memory),
        cmocka_unit_test(test_wait_without_memory_leaves_no_place_behind),
        cmocka_unit_test(test_all_are_taken_or_none_without_memory),
        cmocka_unit_test(test_kept_lock_survives_a_renewal_without_memory),
        cmocka_unit_test(test_look_without_memory_says_so),
        cmocka_unit_test(test_examination_without_memory_tells_or_ends),
    };

    return run_group(tests, start, stop);
}

#else /* RF_ZOOKEEPER */

int main(void)
{
    return run_left_out("zookeeper://127.0.0.1");
}

#endif
