/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_etcd_examine.c - what an etcd of three members is told to be like
 *
 * What one member may suffer from is given to it by
 * tests/cli/the_doctor_looks_at_every_source.sh.
 */
#include "left_out.h"
#include "rf_test.h"

#ifdef RF_ETCD

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "etcd_cluster.h"
#include "told.h"

static etcd_cluster *etcd;
static rf_client *client;

static int start(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;

    (void)state;
    etcd = etcd_cluster_start(3);
    opts.timeout_ms = 5000;
    return rf_open(etcd_cluster_url(etcd), &opts, &client) != RF_OK;
}

static int stop(void **state)
{
    (void)state;
    rf_close(client);
    etcd_cluster_stop(etcd);
    return 0;
}

static void test_each_member_is_asked_by_itself(void **state)
{
    told t = { 0 };

    (void)state;
    assert_true(etcd_cluster_leader(etcd) >= 0);
    assert_status(rf_examine(client, told_note, &t), RF_OK);
    assert_int_equal(told_times(&t, "version="), 3);
    assert_int_equal(told_times(&t, "role=leader;"), 1);
    assert_int_equal(told_times(&t, "role=follower;"), 2);
    assert_int_equal(told_times(&t, "members=3, named in the URL: 3;"), 1);
    assert_int_equal(told_times(&t, "permissions=all that locks need;"), 1);
    assert_int_equal(t.of[RF_WARNING] + t.of[RF_CRITICAL], 0);
}

static void test_members_that_the_url_leaves_out_are_told(void **state)
{
    char url[64];
    rf_client *one;
    told t = { 0 };

    (void)state;
    snprintf(url, sizeof(url), "%.*s",
             (int)strcspn(etcd_cluster_url(etcd), ","), etcd_cluster_url(etcd));
    assert_status(rf_open(url, NULL, &one), RF_OK);
    assert_status(rf_examine(one, told_note, &t), RF_OK);
    assert_int_equal(told_times(&t, "members=3, named in the URL: 1;"), 1);
    assert_true(t.of[RF_NOTICE] >= 3);
    rf_close(one);
}

static void test_member_that_is_away_is_a_warning(void **state)
{
    told t = { 0 };

    (void)state;
    etcd_cluster_kill(etcd, 2);
    assert_true(etcd_cluster_leader(etcd) >= 0);
    assert_status(rf_examine(client, told_note, &t), RF_OK);
    assert_int_equal(t.of[RF_WARNING], 1);
    assert_int_equal(told_times(&t, "version="), 2);
    assert_int_equal(told_times(&t, "permissions=all that locks need;"), 1);
}

/* It takes the one that is left a moment to know that it is alone. */
static void test_minority_is_critical(void **state)
{
    int64_t begin_ms = test_now_ms();
    told t;

    (void)state;
    etcd_cluster_kill(etcd, 1);
    do {
        memset(&t, 0, sizeof(t));
        assert_status(rf_examine(client, told_note, &t), RF_OK);
        assert_at_most_ms(begin_ms, 60000);
        poll(NULL, 0, 20);
    } while (told_times(&t, "role=no leader;") == 0);
    assert_int_equal(t.of[RF_WARNING], 2);
    assert_int_equal(t.of[RF_CRITICAL], 1);
    assert_int_equal(told_times(&t, "permissions="), 0);
}

static void test_nobody_to_ask_is_retry(void **state)
{
    told t = { 0 };

    (void)state;
    etcd_cluster_kill(etcd, 0);
    assert_status(rf_examine(client, told_note, &t), RF_RETRY);
    assert_int_equal(t.of[RF_CRITICAL], 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_member_is_asked_by_itself),
        cmocka_unit_test(test_members_that_the_url_leaves_out_are_told),
        cmocka_unit_test(test_member_that_is_away_is_a_warning),
        cmocka_unit_test(test_minority_is_critical),
        cmocka_unit_test(test_nobody_to_ask_is_retry),
    };

    return run_group(tests, start, stop);
}

#else /* RF_ETCD */

int main(void)
{
    return run_left_out("etcd://127.0.0.1");
}

#endif
