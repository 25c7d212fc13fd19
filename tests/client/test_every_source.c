/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_every_source.c - one contract, whoever issues the numbers
 *
 * Every case runs against every source in the table, through public calls
 * alone.  RF_POSTGRESQL_URL puts something between us and the database.
 */
#include "rf_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "etcd_cluster.h"
#include "forked.h"
#include "left_out.h"
#include "redis_server.h"
#include "ringfence_pg.h"
#include "zookeeper_ensemble.h"

/* ---- The sources -------------------------------------------------------------- */

#define MASTERS 3

typedef struct source {
    const char *name;
    void (*start)(void);
    void (*stop)(void);
    int is_shared;        /* has locks for many readers                    */
    int is_raised;        /* its numbers can be raised: floor and reissue  */
    int is_forked;        /* a child of a fork may use its parent's client */
    const char *left_out; /* its URL, where the library is built without   */
} source;

#ifdef RF_ETCD
#define ETCD_LEFT_OUT NULL
#else
#define ETCD_LEFT_OUT "etcd://127.0.0.1"
#endif

#ifdef RF_ZOOKEEPER
#define ZOOKEEPER_LEFT_OUT NULL
#else
#define ZOOKEEPER_LEFT_OUT "zookeeper://127.0.0.1"
#endif

static char url[512];
static redis_server *server[MASTERS];

static void start_redis(void)
{
    server[0] = redis_server_start(NULL);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(server[0]));
}

static void start_quorum(void)
{
    int len = snprintf(url, sizeof(url), "redlock://");

    for (int i = 0; i < MASTERS; i++) {
        server[i] = redis_server_start(NULL);
        len += snprintf(url + len, sizeof(url) - (size_t)len, "%s127.0.0.1:%d",
                        i > 0 ? "," : "", redis_server_port(server[i]));
    }
}

static void stop_redis(void)
{
    for (int i = 0; i < MASTERS; i++) {
        if (server[i] != NULL)
            redis_server_stop(server[i]);
        server[i] = NULL;
    }
}

/* Where the runner's environment says. */
static void start_postgresql(void)
{
    const char *other = getenv("RF_POSTGRESQL_URL");

    snprintf(url, sizeof(url), "%s", other != NULL ? other : "postgresql://");
}

static void stop_nothing(void)
{
}

static etcd_cluster *etcd;

static void start_etcd(void)
{
    etcd = etcd_cluster_start(1);
    snprintf(url, sizeof(url), "%s", etcd_cluster_url(etcd));
}

static void stop_etcd(void)
{
    etcd_cluster_stop(etcd);
}

static zookeeper_ensemble *zookeeper;

static void start_zookeeper(void)
{
    zookeeper = zookeeper_ensemble_start(1);
    snprintf(url, sizeof(url), "%s", zookeeper_ensemble_url(zookeeper));
}

static void stop_zookeeper(void)
{
    zookeeper_ensemble_stop(zookeeper);
}

static const source sources[] = {
    { "redis", start_redis, stop_redis, 1, 1, 1, NULL },
    { "redlock", start_quorum, stop_redis, 0, 1, 1, NULL },
    { "postgresql", start_postgresql, stop_nothing, 0, 1, 1, NULL },
    { "etcd", start_etcd, stop_etcd, 0, 0, 1, ETCD_LEFT_OUT },
    { "zookeeper", start_zookeeper, stop_zookeeper, 0, 0, 0,
      ZOOKEEPER_LEFT_OUT },
};

/* The one that runs now. */
static const source *at;

static void go_to(const source *next)
{
    if (next == at)
        return;
    if (at != NULL)
        at->stop();
    at = next;
    if (at != NULL)
        at->start();
}

static int stop(void **state)
{
    (void)state;
    go_to(NULL);
    return 0;
}

static rf_client *client, *other;

static int open_clients(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;

    go_to(*state);
    opts.timeout_ms = 10000;
    assert_status(rf_open(url, &opts, &client), RF_OK);
    assert_status(rf_open(url, &opts, &other), RF_OK);
    return 0;
}

static int close_clients(void **state)
{
    (void)state;
    rf_close(client);
    rf_close(other);
    return 0;
}

/* ---- What the cases say often ------------------------------------------------- */

static rf_status try_it(rf_client *who, const char *resource, int64_t ttl_ms,
                        int64_t wait_ms, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.ttl_ms = ttl_ms;
    opts.wait_ms = wait_ms;
    return rf_acquire(who, resource, &opts, out);
}

