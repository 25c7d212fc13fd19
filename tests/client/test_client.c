/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_client.c - opening, closing, options, and the text of failures
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "redis_server.h"

static redis_server *server;

static int start(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

static void refuses(const char *url, const rf_options *opts)
{
    rf_client *client = (rf_client *)&client;

    assert_status(rf_open(url, opts, &client), RF_MISUSE);
    assert_null(client);
    assert_true(strlen(rf_message(NULL)) > 10);
}

static void test_open_connects_nothing(void **state)
{
    rf_client *client;

    (void)state;
    assert_status(rf_open("redis+unix:///nonexistent/s", NULL, &client), RF_OK);
    assert_string_equal(rf_message(client), "");
    assert_int_equal(rf_busy_ms(client), -1);
    rf_close(client);
}

static void test_failed_open_leaves_its_text_and_no_client(void **state)
{
    (void)state;
    refuses(NULL, NULL);
    refuses("", NULL);
    refuses("redis://u:hunter2@h:x", NULL);
    assert_null(strstr(rf_message(NULL), "hunter2"));
    assert_non_null(strstr(rf_message(NULL), "port"));
}

static void test_bad_prefixes_are_misuse(void **state)
{
    static const char *const bad[] = { NULL, "",   "a b",     "a\n",
                                       "{a", "a}", "\xc3\xbc" };
    rf_options opts = RF_OPTIONS_INIT;
    char longest[66];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.prefix = bad[i];
        refuses("redis://h", &opts);
        assert_non_null(strstr(rf_message(NULL), "prefix"));
    }
    memset(longest, 'p', sizeof(longest));
    longest[65] = '\0';
    opts.prefix = longest;
    refuses("redis://h", &opts);
}

static void test_bad_timeouts_are_misuse(void **state)
{
    static const int bad[] = { 0, -1, INT32_MIN, RF_TTL_MAX_MS + 1 };
    rf_options opts = RF_OPTIONS_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.timeout_ms = bad[i];
        refuses("redis://h", &opts);
        assert_non_null(strstr(rf_message(NULL), "timeout_ms"));
    }
}

static void test_prefix_is_part_of_every_key(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;
    char longest[65], name[256];

    (void)state;
    memset(longest, 'p', sizeof(longest));
    longest[64] = '\0';
    memset(name, 'n', sizeof(name));
    name[255] = '\0';
    opts.prefix = longest;
    assert_status(rf_open(redis_server_url(server), &opts, &client), RF_OK);
    assert_status(rf_acquire(client, name, NULL, &lock), RF_OK);
    assert_int_equal(
        redis_server_number(server, "EXISTS {%s%s}", longest, name), 1);
    assert_int_equal(
        redis_server_number(server, "EXISTS {%s%s}:fence", longest, name), 1);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 2);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_options_are_copied(void **state)
{
    char prefix[] = "mine:";
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;

    (void)state;
    opts.prefix = prefix;
    assert_status(rf_open(redis_server_url(server), &opts, &client), RF_OK);
    memcpy(prefix, "other", 5);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_int_equal(redis_server_number(server, "EXISTS {mine:r}"), 1);
    rf_release(lock);
    rf_close(client);
}

static void test_text_of_a_failure_stays_until_the_next_one(void **state)
{
    rf_client *client;
    rf_lock *lock;

    (void)state;
    assert_status(rf_open(redis_server_url(server), NULL, &client), RF_OK);
    assert_status(rf_acquire(client, "", NULL, &lock), RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "name"));
    assert_status(rf_acquire(client, "s", NULL, &lock), RF_OK);
    assert_non_null(strstr(rf_message(client), "name"));
    rf_release(lock);
    rf_close(client);
}

static void test_long_texts_are_cut_and_drop_the_sqlstate(void **state)
{
    rf_client *client;
    rf__error *error;
    char flood[1000];

    (void)state;
    memset(flood, 'x', sizeof(flood));
    flood[999] = '\0';
    assert_status(rf_open("redis://h", NULL, &client), RF_OK);
    error = rf__client_error(client);
    memcpy(error->sqlstate, "RF001", 6);
    rf__set_error(error, "%s", flood);
    assert_int_equal(strlen(rf_message(client)), sizeof(error->text) - 1);
    assert_string_equal(error->sqlstate, "");
    rf_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_connects_nothing),
        cmocka_unit_test(test_failed_open_leaves_its_text_and_no_client),
        cmocka_unit_test(test_bad_prefixes_are_misuse),
        cmocka_unit_test(test_bad_timeouts_are_misuse),
        cmocka_unit_test(test_prefix_is_part_of_every_key),
        cmocka_unit_test(test_options_are_copied),
        cmocka_unit_test(test_text_of_a_failure_stays_until_the_next_one),
        cmocka_unit_test(test_long_texts_are_cut_and_drop_the_sqlstate),
    };

    return run_group(tests, start, stop);
}
