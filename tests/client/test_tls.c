/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_tls.c - connections that nobody else can read or pretend to be
 */
#include "rf_test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certificates.h"
#include "internal.h"
#include "wire.h"

static redis_server *secure; /* TLS, any client   */
static redis_server *picky;  /* TLS, known clients */
static redis_server *plain;

static int start(void **state)
{
    static const char *const mixed[] = { "--requirepass", "hunter2", NULL };

    (void)state;
    certificates_make();
    secure = secure_server("server.pem", NULL);
    picky = picky_server(NULL);
    plain = redis_server_start(mixed);
    redis_server_login(plain, "hunter2");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(secure);
    redis_server_stop(picky);
    redis_server_stop(plain);
    certificates_remove();
    return 0;
}

static rf_client *open_url(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    if (rf_open(url, &opts, &client) != RF_OK)
        fail_msg("%s: %s", url, rf_message(NULL));
    return client;
}

/* rediss://place:port?cafile=CAFILE and what else. */
static rf_client *open_at(const char *place, int port, const char *cafile,
                          const char *more)
{
    char url[1024];

    snprintf(url, sizeof(url), "rediss://%s:%d?cafile=%s%s", place, port,
             certificate(cafile), more);
    return open_url(url, 5000);
}

static rf_status try_on(rf_client *client, const char *resource)
{
    rf_lock *lock;
    rf_status status = rf_acquire(client, resource, NULL, &lock);

    if (lock != NULL)
        assert_status(rf_release(lock), RF_OK);
    return status;
}

static void succeeds_at(const char *place, int port, const char *cafile,
                        const char *more)
{
    rf_client *client = open_at(place, port, cafile, more);

    if (try_on(client, "r") != RF_OK)
        fail_msg("%s:%d: %s", place, port, rf_message(client));
    rf_close(client);
}

/* With this outcome, and a text that holds this; nothing got through. */
static void fails_at(rf_client *client, rf_status expected, const char *text)
{
    rf_status status = try_on(client, "r");

    if (status != expected || strstr(rf_message(client), text) == NULL)
        fail_msg("%s: %s", rf_status_name(status), rf_message(client));
    assert_null(strstr(rf_message(client), "hunter2"));
    rf_close(client);
}

static long long granted(redis_server *server)
{
    return redis_server_number(server, "GET {lock:v1:r}:fence");
}

/* ---- Servers that are whom they say ---------------------------------------------- */

static void test_server_with_the_right_certificate_is_taken(void **state)
{
    int port = redis_server_port(secure);

    (void)state;
    succeeds_at("127.0.0.1", port, "ca.pem", "");
    succeeds_at("localhost", port, "ca.pem", "");
    succeeds_at("127.0.0.1", port, "ca.pem", "&servername=redis.test");
}

static void test_servername_stands_for_the_host_in_the_certificate(void **state)
{
    redis_server *server = secure_server("elsewhere.pem", NULL);
    int port = redis_server_port(server);

    (void)state;
    succeeds_at("127.0.0.1", port, "ca.pem", "&servername=elsewhere.test");
    succeeds_at("127.0.0.1", port, "ca.pem", "&servername=192.0.2.1");
    fails_at(open_at("127.0.0.1", port, "ca.pem", "&servername=redis.test"),
             RF_MISUSE, "another host");
    redis_server_stop(server);
}

static void test_every_call_works_as_in_the_clear(void **state)
{
    rf_client *client = open_at("127.0.0.1", redis_server_port(secure),
                                "ca.pem", "");
    rf_lock *lock, *pair[2];
    const char *const names[] = { "a", "b" };
    rf_info info;

    (void)state;
    assert_status(rf_acquire(client, "all", NULL, &lock), RF_OK);
    assert_status(rf_renew(lock, 20000), RF_OK);
    assert_status(rf_reissue(lock, 500), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 501);
    assert_status(rf_inspect(client, "all", &info), RF_OK);
    assert_int_equal(info.fence, 501);
    assert_status(rf_release(lock), RF_OK);
    assert_status(rf_acquire_all(client, names, 2, NULL, pair), RF_OK);
    assert_status(rf_release(pair[0]), RF_OK);
    assert_status(rf_release(pair[1]), RF_OK);
    rf_close(client);
}

