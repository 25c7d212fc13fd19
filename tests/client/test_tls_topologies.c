/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_tls_topologies.c - TLS to every server there is, in every kind of service
 */
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

#include "certificates.h"
#include "internal.h"
#include "redis_topology.h"

static int start(void **state)
{
    (void)state;
    certificates_make();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    certificates_remove();
    return 0;
}

static rf_client *open_url(const char *url)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = 5000;
    if (rf_open(url, &opts, &client) != RF_OK)
        fail_msg("%s", rf_message(NULL));
    return client;
}

static uint64_t renewals(const rf_client *client)
{
    rf_stats stats;

    rf_get_stats(client, &stats);
    return stats.calls[RF_CALL_RENEW][RF_OK];
}

/* Takes locks of several slots, and lets a keeper keep one. */
static void works(const char *url)
{
    rf_client *client = open_url(url);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    for (int i = 0; i < 6; i++) {
        char name[8];

        snprintf(name, sizeof(name), "r%d", i);
        if (rf_acquire(client, name, NULL, &lock) != RF_OK)
            fail_msg("%s", rf_message(client));
        assert_status(rf_release(lock), RF_OK);
    }
    opts.ttl_ms = 3000;
    assert_status(rf_acquire(client, "kept", &opts, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    wait_until(renewals(client) > 0);
    assert_true(rf_lock_fence(lock) > 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void refuses(const char *url, rf_status expected, const char *text)
{
    rf_client *client = open_url(url);
    rf_lock *lock;
    rf_status status = rf_acquire(client, "r", NULL, &lock);

    assert_null(lock);
    if (status != expected || !strstr(rf_message(client), text))
        fail_msg("%s: %s", rf_status_name(status), rf_message(client));
    rf_close(client);
}

/* The same servers, but not those that this authority vouches for. */
static void is_refused(const char *url)
{
    refuses(url, RF_MISUSE, "not trusted");
}

static void test_sentinels_and_the_master_they_name(void **state)
{
    redis_sentinels *s = redis_sentinels_start_with(secure_options());
    char url[512];

    (void)state;
    for (int trusted = 0; trusted < 2; trusted++) {
        snprintf(url, sizeof(url),
                 "rediss+sentinel://:data@127.0.0.1:%d,127.0.0.1:%d/main"
                 "?sentinel=:watch&cafile=%s",
                 redis_server_port(s->sentinel[0]),
                 redis_server_port(s->sentinel[1]),
                 certificate(trusted ? "ca.pem" : "other-ca.pem"));
        if (trusted)
            works(url);
        else
            is_refused(url);
    }
    redis_sentinels_stop(s);
}

/* A sentinel in the clear, or one that lies, can't lead to a server in the clear. */
static void test_master_in_the_clear_is_not_talked_to(void **state)
{
    redis_server *plain = redis_server_start(NULL);
    const char *options[14] = { "--sentinel" };
    const char *const *more = secure_options();
    redis_server *sentinel;
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;
    char config[256], url[512];

    (void)state;
    for (int i = 1; *more != NULL; i++, more++) {
        /* It watches its master in the clear. */
        options[i] = strcmp(more[0], "yes") == 0 ? "no" : more[0];
    }
    snprintf(config, sizeof(config), "sentinel monitor main 127.0.0.1 %d 1\n",
             redis_server_port(plain));
    sentinel = redis_server_start_with(config, options);
    snprintf(url, sizeof(url), "rediss+sentinel://127.0.0.1:%d/main?cafile=%s",
             redis_server_port(sentinel), certificate("ca.pem"));
    opts.timeout_ms = 600;
    assert_status(rf_open(url, &opts, &client), RF_OK);
    /* The text is of the last try, which may have run out of time. */
    do
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_RETRY);
    while (strstr(rf_message(client), "does it speak TLS?") == NULL);
    assert_int_equal(redis_server_number(plain, "DBSIZE"), 0);
    rf_close(client);
    redis_server_stop(sentinel);
    redis_server_stop(plain);
}

/* What it is asked for is its role, and that is answer enough. */
static void test_master_without_a_password_is_asked_what_it_is(void **state)
{
    redis_server *master = secure_server("server.pem", NULL), *sentinel;
    const char *options[14] = { "--sentinel" };
    const char *const *more = secure_options();
    rf_client *client;
    rf_lock *lock;
    char config[128], url[512];

    (void)state;
    for (int i = 1; *more != NULL; i++, more++)
        options[i] = *more;
    snprintf(config, sizeof(config), "sentinel monitor main 127.0.0.1 %d 1\n",
             redis_server_port(master));
    sentinel = redis_server_start_with(config, options);
    snprintf(url, sizeof(url), "rediss+sentinel://127.0.0.1:%d/main?cafile=%s",
             redis_server_port(sentinel), certificate("ca.pem"));
    works(url);
    redis_server_command(master, "REPLICAOF 127.0.0.1 1");
    client = open_url(url);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_RETRY);
    rf_close(client);
    redis_server_stop(sentinel);
    redis_server_stop(master);
}

static void test_all_nodes_of_a_cluster(void **state)
{
    redis_cluster *c = redis_cluster_start_with(secure_options());
    char url[512];

    (void)state;
    for (int trusted = 0; trusted < 2; trusted++) {
        snprintf(url, sizeof(url), "rediss+cluster://127.0.0.1:%d?cafile=%s",
                 redis_server_port(c->node[0]),
                 certificate(trusted ? "ca.pem" : "other-ca.pem"));
        if (trusted)
            works(url);
        else
            is_refused(url);
    }
    redis_cluster_stop(c);
}

static void quorum_url(char *url, size_t size, redis_server *const *node,
                       const char *cafile)
{
    snprintf(url, size,
             "redlocks://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d?cafile=%s",
             redis_server_port(node[0]), redis_server_port(node[1]),
             redis_server_port(node[2]), certificate(cafile));
}

static void test_all_masters_of_a_quorum(void **state)
{
    redis_server *node[3];
    rf_client *client;
    rf_lock *lock;
    char url[512];

    (void)state;
    for (int i = 0; i < 3; i++)
        node[i] = secure_server("server.pem", NULL);
    quorum_url(url, sizeof(url), node, "other-ca.pem");
    is_refused(url);
    quorum_url(url, sizeof(url), node, "ca.pem");
    works(url);

    /* One whose certificate is no good is one that is missing. */
    redis_server_stop(node[2]);
    node[2] = secure_server("expired.pem", NULL);
    quorum_url(url, sizeof(url), node, "ca.pem");
    works(url);
    assert_int_equal(redis_server_number(node[2], "DBSIZE"), 0);

    /* One that hangs in the middle of a handshake is one as well. */
    client = open_url(url);
    redis_server_freeze(node[1]);
    redis_server_stop(node[2]);
    node[2] = secure_server("server.pem", NULL);
    rf_close(client);
    quorum_url(url, sizeof(url), node, "ca.pem");
    client = open_url(url);
    assert_status(rf_acquire(client, "hang", NULL, &lock), RF_OK);
    redis_server_thaw(node[1]);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    for (int i = 0; i < 3; i++)
        redis_server_stop(node[i]);
}

/* As from a single server: a person must look, whichever way it is told. */
static void test_masters_that_want_another_certificate_are_misuse(void **state)
{
    static const char *const older[] = { "--tls-protocols", "TLSv1.2", NULL };
    const char *const *const options[] = { NULL, older };
    redis_server *node[3];
    rf_client *client;
    rf_lock *lock;
    char url[512], ours[1024];

    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        for (int i = 0; i < 3; i++)
            node[i] = picky_server(options[tls]);
        quorum_url(url, sizeof(url), node, "ca.pem");
        refuses(url, RF_MISUSE, "wants a certificate of ours");
        snprintf(ours, sizeof(ours), "%s&certfile=%s&keyfile=%s", url,
                 certificate("stranger.pem"), certificate("key.pem"));
        refuses(ours, RF_MISUSE, "not accept our certificate");
        for (int i = 0; i < 3; i++)
            assert_int_equal(redis_server_number(node[i], "DBSIZE"), 0);
        snprintf(ours, sizeof(ours), "%s&certfile=%s&keyfile=%s", url,
                 certificate("client.pem"), certificate("key.pem"));
        client = open_url(ours);
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        rf_close(client);
        for (int i = 0; i < 3; i++)
            redis_server_stop(node[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentinels_and_the_master_they_name),
        cmocka_unit_test(test_master_in_the_clear_is_not_talked_to),
        cmocka_unit_test(test_master_without_a_password_is_asked_what_it_is),
        cmocka_unit_test(test_all_nodes_of_a_cluster),
        cmocka_unit_test(test_all_masters_of_a_quorum),
        cmocka_unit_test(test_masters_that_want_another_certificate_are_misuse),
    };

    return run_group(tests, start, stop);
}
