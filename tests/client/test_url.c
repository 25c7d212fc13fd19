/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_url.c - URLs of the lock service: strict, and silent about passwords
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "url.h"

static rf__service service;
static rf__url url; /* of a service in one place */
static rf__error failure;

static void accepts(const char *text)
{
    failure.text[0] = '\0';
    assert_status(rf__service_parse(text, &service, &failure), RF_OK);
    assert_int_equal(service.topology, RF__SINGLE);
    url = service.node[0];
}

static void refuses(const char *text)
{
    failure.text[0] = '\0';
    if (rf__service_parse(text, &service, &failure) != RF_MISUSE)
        fail_msg("%s is taken", text);
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
        "redis://%4:p@h",
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
        "redis+unix:///run/r.sock?db=1&db=1",
        "redis+unix:///run/r.sock?db",
        "redis+unix:///run/r.sock?",
        "rediss+unix:///run/r.sock",
        "redis://h?cafile=/ca.pem",
        "rediss://h?",
        "rediss://h?cafile",
        "rediss://h?cafile=",
        "rediss://h?cafile=/a&",
        "rediss://h?cafile=/a&cafile=/a",
        "rediss://h?cafile=%zz",
        "rediss://h?CAFILE=/a",
        "rediss://h?verify=none",
        "rediss://h?keyfile=/key.pem",
        "rediss://h?sentinel=:p",
        "rediss://h?db=1",
        "redlock://a,b,c?cafile=/a",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuses(bad[i]);
}

static void test_only_tls_schemes_ask_for_tls(void **state)
{
    static const char *const secure[] = { "rediss://h", "rediss+sentinel://s/m",
                                          "rediss+cluster://h",
                                          "redlocks://a,b,c" };
    static const char *const clear[] = { "redis://h", "redis+unix:///s",
                                         "redis+sentinel://s/m",
                                         "redis+cluster://h",
                                         "redlock://a,b,c" };

    (void)state;
    for (size_t i = 0; i < sizeof(secure) / sizeof(secure[0]); i++) {
        assert_status(rf__service_parse(secure[i], &service, &failure), RF_OK);
        assert_true(service.secure);
        assert_string_equal(service.tls.cafile, "");
    }
    for (size_t i = 0; i < sizeof(clear) / sizeof(clear[0]); i++) {
        assert_status(rf__service_parse(clear[i], &service, &failure), RF_OK);
        assert_false(service.secure);
    }
}

static void test_files_of_tls_are_decoded(void **state)
{
    (void)state;
    accepts("rediss://u:p@h:7/2?cafile=/a%26b.pem&certfile=c.pem&keyfile=k.pem"
            "&servername=db.example");
    assert_int_equal(url.db, 2);
    assert_int_equal(url.port, 7);
    assert_string_equal(url.password, "p");
    assert_string_equal(service.tls.cafile, "/a&b.pem");
    assert_string_equal(service.tls.certfile, "c.pem");
    assert_string_equal(service.tls.keyfile, "k.pem");
    assert_string_equal(service.tls.servername, "db.example");
    assert_status(rf__service_parse("rediss+sentinel://s/m/3?cafile=/ca.pem&"
                                    "sentinel=u:p",
                                    &service, &failure),
                  RF_OK);
    assert_string_equal(service.tls.cafile, "/ca.pem");
    assert_string_equal(service.node[0].password, "p");
    assert_int_equal(service.data.db, 3);
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
        "rediss://u:hunter2@h?x",
        "rediss://u:hunter2@h?cafile=hunter2%",
        "redis+sentinel://s/m?sentinel=hunter2",
        "redlocks://u:hunter2@a,b",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        refuses(bad[i]);
        assert_null(strstr(failure.text, "hunter2"));
    }
}

/* ---- Several places --------------------------------------------------------- */

static void accepts_service(const char *text, rf__topology topology, size_t n)
{
    failure.text[0] = '\0';
    assert_status(rf__service_parse(text, &service, &failure), RF_OK);
    assert_int_equal(service.topology, topology);
    assert_int_equal(service.n, n);
}