static rf_lock *take(rf_client *who, const char *resource, int64_t ttl_ms)
{
    rf_lock *lock;

    if (try_it(who, resource, ttl_ms, 0, &lock) != RF_OK)
        fail_msg("%s", rf_message(who));
    return lock;
}

static rf_info look(const char *resource)
{
    rf_info info;

    assert_status(rf_inspect(other, resource, &info), RF_OK);
    return info;
}

static void await_end(const rf_lock *lock)
{
    while (rf_lock_left_ms(lock) > 0)
        usleep(1000);
}

/* ---- One holder, greater numbers ------------------------------------------------ */

static void test_each_grant_has_a_greater_fence(void **state)
{
    rf_fence before = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        rf_lock *lock = take(i % 2 == 0 ? client : other, "grow", 30000);

        assert_true(rf_lock_fence(lock) > before);
        before = rf_lock_fence(lock);
        assert_status(rf_release(lock), RF_OK);
    }
}

static void test_second_is_told_that_it_is_held_and_how_long(void **state)
{
    rf_lock *lock = take(client, "busy", 30000), *none;

    (void)state;
    assert_status(try_it(other, "busy", 30000, 0, &none), RF_BUSY);
    assert_null(none);
    assert_in_range(rf_busy_ms(other), 1, 30000);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_release(take(other, "busy", 30000)), RF_OK);
}

static void test_own_holder_asked_again_is_the_same_grant(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    char holder[RF_HOLDER_LEN + 1];
    rf_lock *first, *again;

    (void)state;
    assert_status(rf_holder_new(holder), RF_OK);
    opts.holder = holder;
    assert_status(rf_acquire(client, "again", &opts, &first), RF_OK);
    assert_status(rf_acquire(other, "again", &opts, &again), RF_OK);
    assert_true(rf_lock_fence(again) == rf_lock_fence(first));
    assert_status(rf_release(again), RF_OK);
    assert_status(rf_release(first), RF_LOST);
}