/* Replies of several records, requests of several segments. */
static void test_long_requests_and_replies_come_whole(void **state)
{
    rf_client *client = open_at("127.0.0.1", redis_server_port(secure),
                                "ca.pem", "");
    char text[RF_ALL_MAX][RF_RESOURCE_MAX + 1];
    const char *names[RF_ALL_MAX];
    rf_lock *locks[RF_ALL_MAX];

    (void)state;
    for (int i = 0; i < RF_ALL_MAX; i++) {
        memset(text[i], 'x', RF_RESOURCE_MAX);
        snprintf(text[i] + RF_RESOURCE_MAX - 4, 5, "%04d", i);
        names[i] = text[i];
    }
    assert_status(rf_acquire_all(client, names, RF_ALL_MAX, NULL, locks),
                  RF_OK);
    for (int i = 0; i < RF_ALL_MAX; i++)
        assert_status(rf_release(locks[i]), RF_OK);
    rf_close(client);
}

static void test_keeper_renews_over_a_connection_of_its_own(void **state)
{
    rf_client *client = open_at("127.0.0.1", redis_server_port(secure),
                                "ca.pem", "");
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.ttl_ms = 1500;
    assert_status(rf_acquire(client, "kept", &opts, &lock), RF_OK);
    assert_status(rf_keep(lock, NULL), RF_OK);
    rf__sleep_until_ms(rf__now_ms() + 1800);
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* A thread that waits for the lock "w". */
typedef struct waiter {
    pthread_t thread;
    rf_client *client;
    rf_status status;
    int64_t took_ms;
} waiter;

static void *wait_for_lock(void *arg)
{
    waiter *w = arg;
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    int64_t begin = test_now_ms();
    rf_lock *lock;

    opts.wait_ms = 20000;
    w->status = rf_acquire(w->client, "w", &opts, &lock);
    w->took_ms = test_now_ms() - begin;
    rf_release(lock);
    return NULL;
}

static void until_blocked(redis_server *server)
{
    int64_t begin = test_now_ms();

    while (strstr(redis_server_command(server, "INFO clients"),
                  "blocked_clients:1") == NULL)
        assert_at_most_ms(begin, 10000);
}

static void waits(void (*end)(waiter *w, rf_lock *lock), rf_status expected)
{
    int port = redis_server_port(secure);
    waiter w = { .client = open_at("127.0.0.1", port, "ca.pem", "") };
    rf_client *holder = open_at("127.0.0.1", port, "ca.pem", "");
    rf_lock *lock;

    assert_status(rf_acquire(holder, "w", NULL, &lock), RF_OK);
    assert_int_equal(pthread_create(&w.thread, NULL, wait_for_lock, &w), 0);
    until_blocked(secure);
    end(&w, lock);
    pthread_join(w.thread, NULL);
    assert_status(w.status, expected);
    assert_in_range(w.took_ms, 0, 10000);
    rf_close(w.client);
    rf_close(holder);
}

static void give_back(waiter *w, rf_lock *lock)
{
    (void)w;
    assert_status(rf_release(lock), RF_OK);
}

static void cancel(waiter *w, rf_lock *lock)
{
    rf_cancel(w->client);
    pthread_join(w->thread, NULL);
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_lock, w), 0);
    until_blocked(secure);
    rf_cancel(w->client);
    pthread_join(w->thread, NULL);
    assert_status(rf_release(lock), RF_OK);
    w->thread = pthread_self();
}

static void test_waiter_is_woken(void **state)
{
    (void)state;
    waits(give_back, RF_OK);
}

/*
 * Twice: the first wait comes with the server's session tickets still on their
 * way, which must not pass for a wake-up that can't be cancelled any more.
 */
static void test_waiter_can_be_cancelled(void **state)
{
    (void)state;
    waits(cancel, RF_TIMEOUT);
}

/* ---- Servers that are not ---------------------------------------------------------- */

static void refused(const char *name, const char *cafile, const char *text)
{
    redis_server *server = secure_server(name, NULL);

    fails_at(open_at("127.0.0.1", redis_server_port(server), cafile, ""),
             RF_MISUSE, text);
    assert_int_equal(granted(server), 0);
    redis_server_stop(server);
}

