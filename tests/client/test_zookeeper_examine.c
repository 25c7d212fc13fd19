/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_zookeeper_examine.c - what a ZooKeeper of three servers is told to be like
 *
 * What one server may suffer from is given to it by
 * tests/cli/the_doctor_looks_at_every_source.sh.
 */
#include "left_out.h"
#include "rf_test.h"

#ifdef RF_ZOOKEEPER

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "told.h"
#include "wire.h"
#include "zookeeper_ensemble.h"

static zookeeper_ensemble *zookeeper;
static rf_client *client;

static rf_client *open_at(const char *url)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *at;

    opts.timeout_ms = 10000;
    if (rf_open(url, &opts, &at) != RF_OK)
        fail_msg("%s", rf_message(NULL));
    return at;
}

static int start(void **state)
{
    (void)state;
    zookeeper = zookeeper_ensemble_start(3);
    client = open_at(zookeeper_ensemble_url(zookeeper));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rf_close(client);
    zookeeper_ensemble_stop(zookeeper);
    return 0;
}

static told examine(rf_client *of)
{
    told t = { 0 };

    if (rf_examine(of, told_note, &t) != RF_OK)
        fail_msg("%s", rf_message(of));
    return t;
}

static void assert_told(const told *t, const char *what, int times)
{
    if (told_times(t, what) != times)
        fail_msg("not %d times %s in %s", times, what, t->all);
}

static void test_each_server_is_asked_by_itself(void **state)
{
    told t;

    (void)state;
    assert_true(zookeeper_ensemble_leader(zookeeper) >= 0);
    t = examine(client);
    assert_told(&t, "version=3.", 3);
    assert_told(&t, "role=leader;", 1);
    assert_told(&t, "role=follower;", 2);
    assert_told(&t, "members=3, named in the URL: 3;", 1);
    assert_told(&t, "permissions=all that locks need;", 1);
    assert_told(
        &t, "sessions=1000 ms when asked for 1000, 40000 ms at the most;", 1);
    assert_int_equal(t.of[RF_WARNING] + t.of[RF_CRITICAL], 0);
}

static int count(const char *resource, const rf_info *info, void *arg)
{
    (void)resource, (void)info;
    ++*(int *)arg;
    return 0;
}

/* The first one has looked at the folder of all, and again it is alone. */
static void test_nothing_is_left_behind(void **state)
{
    told t = examine(client);
    int locks = 0;

    (void)state;
    assert_told(&t, "rights=1 of 1 folders open to anybody;", 1);
    assert_status(rf_list(client, count, &locks), RF_OK);
    assert_int_equal(locks, 0);
}

static void test_newest_number_and_base_are_told(void **state)
{
    char url[256];
    rf_client *high;
    told t;

    (void)state;
    snprintf(url, sizeof(url), "%s?base=9000000000000000",
             zookeeper_ensemble_url(zookeeper));
    high = open_at(url);
    t = examine(high);
    assert_told(&t, "numbers=90000", 1);
    assert_told(&t, ", of them base: 9000000000000000;", 1);
    assert_int_equal(t.of[RF_WARNING], 1);
    rf_close(high);
}

static void test_servers_that_the_url_leaves_out_are_told(void **state)
{
    const char *all = zookeeper_ensemble_url(zookeeper);
    char url[64];
    rf_client *one;
    told t;

    (void)state;
    snprintf(url, sizeof(url), "%.*s", (int)strcspn(all, ","), all);
    one = open_at(url);
    t = examine(one);
    assert_told(&t, "members=3, named in the URL: 1;", 1);
    assert_told(&t, "version=", 1);
    rf_close(one);
}

typedef struct listener {
    told told;
    wire *line;
} listener;

/* From then on the line is good. */
static void mend_when_asked_what_it_is(const rf_finding *finding, void *arg)
{
    listener *l = arg;

    if (strcmp(finding->subject, "role") == 0)
        wire_set(l->line, WIRE_PASS, 0);
    told_note(finding, &l->told);
}

/* Sixty bytes are the version, and no more; or a session. */
static void test_server_that_does_not_say_what_it_is_may_serve(void **state)
{
    listener l = { .line = wire_start(zookeeper_ensemble_port(zookeeper, 0)) };
    char url[64];
    rf_client *one;

    (void)state;
    snprintf(url, sizeof(url), "zookeeper://127.0.0.1:%d", wire_port(l.line));
    one = open_at(url);
    wire_set(l.line, WIRE_CUT, 60);
    assert_status(rf_examine(one, mend_when_asked_what_it_is, &l), RF_OK);
    assert_told(&l.told, "role=unknown;", 1);
    assert_told(&l.told, "permissions=all that locks need;", 1);
    assert_int_equal(l.told.of[RF_WARNING] + l.told.of[RF_CRITICAL], 0);
    rf_close(one);
    wire_stop(l.line);
}