static void test_sentinels_have_their_own_user(void **state)
{
    (void)state;
    accepts_service("redis+sentinel://a%3Ab:p%40@s1,s2:7,[::1]:8/m%2Fx/3"
                    "?sentinel=watch:w%20",
                    RF__SENTINEL, 3);
    assert_string_equal(service.data.user, "a:b");
    assert_string_equal(service.data.password, "p@");
    assert_int_equal(service.data.db, 3);
    assert_string_equal(service.name, "m/x");
    assert_string_equal(service.node[0].host, "s1");
    assert_int_equal(service.node[0].port, 26379);
    assert_int_equal(service.node[1].port, 7);
    assert_string_equal(service.node[2].host, "::1");
    assert_int_equal(service.node[2].port, 8);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(service.node[i].user, "watch");
        assert_string_equal(service.node[i].password, "w ");
    }
    accepts_service("redis+sentinel://s/m", RF__SENTINEL, 1);
    assert_string_equal(service.node[0].password, "");
    assert_string_equal(service.data.password, "");
}

static void test_cluster_and_quorum_share_one_user(void **state)
{
    (void)state;
    accepts_service("redis+cluster://u:p@a:1,b:2", RF__CLUSTER, 2);
    assert_string_equal(service.node[1].host, "b");
    assert_string_equal(service.node[1].user, "u");
    accepts_service("redlock://:p@a,b,c", RF__QUORUM, 3);
    assert_int_equal(service.node[2].port, 6379);
    assert_string_equal(service.node[2].password, "p");
    accepts_service("redis://h:1/2", RF__SINGLE, 1);
    assert_int_equal(service.node[0].db, 2);
}

static void test_zookeeper_is_asked_below_a_node(void **state)
{
    (void)state;
    accepts_service("zookeeper://u:p@a,b:2182,[::1]/x/y?base=12", RF__ZOOKEEPER,
                    3);
    assert_string_equal(service.name, "x/y");
    assert_true(service.base == 12);
    assert_string_equal(service.node[0].user, "u");
    assert_int_equal(service.node[0].port, 2181);
    assert_int_equal(service.node[1].port, 2182);
    assert_string_equal(service.node[2].host, "::1");
    accepts_service("zookeeper://a/", RF__ZOOKEEPER, 1);
    assert_string_equal(service.name, "");
}

static void test_malformed_places_are_misuse(void **state)
{
    static const char *const bad[] = {
        "redlock://a,b",     /* no majority of two worth having  */
        "redlock://a,b,c,d", /* nor a better one of four         */
        "redlock://a,b,a",   /* one master counted twice         */
        "redlock://a,b,c/1",
        "redlock://a,,c",
        "redlock://a,b,",
        "redlock://a,b,c,d,e,f,g,h,i,j,k",
        "redis+cluster://",
        "zookeeper://",
        "zookeeper://a//x",
        "zookeeper://a/x/",
        "zookeeper://a/x//y",
        "zookeeper://:p@a",     /* a digest has a user     */
        "zookeeper://u%3A:p@a", /* and one colon           */
        "zookeeper://a?base=-1",
        "zookeeper://a?cafile=x", /* its client has no TLS */
        "zookeepers://a",
        "etcd://a/x", /* etcd has no places below */
        "etcd://a?base=x",
        "etcd://a?cafile=/x",
        "redis+cluster://a/1",
        "redis+cluster://a:0",
        "redis+sentinel://a",
        "redis+sentinel://a/",
        "redis+sentinel://a/m/x",
        "redis+sentinel://a/m?x",
        "redis+sentinel://a/m?sentinel=word",
        "redis+sentinel://a/m?sentinel=u:",
        "redis+cluster://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        failure.text[0] = '\0';
        if (rf__service_parse(bad[i], &service, &failure) != RF_MISUSE)
            fail_msg("%s is taken", bad[i]);
        assert_true(strlen(failure.text) > 10);
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
        cmocka_unit_test(test_only_tls_schemes_ask_for_tls),
        cmocka_unit_test(test_files_of_tls_are_decoded),
        cmocka_unit_test(test_no_message_quotes_the_url),
        cmocka_unit_test(test_sentinels_have_their_own_user),
        cmocka_unit_test(test_cluster_and_quorum_share_one_user),
        cmocka_unit_test(test_zookeeper_is_asked_below_a_node),
        cmocka_unit_test(test_malformed_places_are_misuse),
    };

    return run_group(tests, NULL, NULL);
}