static void test_certificate_of_another_host_is_refused(void **state)
{
    (void)state;
    /* Its common name would fit: only the alternative names count. */
    refused("elsewhere.pem", "ca.pem", "another host");
}

static void test_certificate_that_has_expired_is_refused(void **state)
{
    (void)state;
    refused("expired.pem", "ca.pem", "expired");
}

static void test_certificate_of_an_unknown_authority_is_refused(void **state)
{
    (void)state;
    refused("server.pem", "other-ca.pem", "not trusted");
}

static void test_certificate_signed_by_itself_is_refused(void **state)
{
    (void)state;
    refused("self.pem", "ca.pem", "signed by itself");
}

static void test_certificate_signed_by_itself_can_be_trusted_by_name(
    void **state)
{
    redis_server *server = secure_server("self.pem", NULL);

    (void)state;
    succeeds_at("127.0.0.1", redis_server_port(server), "self.pem", "");
    redis_server_stop(server);
}

static void test_without_cafile_the_system_is_asked(void **state)
{
    char url[128];

    (void)state;
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d",
             redis_server_port(secure));
    fails_at(open_url(url, 2000), RF_MISUSE, "not trusted");
    setenv("SSL_CERT_FILE", certificate("ca.pem"), 1);
    succeeds_at("127.0.0.1", redis_server_port(secure), "ca.pem", "");
    unsetenv("SSL_CERT_FILE");
}

static void test_server_in_the_clear_gets_no_password(void **state)
{
    char url[256];

    (void)state;
    snprintf(url, sizeof(url), "rediss://:hunter2@127.0.0.1:%d?cafile=%s",
             redis_server_port(plain), certificate("ca.pem"));
    /* It waits for the end of a line, and so do we. */
    fails_at(open_url(url, 500), RF_RETRY, "does it speak TLS?");
    assert_int_equal(granted(plain), 0);
}

static int listen_on_loopback(int *port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static void *answer_in_words(void *arg)
{
    static const char words[] = "-ERR unknown command\r\n";
    char request[1024];
    int fd = accept(*(int *)arg, NULL, NULL);

    if (recv(fd, request, sizeof(request), 0) > 0)
        send(fd, words, sizeof(words) - 1, MSG_NOSIGNAL);
    /* Until the other side has read it: no reset on the way. */
    while (recv(fd, request, sizeof(request), 0) > 0)
        continue;
    close(fd);
    return NULL;
}

static void test_server_that_answers_in_words_does_not_speak_tls(void **state)
{
    pthread_t thread;
    char url[128];
    int port, fd = listen_on_loopback(&port);

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, answer_in_words, &fd), 0);
    snprintf(url, sizeof(url), "rediss://:hunter2@127.0.0.1:%d", port);
    fails_at(open_url(url, 5000), RF_MISUSE, "does not speak TLS");
    pthread_join(thread, NULL);
    close(fd);
}

static void test_plain_client_at_a_tls_port_is_told(void **state)
{
    rf_client *client;
    rf_info info;
    char url[128];

    (void)state;
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(secure));
    client = open_url(url, 2000);
    assert_status(rf_inspect(client, "r", &info), RF_RETRY);
    assert_non_null(strstr(rf_message(client), "rediss"));
    rf_close(client);
    snprintf(url, sizeof(url), "redis://:hunter2@127.0.0.1:%d",
             redis_server_port(secure));
    fails_at(open_url(url, 2000), RF_RETRY, "rediss");
}

static void test_server_without_tls_1_2_is_refused(void **state)
{
    static const char *const old[] = { "--tls-protocols", "TLSv1.1",
                                       "--tls-ciphers", "DEFAULT:@SECLEVEL=0",
                                       NULL };
    redis_server *server = secure_server("server.pem", old);

    (void)state;
    fails_at(open_at("127.0.0.1", redis_server_port(server), "ca.pem", ""),
             RF_MISUSE, "TLS 1.2");
    redis_server_stop(server);
}