/* ---- Who may ------------------------------------------------------------------ */

static rf_client *open_as(const char *user)
{
    char url[256];

    snprintf(url, sizeof(url), "zookeeper://%s%s", user,
             zookeeper_ensemble_url(zookeeper) + 12);
    return open_at(url);
}

/* Without a user that is how it is; with one it's a mistake. */
static void test_folders_that_anybody_may_empty_are_told(void **state)
{
    rf_client *app = open_as("app:secret@");
    rf_lock *lock;
    told t;

    (void)state;
    assert_status(rf_acquire(app, "closed", NULL, &lock), RF_OK);
    t = examine(app);
    assert_told(&t, "rights=1 of 2 folders open to anybody;", 1);
    assert_told(&t, "user=app;", 1);
    assert_null(strstr(t.all, "secret"));
    assert_int_equal(t.of[RF_WARNING], 1);
    t = examine(client);
    assert_told(&t, "rights=1 of 1 folders open to anybody;", 1);
    assert_int_equal(t.of[RF_WARNING], 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(app);
}

static void test_locks_that_only_another_may_take_are_critical(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *app, *no;
    char url[256];
    told t;

    (void)state;
    opts.prefix = "of-app:";
    snprintf(url, sizeof(url), "zookeeper://app:secret@%s",
             zookeeper_ensemble_url(zookeeper) + 12);
    assert_status(rf_open(url, &opts, &app), RF_OK);
    t = examine(app);
    assert_told(&t, "permissions=all that locks need;", 1);
    assert_told(&t, "rights=0 of 1 folders open to anybody;", 1);
    assert_int_equal(t.of[RF_WARNING], 0);
    assert_status(rf_open(zookeeper_ensemble_url(zookeeper), &opts, &no),
                  RF_OK);
    t = examine(no);
    assert_int_equal(t.of[RF_CRITICAL], 1);
    assert_told(&t, "permissions=all that locks need;", 0);
    rf_close(app);
    rf_close(no);
}

/* ---- Servers that fail ---------------------------------------------------------- */

static void test_server_that_is_away_is_a_warning(void **state)
{
    told t;

    (void)state;
    zookeeper_ensemble_kill(zookeeper, 2);
    assert_true(zookeeper_ensemble_leader(zookeeper) >= 0);
    t = examine(client);
    assert_int_equal(t.of[RF_WARNING], 1);
    assert_told(&t, "version=", 2);
    assert_told(&t, "permissions=all that locks need;", 1);
}

/* It takes the one that is left a moment to know what it is now. */
static void await_role(const char *role)
{
    int64_t begin_ms = test_now_ms();
    told t;

    do {
        t = examine(client);
        assert_at_most_ms(begin_ms, 60000);
        poll(NULL, 0, 20);
    } while (told_times(&t, role) == 0);
    if (t.of[RF_WARNING] != 2 || t.of[RF_CRITICAL] != 1)
        fail_msg("%s", t.all);
    assert_told(&t, "permissions=", 0);
}

static void test_minority_is_critical(void **state)
{
    (void)state;
    zookeeper_ensemble_kill(zookeeper, 1);
    await_role("role=serves nobody;");
}

static void test_server_that_only_lets_read_is_critical(void **state)
{
    (void)state;
    zookeeper_ensemble_kill(zookeeper, 0);
    zookeeper_ensemble_restart_read_only(zookeeper, 0);
    await_role("role=read-only;");
}

static void test_nobody_to_ask_is_retry(void **state)
{
    told t = { 0 };

    (void)state;
    zookeeper_ensemble_kill(zookeeper, 0);
    assert_status(rf_examine(client, told_note, &t), RF_RETRY);
    assert_int_equal(t.of[RF_CRITICAL], 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_server_is_asked_by_itself),
        cmocka_unit_test(test_nothing_is_left_behind),
        cmocka_unit_test(test_newest_number_and_base_are_told),
        cmocka_unit_test(test_servers_that_the_url_leaves_out_are_told),
        cmocka_unit_test(test_server_that_does_not_say_what_it_is_may_serve),
        cmocka_unit_test(test_folders_that_anybody_may_empty_are_told),
        cmocka_unit_test(test_locks_that_only_another_may_take_are_critical),
        cmocka_unit_test(test_server_that_is_away_is_a_warning),
        cmocka_unit_test(test_minority_is_critical),
        cmocka_unit_test(test_server_that_only_lets_read_is_critical),
        cmocka_unit_test(test_nobody_to_ask_is_retry),
    };

    return run_group(tests, start, stop);
}

#else /* RF_ZOOKEEPER */

int main(void)
{
    return run_left_out("zookeeper://127.0.0.1");
}

#endif