static void test_names_of_every_kind_are_kept_apart(void **state)
{
    static const char *const names[] = { "a\"b", "a\\b",     "a'b", "{a}",
                                         "a b",  "\xc3\xa4", "a,b", "NULL" };
    enum { N = sizeof(names) / sizeof(names[0]) };
    rf_lock *locks[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        locks[i] = take(client, names[i], 30000);
    for (size_t i = 0; i < N; i++)
        assert_true(look(names[i]).fence == rf_lock_fence(locks[i]));
    assert_status(rf_release_all(locks, N), RF_OK);
    for (size_t i = 0; i < N; i++)
        assert_false(look(names[i]).held);
}

static void test_floor_is_stayed_above(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.floor = 1000000;
    assert_int_equal(rf_can_raise(client), at->is_raised);
    if (!at->is_raised) {
        assert_status(rf_acquire(client, "floor", &opts, &lock), RF_MISUSE);
        assert_non_null(strstr(rf_message(client), "base=1000000"));
        assert_false(look("floor").held);
        return;
    }
    assert_status(rf_acquire(client, "floor", &opts, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) == 1000001);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- The end of a lock ------------------------------------------------------------ */

static void test_lock_that_ran_out_goes_to_another_and_stays_there(void **state)
{
    rf_lock *lock = take(client, "end", 150), *next;

    (void)state;
    assert_status(try_it(other, "end", 30000, 10000, &next), RF_OK);
    await_end(lock);
    assert_true(rf_lock_fence(lock) == 0);
    assert_status(rf_renew(lock, 1000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    assert_true(look("end").fence == rf_lock_fence(next));
    assert_status(rf_release(next), RF_OK);
}

static void test_lock_that_ran_out_is_not_brought_back(void **state)
{
    rf_lock *lock = take(client, "gone", 100);

    (void)state;
    await_end(lock);
    while (look("gone").held)
        usleep(1000);
    assert_status(rf_renew(lock, 1000), RF_LOST);
    assert_false(look("gone").held);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_renewal_makes_it_longer_and_never_shorter(void **state)
{
    rf_lock *lock = take(client, "renew", 5000);

    (void)state;
    assert_status(rf_renew(lock, 600000), RF_OK);
    assert_true(rf_lock_left_ms(lock) > 300000);
    assert_status(rf_renew(lock, 1000), RF_OK);
    assert_true(rf_lock_left_ms(lock) <= 1000);
    assert_true(look("renew").left_ms > 300000);
    assert_status(rf_release(lock), RF_OK);
}

static void test_reissue_raises_the_number_of_the_same_lock(void **state)
{
    rf_lock *lock = take(client, "reissue", 30000);
    rf_fence before = rf_lock_fence(lock);

    (void)state;
    if (!at->is_raised) {
        assert_status(rf_reissue(lock, before + 100), RF_MISUSE);
        assert_non_null(strstr(rf_message(client), "base="));
        assert_status(rf_release(lock), RF_OK);
        return;
    }
    assert_status(rf_reissue(lock, before + 100), RF_OK);
    assert_true(rf_lock_fence(lock) > before + 100);
    assert_true(look("reissue").fence == rf_lock_fence(lock));
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    assert_false(look("reissue").held);
}

/* ---- Waiting ------------------------------------------------------------------------ */

typedef struct waiter {
    const char *resource;
    rf_status status;
    int64_t took_ms;
    atomic_int is_off;
} waiter;

static void *wait_in_thread(void *arg)
{
    waiter *w = arg;
    int64_t begin_ms = test_now_ms();
    rf_lock *lock;

    w->is_off = 1;
    w->status = try_it(other, w->resource, 30000, 60000, &lock);
    w->took_ms = test_now_ms() - begin_ms;
    if (w->status == RF_OK)
        rf_release(lock);
    return NULL;
}

static pthread_t begin_wait(waiter *w)
{
    pthread_t thread;
    rf_stats stats;

    assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, w), 0);
    while (!w->is_off)
        usleep(1000);
    /* It has asked once, and been told that it has to wait. */
    do
        rf_get_stats(other, &stats);
    while (stats.timing[RF_TIME_ACQUIRE].count == 0);
    return thread;
}

static void test_who_waits_gets_it_when_it_is_given_back(void **state)
{
    rf_lock *lock = take(client, "wait", 60000);
    waiter w = { .resource = "wait" };
    pthread_t thread = begin_wait(&w);

    (void)state;
    assert_status(rf_release(lock), RF_OK);
    pthread_join(thread, NULL);
    assert_status(w.status, RF_OK);
    assert_in_range(w.took_ms, 0, 30000);
}

static void test_who_waits_gets_it_when_its_holder_is_dead(void **state)
{
    rf_lock *lock = take(client, "dead", 300);
    waiter w = { .resource = "dead" };
    pthread_t thread = begin_wait(&w);

    (void)state;
    pthread_join(thread, NULL);
    assert_status(w.status, RF_OK);
    assert_status(rf_release(lock), RF_LOST);
}

static void test_wait_ends_when_its_time_is_over(void **state)
{
    rf_lock *lock = take(client, "over", 30000), *none;
    int64_t begin_ms = test_now_ms();

    (void)state;
    assert_status(try_it(other, "over", 30000, 200, &none), RF_TIMEOUT);
    assert_at_least_ms(begin_ms, 200);
    assert_at_most_ms(begin_ms, 10000);
    /* Who is slower than could be is told why. */
    if (getenv("RF_POSTGRESQL_URL") != NULL)
        assert_non_null(strstr(rf_message(other), "pooler"));
    else
        assert_null(strstr(rf_message(other), "pooler"));
    assert_status(rf_release(lock), RF_OK);
}

static void test_wait_is_ended_from_outside(void **state)
{
    rf_lock *lock = take(client, "cancel", 60000);
    waiter w = { .resource = "cancel" };
    pthread_t thread = begin_wait(&w);

    (void)state;
    rf_cancel(other);
    pthread_join(thread, NULL);
    assert_status(w.status, RF_TIMEOUT);
    assert_in_range(w.took_ms, 0, 30000);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Several, and kept ---------------------------------------------------------------- */

static void test_all_are_taken_or_none(void **state)
{
    static const char *const names[] = { "all:1", "all:2", "all:3" };
    rf_lock *in_the_way = take(other, "all:3", 30000), *locks[3];

    (void)state;
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_BUSY);
    assert_null(locks[0]);
    assert_false(look("all:1").held);
    assert_status(rf_release(in_the_way), RF_OK);
    assert_status(rf_acquire_all(client, names, 3, NULL, locks), RF_OK);
    for (int i = 0; i < 3; i++)
        assert_true(look(names[i]).fence == rf_lock_fence(locks[i]));
    assert_status(rf_renew_all(locks, 3, 90000), RF_OK);
    for (int i = 0; i < 3; i++)
        assert_true(rf_lock_left_ms(locks[i]) > 60000);
    assert_status(rf_release_all(locks, 3), RF_OK);
    assert_false(look("all:2").held);
}

static atomic_int lost_reason;

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    (void)lock;
    (void)arg;
    lost_reason = reason;
}

static void test_kept_locks_outlive_their_time_until_taken(void **state)
{
    rf_keep_options keep = RF_KEEP_INIT;
    rf_lock *one = take(client, "kept:1", 600),
            *two = take(client, "kept\"2", 600);
    int64_t begin_ms = test_now_ms();

    (void)state;
    lost_reason = 0;
    keep.on_lost = on_lost;
    assert_status(rf_keep(one, &keep), RF_OK);
    assert_status(rf_keep(two, &keep), RF_OK);
    while (test_now_ms() - begin_ms < 1500)
        usleep(10000);
    assert_true(rf_lock_fence(one) > 0);
    assert_true(rf_lock_fence(two) > 0);
    assert_status(rf_force_release(other, "kept:1", rf_lock_fence(one), "test"),
                  RF_OK);
    while (lost_reason == 0)
        usleep(1000);
    assert_true(rf_lock_fence(one) == 0);
    assert_true(rf_lock_fence(two) > 0);
    assert_status(rf_release(one), RF_LOST);
    assert_status(rf_release(two), RF_OK);
}

/* ---- For people ------------------------------------------------------------------------ */

static void test_inspect_shows_holder_and_what_is_left(void **state)
{
    rf_lock *lock = take(client, "see", 30000);
    rf_info info = look("see");

    (void)state;
    assert_true(info.held);
    assert_true(info.fence == rf_lock_fence(lock));
    assert_string_equal(info.holder, rf_lock_holder(lock));
    assert_in_range(info.left_ms, 1, 30000);
    assert_true(info.counter >= info.fence);
    assert_status(rf_release(lock), RF_OK);
    assert_false(look("see").held);
    assert_false(look("never seen").held);
}

static int count_listed(const char *resource, const rf_info *info, void *arg)
{
    int *n = arg;

    assert_true(info->held);
    *n += strncmp(resource, "list:", 5) == 0;
    return 0;
}

static void test_list_shows_those_that_are_held(void **state)
{
    rf_lock *a = take(client, "list:a", 30000),
            *b = take(client, "list:b", 30000);
    int n = 0;

    (void)state;
    assert_status(rf_list(other, count_listed, &n), RF_OK);
    assert_true(n >= 2);
    assert_status(rf_release(a), RF_OK);
    n = 0;
    assert_status(rf_list(other, count_listed, &n), RF_OK);
    assert_true(n >= 1);
    assert_status(rf_release(b), RF_OK);
}

static void test_force_release_wants_the_right_number(void **state)
{
    rf_lock *lock = take(client, "force", 30000);
    rf_fence fence = rf_lock_fence(lock);

    (void)state;
    assert_status(rf_force_release(other, "force", fence + 1, "test"), RF_LOST);
    assert_true(look("force").held);
    assert_status(rf_force_release(other, "force", fence, "test"), RF_OK);
    assert_false(look("force").held);
    assert_status(rf_renew(lock, 30000), RF_LOST);
    rf_release(lock);
}

/* ---- Mistakes and other processes ------------------------------------------------------- */

static void test_shared_locks_are_granted_or_refused_clearly(void **state)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.shared = 1;
    if (!at->is_shared) {
        assert_status(rf_acquire(client, "shared", &opts, &lock), RF_MISUSE);
        return;
    }
    assert_status(rf_acquire(client, "shared", &opts, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

/* What a child makes of its parent's client; one that hangs ends by the alarm. */
static int child_is_kept_apart(rf_lock *lock)
{
    rf_status parents = at->is_forked ? RF_BUSY : RF_MISUSE;
    rf_status own = at->is_forked ? RF_OK : RF_MISUSE;
    rf_lock *none, *its_own;

    alarm(60);
    return rf_renew(lock, 1000) == RF_MISUSE &&
           try_it(client, "fork", 1000, 0, &none) == parents &&
           try_it(client, "child", 1000, 0, &its_own) == own;
}

static void test_forked_child_leaves_the_parents_lock_alone(void **state)
{
    rf_lock *lock = take(client, "fork", 30000);
    pid_t child = fork();
    int result;

    (void)state;
    if (child == 0) {
        int fine = child_is_kept_apart(lock);

        rf_close(client);
        forked_end(fine);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- With the database at the end -------------------------------------------------------- */

static rf_status write_stock(PGconn *conn, rf_lock *lock, int n)
{
    rf_pg_statement statement = { 0 };
    char sql[64];

    snprintf(sql, sizeof(sql), "UPDATE stock SET n = %d", n);
    statement.sql = sql;
    return rf_pg_exec(conn, lock, &statement, NULL);
}

static void test_claimed_lock_writes_and_the_one_before_does_not(void **state)
{
    PGconn *conn = database_connect(""), *late = database_connect("");
    rf_lock *old, *new;

    (void)state;
    database_run(conn, "CREATE TABLE IF NOT EXISTS stock (n int);"
                       "SELECT ringfence.unprotect('stock')"
                       " FROM ringfence.protection;"
                       "TRUNCATE stock; INSERT INTO stock VALUES (10);"
                       "SELECT ringfence.protect('stock', resource => 'shop')");
    assert_status(rf_pg_acquire(client, late, "shop", NULL, &old), RF_OK);
    assert_status(write_stock(late, old, 9), RF_OK);
    assert_status(rf_force_release(other, "shop", rf_lock_fence(old), "test"),
                  RF_OK);
    assert_status(rf_pg_acquire(other, conn, "shop", NULL, &new), RF_OK);
    assert_status(write_stock(conn, new, 8), RF_OK);
    assert_status(write_stock(late, old, 99), RF_STALE);
    assert_int_equal(database_number(conn, "SELECT n FROM stock"), 8);
    rf_release(old);
    assert_status(rf_release(new), RF_OK);
    PQfinish(conn);
    PQfinish(late);
}

/* ---- All of it ----------------------------------------------------------------------------- */

#define of_each(f) \
    cmocka_unit_test_setup_teardown(f, open_clients, close_clients)

static const struct CMUnitTest cases[] = {
    of_each(test_each_grant_has_a_greater_fence),
    of_each(test_second_is_told_that_it_is_held_and_how_long),
    of_each(test_own_holder_asked_again_is_the_same_grant),
    of_each(test_names_of_every_kind_are_kept_apart),
    of_each(test_floor_is_stayed_above),
    of_each(test_lock_that_ran_out_goes_to_another_and_stays_there),
    of_each(test_lock_that_ran_out_is_not_brought_back),
    of_each(test_renewal_makes_it_longer_and_never_shorter),
    of_each(test_reissue_raises_the_number_of_the_same_lock),
    of_each(test_who_waits_gets_it_when_it_is_given_back),
    of_each(test_who_waits_gets_it_when_its_holder_is_dead),
    of_each(test_wait_ends_when_its_time_is_over),
    of_each(test_wait_is_ended_from_outside),
    of_each(test_all_are_taken_or_none),
    of_each(test_kept_locks_outlive_their_time_until_taken),
    of_each(test_inspect_shows_holder_and_what_is_left),
    of_each(test_list_shows_those_that_are_held),
    of_each(test_force_release_wants_the_right_number),
    of_each(test_shared_locks_are_granted_or_refused_clearly),
    of_each(test_forked_child_leaves_the_parents_lock_alone),
    of_each(test_claimed_lock_writes_and_the_one_before_does_not),
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))
#define CASES   (sizeof(cases) / sizeof(cases[0]))

static struct CMUnitTest all[SOURCES * CASES];
static char names[SOURCES * CASES][128];

static size_t add_case(size_t n, const source *of, struct CMUnitTest one,
                       const void *state)
{
    snprintf(names[n], sizeof(names[n]), "%s: %s", of->name, one.name);
    all[n] = one;
    all[n].name = names[n];
    all[n].initial_state = (void *)state;
    return n + 1;
}

/* The cases once more, said with the source's name. */
static size_t add_cases(size_t n, const source *of)
{
    static const struct CMUnitTest refusal = cmocka_unit_test(
        test_source_that_was_left_out_is_refused);

    if (of->left_out != NULL)
        return add_case(n, of, refusal, of->left_out);
    for (size_t i = 0; i < CASES; i++)
        n = add_case(n, of, cases[i], of);
    return n;
}

/* One source, when it is named; else all of them. */
int main(int argc, char **argv)
{
    size_t n = 0;

    for (size_t i = 0; i < SOURCES; i++) {
        if (argc < 2 || strcmp(argv[1], sources[i].name) == 0)
            n = add_cases(n, &sources[i]);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("every source", all, n, NULL, stop);
}