static void test_wrong_password_is_told_without_it(void **state)
{
    char url[256];

    (void)state;
    redis_server_command(secure, "CONFIG SET requirepass other");
    snprintf(url, sizeof(url), "rediss://:hunter2@127.0.0.1:%d?cafile=%s",
             redis_server_port(secure), certificate("ca.pem"));
    fails_at(open_url(url, 2000), RF_MISUSE, "WRONGPASS");
    fails_at(open_at("127.0.0.1", redis_server_port(secure), "ca.pem", ""),
             RF_MISUSE, "NOAUTH");
    redis_server_command(secure, "AUTH other");
    redis_server_command(secure, "CONFIG SET requirepass %s", "");
}

/* ---- Clients that have to say who they are ------------------------------------------ */

static void shows(const char *cert, const char *key, rf_status expected,
                  const char *text)
{
    char more[512] = "";
    rf_client *client;

    if (cert[0] != '\0')
        snprintf(more, sizeof(more), "&certfile=%s&keyfile=%s",
                 certificate(cert), certificate(key));
    client = open_at("127.0.0.1", redis_server_port(picky), "ca.pem", more);
    if (expected != RF_OK) {
        fails_at(client, expected, text);
        return;
    }
    if (try_on(client, "known") != RF_OK)
        fail_msg("%s", rf_message(client));
    rf_close(client);
}

static void test_client_shows_the_certificate_that_is_demanded(void **state)
{
    (void)state;
    shows("client.pem", "key.pem", RF_OK, "");
    shows("", "", RF_MISUSE, "wants a certificate of ours");
    shows("stranger.pem", "key.pem", RF_MISUSE, "not accept our certificate");
    assert_int_equal(granted(picky), 0);
}

static void test_client_certificates_work_with_tls_1_2(void **state)
{
    static const char *const older[] = { "--tls-protocols", "TLSv1.2", NULL };
    redis_server *now = picky;

    (void)state;
    picky = picky_server(older);
    shows("client.pem", "key.pem", RF_OK, "");
    shows("", "", RF_MISUSE, "wants a certificate of ours");
    shows("stranger.pem", "key.pem", RF_MISUSE, "not accept our certificate");
    assert_int_equal(granted(picky), 0);
    redis_server_stop(picky);
    picky = now;
}

static void test_database_is_chosen_over_tls(void **state)
{
    rf_client *client;
    char url[512];

    (void)state;
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d/3?cafile=%s",
             redis_server_port(secure), certificate("ca.pem"));
    redis_server_command(secure, "FLUSHALL");
    client = open_url(url, 5000);
    assert_status(try_on(client, "r"), RF_OK);
    rf_close(client);
    assert_int_equal(redis_server_number(secure, "DBSIZE"), 0);
    redis_server_command(secure, "SELECT 3");
    assert_int_equal(granted(secure), 1);
    redis_server_command(secure, "SELECT 0");
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d/999?cafile=%s",
             redis_server_port(secure), certificate("ca.pem"));
    fails_at(open_url(url, 5000), RF_MISUSE, "database");
}

static void test_user_without_ping_is_let_in(void **state)
{
    (void)state;
    redis_server_command(secure, "ACL SETUSER default -ping");
    succeeds_at("127.0.0.1", redis_server_port(secure), "ca.pem", "");
    redis_server_command(secure, "ACL SETUSER default +ping");
}

static void not_opened(const char *query, const char *text)
{
    char url[512];
    rf_client *client;

    snprintf(url, sizeof(url), "rediss://:hunter2@127.0.0.1?%s", query);
    assert_status(rf_open(url, NULL, &client), RF_MISUSE);
    assert_null(client);
    if (strstr(rf_message(NULL), text) == NULL)
        fail_msg("%s", rf_message(NULL));
    assert_null(strstr(rf_message(NULL), "hunter2"));
}

static void test_files_that_are_no_good_are_misuse_at_open(void **state)
{
    char query[300];

    (void)state;
    not_opened("cafile=/nowhere/ca.pem", "cafile");
    snprintf(query, sizeof(query), "cafile=%s", certificate("key.pem"));
    not_opened(query, "cafile");
    not_opened("certfile=/nowhere/c.pem", "certfile");
    snprintf(query, sizeof(query), "certfile=%s&keyfile=%s",
             certificate("client.pem"), certificate("other.pem"));
    not_opened(query, "does not belong");
    /* Nobody is asked for the passphrase. */
    snprintf(query, sizeof(query), "certfile=%s&keyfile=%s",
             certificate("client.pem"), certificate("locked.pem"));
    not_opened(query, "passphrase");
    /* One file may hold both; this one does not. */
    snprintf(query, sizeof(query), "certfile=%s", certificate("client.pem"));
    not_opened(query, "key");
}

