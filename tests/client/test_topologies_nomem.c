/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_topologies_nomem.c - memory runs out at the n-th request, for every n:
 * sentinels, a cluster, a quorum, replicas, sets, shared locks, a keeper
 *
 * Whatever runs out: an outcome that is true, and a client that works when
 * there is memory again.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "no_memory.h"
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "redis_topology.h"

#define LOCK "{lock:v1:%s}"

static redis_server *data[6];
static int n_data; /* those that may have the lock */
static const char *url;
static rf_options opts;

static const char *const set[] = { "r", "s", "t" };

static void forget_all(void)
{
    for (int i = 0; i < n_data; i++) {
        redis_server_command(data[i], "FLUSHALL");
        redis_server_command(data[i], "SCRIPT FLUSH");
    }
}

static int held(const char *resource)
{
    int n = 0;

    for (int i = 0; i < n_data; i++)
        n += redis_server_number(data[i], "EXISTS " LOCK, resource) == 1;
    return n;
}

static void assert_true_outcome(rf_status status)
{
    if (status == RF_NOMEM)
        assert_int_equal(held("r"), 0);
    else if (status != RF_OK && status != RF_UNKNOWN && status != RF_RETRY &&
             status != RF_REFUSED)
        fail_msg("%s", rf_status_name(status));
}

