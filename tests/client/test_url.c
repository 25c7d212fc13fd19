/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_url.c - URLs of the lock service: strict, and silent about passwords
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "url.h"

static rf__url url;
static rf__error failure;

static void accepts(const char *text)
{
    failure.text[0] = '\0';
    assert_status(rf__url_parse(text, &url, &failure), RF_OK);
}

static void refuses(const char *text)
{
    failure.text[0] = '\0';
    assert_status(rf__url_parse(text, &url, &failure), RF_MISUSE);
    assert_true(strlen(failure.text) > 10);
}

static void test_host_alone_means_port_6379_and_database_0(void **state)
{
    (void)state;
    accepts("redis://db.example");
    assert_string_equal(url.host, "db.example");
    assert_int_equal(url.port, 6379);
    assert_int_equal(url.db, 0);
    assert_string_equal(url.user, "");
    assert_string_equal(url.password, "");
    assert_string_equal(url.path, "");
    accepts("redis://db.example/");
    assert_int_equal(url.db, 0);
}

static void test_all_parts_are_taken_apart(void **state)
{
    (void)state;
    accepts("redis://app:secret@10.0.0.1:7000/5");
    assert_string_equal(url.user, "app");
    assert_string_equal(url.password, "secret");
    assert_string_equal(url.host, "10.0.0.1");
    assert_int_equal(url.port, 7000);
    assert_int_equal(url.db, 5);
}

static void test_password_without_user(void **state)
{
    (void)state;
    accepts("redis://:secret@h");
    assert_string_equal(url.user, "");
    assert_string_equal(url.password, "secret");
}

static void test_ipv6_stands_in_brackets(void **state)
{
    (void)state;
    accepts("redis://[::1]:7000/1");
    assert_string_equal(url.host, "::1");
    assert_int_equal(url.port, 7000);
    assert_int_equal(url.db, 1);
    accepts("redis://[fe80::1]");
    assert_int_equal(url.port, 6379);
}

static void test_user_password_and_path_are_decoded(void **state)
{
    (void)state;
    accepts("redis://a%3Ab:p%40ss%2fword%25@h");
    assert_string_equal(url.user, "a:b");
    assert_string_equal(url.password, "p@ss/word%");
    accepts("redis+unix:///run/a%3Fb/%C3%BC.sock");
    assert_string_equal(url.path, "/run/a?b/\xc3\xbc.sock");
}

static void test_unix_socket_with_login_and_database(void **state)
{
    (void)state;
    accepts("redis+unix://app:secret@/run/redis.sock?db=3");
    assert_string_equal(url.path, "/run/redis.sock");
    assert_string_equal(url.user, "app");
    assert_string_equal(url.password, "secret");
    assert_int_equal(url.db, 3);
    assert_string_equal(url.host, "");
}

static void test_longest_parts_fit(void **state)
{
    char text[1200], part[600];

    (void)state;
    memset(part, 'a', sizeof(part));
    part[255] = '\0';
    snprintf(text, sizeof(text), "redis://%s", part);
    accepts(text);
    part[255] = 'a', part[256] = '\0';
    snprintf(text, sizeof(text), "redis://%s", part);
    refuses(text);
    part[256] = 'a', part[511] = '\0';
    snprintf(text, sizeof(text), "redis://:%s@h", part);
    accepts(text);
    part[511] = 'a', part[512] = '\0';
    snprintf(text, sizeof(text), "redis://:%s@h", part);
    refuses(text);
    part[0] = '/', part[107] = '\0';
    snprintf(text, sizeof(text), "redis+unix://%s", part);
    accepts(text);
    part[107] = 'a', part[108] = '\0';
    snprintf(text, sizeof(text), "redis+unix://%s", part);
    refuses(text);
}

static void test_malformed_urls_are_misuse(void **state)
{
    static const char *const bad[] = {
        "",
        "redis",
        "redis:",
        "redis:/",
        "redis://",
        "redis:///",
        "redis:///0",
        "REDIS://h",
        " redis://h",
        "redis://h ",
        "http://h",
        "h:6379",
        "redis://:6379",
        "redis://h:",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:-1",
        "redis://h:06379",
        "redis://h:6379x",
        "redis://h:99999999999999999999",
        "redis://h:6379/x",
        "redis://h/01",
        "redis://h/-1",
        "redis://h/1/",
        "redis://h/1?x=y",
        "redis://h?db=1",
        "redis://h#1",
        "redis://h,i",
        "redis://a b",
        "redis://h\n",
        "redis://\xc3\xbc.example",
        "redis://user@h",
        "redis://user:@h",
        "redis://:@h",
        "redis://@h",
        "redis://u:p@@h",
        "redis://u:p@q@h",
        "redis://u:%4@h",
        "redis://u:%zz@h",
        "redis://u:%@h",
        "redis://u:a%00b@h",
        "redis://u:a%0ab@h",
        "redis://[::1",
        "redis://[]",
        "redis://[::g]",
        "redis://[::1]x",
        "redis://::1",
        "redis+unix://",
        "redis+unix://run/redis.sock",
        "redis+unix:///run/r.sock?db=",
        "redis+unix:///run/r.sock?db=x",
        "redis+unix:///run/r.sock?database=1",
        "redis+unix:///run/r.sock?db=1&x=2",
        "redis+unix:///run/%00.sock",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(bad[i]);
}

static void test_tls_is_refused_in_clear_words_without_it(void **state)
{
    (void)state;
    refuses("rediss://h");
    assert_non_null(strstr(failure.text, "TLS"));
}

static void test_no_message_quotes_the_url(void **state)
{
    static const char *const bad[] = {
        "redis://user:hunter2@",
        "redis://user:hunter2@h:0",
        "redis://hunter2@h",
        "redis://user:hunter2@h/x",
        "redis://user:hunter2%@h",
        "redis+unix://u:hunter2@run",
        "hunter2",
        "redis://h:hunter2",
        "redis://u:hunter2@hunter2@h",
        "rediss://u:hunter2@h",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        refuses(bad[i]);
        assert_null(strstr(failure.text, "hunter2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_alone_means_port_6379_and_database_0),
        cmocka_unit_test(test_all_parts_are_taken_apart),
        cmocka_unit_test(test_password_without_user),
        cmocka_unit_test(test_ipv6_stands_in_brackets),
        cmocka_unit_test(test_user_password_and_path_are_decoded),
        cmocka_unit_test(test_unix_socket_with_login_and_database),
        cmocka_unit_test(test_longest_parts_fit),
        cmocka_unit_test(test_malformed_urls_are_misuse),
        cmocka_unit_test(test_tls_is_refused_in_clear_words_without_it),
        cmocka_unit_test(test_no_message_quotes_the_url),
    };

    return run_group(tests, NULL, NULL);
}