/* ---- Lines that fail ------------------------------------------------------------------- */

static void test_silence_in_the_handshake_keeps_the_deadline(void **state)
{
    /* The kernel accepts; nobody ever answers. */
    int port, fd = listen_on_loopback(&port);
    rf_client *client;
    char url[128];
    int64_t begin;

    (void)state;
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d", port);
    client = open_url(url, 300);
    begin = test_now_ms();
    fails_at(client, RF_RETRY, "TLS handshake in time");
    assert_at_least_ms(begin, 295);
    assert_at_most_ms(begin, 3000);
    close(fd);
}

/*
 * Everywhere up to the last byte of a first lock: what is cut in the handshake
 * never reached Redis, and what is cut later is looked up by asking again.
 */
static void test_line_cut_at_any_byte_leaves_no_doubt(void **state)
{
    wire *w = wire_start(redis_server_port(secure));
    rf_client *client;
    long total, handshake;

    (void)state;
    client = open_at("127.0.0.1", wire_port(w), "ca.pem", "");
    assert_status(try_on(client, "cut"), RF_OK);
    rf_close(client);
    total = wire_bytes(w);
    /* Certificate and all: whatever else there is, this is all handshake. */
    handshake = 400;
    assert_true(total > 1000);
    for (long at = 0; at < total; at += at < 20 ? 1 : 61) {
        rf_status status;
        rf_lock *lock;

        wire_set(w, WIRE_CUT, at);
        client = open_at("127.0.0.1", wire_port(w), "ca.pem", "");
        redis_server_command(secure, "DEL {lock:v1:cut}");
        status = rf_acquire(client, "cut", NULL, &lock);
        if (at < handshake)
            assert_status(status, RF_RETRY);
        else if (status != RF_RETRY && status != RF_UNKNOWN && status != RF_OK)
            fail_msg("%ld of %ld: %s", at, total, rf_message(client));
        rf_release(lock);
        rf_close(client);
    }
    wire_stop(w);
}

static void test_line_that_falls_silent_at_any_byte_keeps_the_deadline(
    void **state)
{
    wire *w = wire_start(redis_server_port(secure));
    char url[256];

    (void)state;
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d?cafile=%s", wire_port(w),
             certificate("ca.pem"));
    for (long at = 0; at < 1600; at += 223) {
        rf_client *client = open_url(url, 60);
        int64_t begin = test_now_ms();
        rf_status status;

        wire_set(w, WIRE_SILENT, at);
        redis_server_command(secure, "DEL {lock:v1:silent}");
        status = try_on(client, "silent");
        assert_at_most_ms(begin, 1000);
        if (status != RF_RETRY && status != RF_UNKNOWN)
            fail_msg("%ld: %s", at, rf_status_name(status));
        rf_close(client);
    }
    wire_stop(w);
}

static void test_bytes_may_come_one_by_one(void **state)
{
    wire *w = wire_start(redis_server_port(secure));

    (void)state;
    wire_set(w, WIRE_DRIBBLE, 0);
    succeeds_at("127.0.0.1", wire_port(w), "ca.pem", "");
    wire_stop(w);
}

/* As many locks, with names as long, as take several records. */
static rf_status try_many_on(rf_client *client)
{
    static char name[RF_ALL_MAX][RF_RESOURCE_MAX + 1];
    const char *names[RF_ALL_MAX];
    rf_lock *locks[RF_ALL_MAX];
    rf_status status;

    for (int i = 0; i < RF_ALL_MAX; i++) {
        snprintf(name[i], sizeof(name[i]), "%0*d", RF_RESOURCE_MAX, i);
        names[i] = name[i];
    }
    status = rf_acquire_all(client, names, RF_ALL_MAX, NULL, locks);
    rf_release_all(locks, RF_ALL_MAX);
    return status;
}