/* As if nothing had been. */
static void assert_works(rf_client *client)
{
    rf_lock *lock;

    forget_all();
    if (rf_acquire(client, "r", NULL, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    assert_status(rf_release(lock), RF_OK);
}

/* Open, take, renew, give back.  1 when memory ran out on the way. */
static int one_lock(long nth, int shared)
{
    rf_acquire_options a = RF_ACQUIRE_INIT;
    rf_client *client;
    rf_lock *lock = NULL;
    rf_status status;
    int happened;

    forget_all();
    a.shared = shared;
    arm(nth);
    status = rf_open(url, &opts, &client);
    if (status == RF_OK)
        status = rf_acquire(client, "r", &a, &lock);
    happened = disarm();
    assert_true((lock != NULL) == (status == RF_OK));
    assert_true_outcome(status);
    if (lock != NULL) {
        arm(happened ? -1 : nth - allocations);
        status = rf_renew(lock, 60000);
        happened |= disarm();
        assert_true_outcome(status == RF_NOMEM ? RF_RETRY : status);
        assert_true(shared || rf_lock_fence(lock) == 1);
        rf_release(lock);
    }
    if (client != NULL)
        assert_works(client);
    rf_close(client);
    return happened;
}

static int one_set(long nth)
{
    rf_client *client;
    rf_lock *locks[3];
    rf_status status;
    int happened;

    forget_all();
    assert_status(rf_open(url, &opts, &client), RF_OK);
    arm(nth);
    status = rf_acquire_all(client, set, 3, NULL, locks);
    happened = disarm();
    assert_true_outcome(status);
    for (int i = 0; i < 3; i++)
        assert_true((locks[i] != NULL) == (status == RF_OK));
    arm(happened ? -1 : nth - allocations);
    rf_release_all(locks, 3);
    happened |= disarm();
    for (int i = 0; i < 3; i++)
        assert_null(locks[i]);
    assert_works(client);
    rf_close(client);
    return happened;
}

typedef struct losses {
    atomic_int times;
} losses;

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    losses *l = arg;

    (void)lock, (void)reason;
    l->times++;
}

static uint64_t renewals(const rf_client *client)
{
    rf_stats stats;

    rf_get_stats(client, &stats);
    return stats.calls[RF_CALL_RENEW][RF_OK];
}

/*
 * AddressSanitizer needs memory to begin a thread, and ends the program when
 * there is none: there the keeper has begun before, with another lock.
 */
static void begin_keeper(rf_client *client)
{
#ifdef __SANITIZE_ADDRESS__
    rf_keep_options k = RF_KEEP_INIT;
    rf_lock *lock;

    k.ttl_ms = 60;
    assert_status(rf_acquire(client, "s", NULL, &lock), RF_OK);
    assert_status(rf_keep(lock, &k), RF_OK);
    while (renewals(client) == 0)
        rf__sleep_until_ms(rf__now_ms() + 2);
    rf_release(lock);
#else
    (void)client;
#endif
}

/* From the first use of the keeper to its first renewal. */
static int one_kept(long nth)
{
    rf_keep_options k = RF_KEEP_INIT;
    losses l = { 0 };
    rf_client *client;
    rf_lock *lock;
    rf_status status;
    uint64_t before;
    int happened;

    forget_all();
    k.ttl_ms = 450;
    k.on_lost = on_lost;
    k.arg = &l;
    assert_status(rf_open(url, &opts, &client), RF_OK);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    begin_keeper(client);
    before = renewals(client);
    arm(nth);
    status = rf_keep(lock, &k);
    while (status == RF_OK && renewals(client) <= before && l.times == 0)
        rf__sleep_until_ms(rf__now_ms() + 2);
    happened = disarm();
    /* RF_RETRY: the system gives no thread. */
    assert_true(status == RF_OK || status == RF_NOMEM || status == RF_RETRY);
    /* One attempt that fails is no loss; and what was renewed is held. */
    assert_int_equal(l.times, 0);
    assert_int_equal(held("r") > 0, 1);
    rf_release(lock);
    rf_close(client);
    return happened;
}

static int one_shared(long nth)
{
    return one_lock(nth, 1);
}

static int one_exclusive(long nth)
{
    return one_lock(nth, 0);
}

static void for_every_n(int (*try)(long nth))
{
    long n = 0;

    while (try(n))
        n++;
    assert_in_range(n, 1, 400);
}

/* ---- Where ------------------------------------------------------------------------ */

static void use(const char *where, int min_replicas)
{
    static const rf_options defaults = RF_OPTIONS_INIT;

    url = where;
    opts = defaults;
    opts.timeout_ms = 1000;
    opts.min_replicas = min_replicas;
    opts.replicas_ms = 500;
}

static void test_one_redis(void **state)
{
    (void)state;
    data[0] = redis_server_start(NULL);
    n_data = 1;
    use(redis_server_url(data[0]), 0);
    for_every_n(one_exclusive);
    for_every_n(one_shared);
    for_every_n(one_set);
    for_every_n(one_kept);
    redis_server_stop(data[0]);
}

static void test_replicas(void **state)
{
    static const char *const options[] = { "--repl-diskless-sync-delay", "0",
                                           NULL };
    redis_server *replica = redis_server_start(NULL);

    (void)state;
    data[0] = redis_server_start(options);
    n_data = 1;
    redis_server_command(replica, "REPLICAOF 127.0.0.1 %d",
                         redis_server_port(data[0]));
    wait_until(redis_replicas_ready(data[0], 1));
    use(redis_server_url(data[0]), 1);
    for_every_n(one_exclusive);
    for_every_n(one_set);
    redis_server_stop(replica);
    redis_server_stop(data[0]);
}

static void test_sentinels(void **state)
{
    redis_sentinels *s = redis_sentinels_start();

    (void)state;
    data[0] = s->data[0];
    n_data = 1;
    use(s->url, 0);
    for_every_n(one_exclusive);
    redis_sentinels_stop(s);
}

static void test_cluster(void **state)
{
    redis_cluster *c = redis_cluster_start();

    (void)state;
    for (n_data = 0; n_data < 3; n_data++)
        data[n_data] = c->node[n_data];
    use(c->url, 0);
    for_every_n(one_exclusive);
    for_every_n(one_set);
    for_every_n(one_kept);
    redis_cluster_stop(c);
}

static void test_quorum(void **state)
{
    char where[128];
    int len = snprintf(where, sizeof(where), "redlock://");

    (void)state;
    for (n_data = 0; n_data < 3; n_data++) {
        data[n_data] = redis_server_start(NULL);
        len += snprintf(where + len, sizeof(where) - (size_t)len,
                        "%s127.0.0.1:%d", n_data > 0 ? "," : "",
                        redis_server_port(data[n_data]));
    }
    use(where, 0);
    for_every_n(one_exclusive);
    for_every_n(one_set);
    for_every_n(one_kept);
    for (int i = 0; i < 3; i++)
        redis_server_stop(data[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_redis), cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_sentinels), cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_quorum),
    };

    return run_group(tests, NULL, NULL);
}