/*
 * With SIGPIPE as it is by default, which would end the program.  What follows
 * the first record meets a connection that the server's system has refused.
 */
static void test_server_that_is_gone_is_no_signal(void **state)
{
    redis_server *server = secure_server("server.pem", NULL);
    rf_client *client = open_at("127.0.0.1", redis_server_port(server),
                                "ca.pem", "");

    (void)state;
    assert_status(try_on(client, "r"), RF_OK);
    redis_server_restart(server);
    for (int i = 0; i < 3; i++)
        try_on(client, "r");
    assert_status(try_on(client, "r"), RF_OK);
    redis_server_restart(server);
    try_many_on(client);
    assert_status(try_many_on(client), RF_OK);
    rf_close(client);
    redis_server_stop(server);
}

static void test_forked_child_leaves_the_parents_connection_alone(void **state)
{
    wire *w = wire_start(redis_server_port(secure));
    rf_client *client = open_at("127.0.0.1", wire_port(w), "ca.pem", "");
    /* By a pipe: valgrind has a say in how a child ends. */
    int result[2];
    char told;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(result), 0);
    assert_status(try_on(client, "fork"), RF_OK);
    assert_int_equal(wire_connections(w), 1);
    child = fork();
    if (child == 0) {
        char first = (char)try_on(client, "fork");

        rf_close(client);
        _exit(write(result[1], &first, 1) == 1 ? 0 : 1);
    }
    close(result[1]);
    assert_int_equal(read(result[0], &told, 1), 1);
    assert_status((rf_status)told, RF_OK);
    close(result[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(wire_connections(w), 2);
    assert_status(try_on(client, "fork"), RF_OK);
    assert_int_equal(wire_connections(w), 2);
    rf_close(client);
    wire_stop(w);
}

static void test_clients_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 150; i++)
        rf_close(open_at("127.0.0.1", 1, "ca.pem", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_with_the_right_certificate_is_taken),
        cmocka_unit_test(
            test_servername_stands_for_the_host_in_the_certificate),
        cmocka_unit_test(test_every_call_works_as_in_the_clear),
        cmocka_unit_test(test_long_requests_and_replies_come_whole),
        cmocka_unit_test(test_keeper_renews_over_a_connection_of_its_own),
        cmocka_unit_test(test_waiter_is_woken),
        cmocka_unit_test(test_waiter_can_be_cancelled),
        cmocka_unit_test(test_certificate_of_another_host_is_refused),
        cmocka_unit_test(test_certificate_that_has_expired_is_refused),
        cmocka_unit_test(test_certificate_of_an_unknown_authority_is_refused),
        cmocka_unit_test(test_certificate_signed_by_itself_is_refused),
        cmocka_unit_test(
            test_certificate_signed_by_itself_can_be_trusted_by_name),
        cmocka_unit_test(test_without_cafile_the_system_is_asked),
        cmocka_unit_test(test_server_in_the_clear_gets_no_password),
        cmocka_unit_test(test_server_that_answers_in_words_does_not_speak_tls),
        cmocka_unit_test(test_plain_client_at_a_tls_port_is_told),
        cmocka_unit_test(test_server_without_tls_1_2_is_refused),
        cmocka_unit_test(test_wrong_password_is_told_without_it),
        cmocka_unit_test(test_client_shows_the_certificate_that_is_demanded),
        cmocka_unit_test(test_client_certificates_work_with_tls_1_2),
        cmocka_unit_test(test_database_is_chosen_over_tls),
        cmocka_unit_test(test_user_without_ping_is_let_in),
        cmocka_unit_test(test_files_that_are_no_good_are_misuse_at_open),
        cmocka_unit_test(test_silence_in_the_handshake_keeps_the_deadline),
        cmocka_unit_test(test_line_cut_at_any_byte_leaves_no_doubt),
        cmocka_unit_test(
            test_line_that_falls_silent_at_any_byte_keeps_the_deadline),
        cmocka_unit_test(test_bytes_may_come_one_by_one),
        cmocka_unit_test(test_server_that_is_gone_is_no_signal),
        cmocka_unit_test(test_forked_child_leaves_the_parents_connection_alone),
        cmocka_unit_test(test_clients_come_and_go),
    };

    return run_group(tests, start, stop);
}
