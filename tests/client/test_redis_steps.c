/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_redis_steps.c - a connection that is never waited for
 *
 * The linker puts a resolver of our own in the place of the system's: it knows
 * a name that has several addresses.
 */
#include "redis_world.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis.h"
#include "temp_folder.h"
#include "url.h"
#include "wake.h"

static rf__error error;

static rf__redis *new_to(const char *text)
{
    rf__service where;
    rf__redis *r;

    assert_status(rf__service_parse(text, &where, &error), RF_OK);
    r = rf__redis_new(&where.node[0], 1000);
    assert_non_null(r);
    return r;
}

/* As an event loop would: again when what it asked for has come. */
static rf_status connect_in_steps(rf__redis *r)
{
    rf_status status = RF__PENDING;

    while (status == RF__PENDING) {
        struct pollfd p = { 0 };

        status = rf__redis_step_connect(r, &p.events, &error);
        p.fd = rf__redis_fd(r);
        if (status == RF__PENDING)
            assert_true(poll(&p, 1, 5000) == 1);
    }
    return status;
}

static void test_nobody_listening_is_retry(void **state)
{
    static const char *const urls[] = { "redis+unix:///nonexistent/s",
                                        "redis://127.0.0.1:1",
                                        "redis://no-such-host.invalid:1" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        rf__redis *r = new_to(urls[i]);

        assert_status(connect_in_steps(r), RF_RETRY);
        assert_non_null(strstr(error.text, "cannot connect"));
        rf__redis_free(r);
    }
}

/* More than the system takes at once, to a server that reads nothing. */
static void test_what_does_not_go_out_is_pending_then_unknown(void **state)
{
    redis_server *own = redis_server_start(NULL);
    rf__redis *r = new_to(redis_server_url(own));
    short events = 0;

    (void)state;
    assert_status(connect_in_steps(r), RF_OK);
    redis_server_freeze(own);
    for (int i = 0; i < 100000; i++)
        assert_true(rf__wake_write(rf__redis_out(r), "key", 1000));
    assert_true(rf__redis_step_send(r, &events, &error) == RF__PENDING);
    assert_int_equal(events, POLLOUT);
    redis_server_kill(own);
    /* Part of it was on its way: what became of it nobody knows. */
    assert_status(rf__redis_step_send(r, &events, &error), RF_UNKNOWN);
    assert_non_null(strstr(error.text, "lost while sending"));
    assert_int_equal(rf__redis_fd(r), -1);
    rf__redis_free(r);
    redis_server_stop(own);
}

/* ---- A server of our own that only listens -------------------------------------- */

static char folder[TEMP_FOLDER_MAX];
static struct sockaddr_un place = { .sun_family = AF_UNIX };
static int listener, accepted;

static rf__redis *connected_to_us(void)
{
    rf__redis *r;
    char url[128];

    temp_folder(folder);
    snprintf(place.sun_path, sizeof(place.sun_path), "%s/s", folder);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&place, sizeof(place)),
                     0);
    assert_int_equal(listen(listener, 1), 0);
    snprintf(url, sizeof(url), "redis+unix://%s", place.sun_path);
    r = new_to(url);
    assert_status(connect_in_steps(r), RF_OK);
    accepted = accept(listener, NULL, NULL);
    assert_true(accepted >= 0);
    assert_true(rf__wake_write(rf__redis_out(r), "key", 1000));
    return r;
}

static void no_longer(rf__redis *r)
{
    assert_int_equal(rf__redis_fd(r), -1);
    rf__redis_free(r);
    close(listener);
    unlink(place.sun_path);
    rmdir(folder);
}

static void test_server_that_left_before_anything_was_sent_is_retry(
    void **state)
{
    rf__redis *r = connected_to_us();
    short events = 0;

    (void)state;
    close(accepted);
    assert_status(rf__redis_step_send(r, &events, &error), RF_RETRY);
    assert_non_null(strstr(error.text, "lost while sending: Broken pipe"));
    no_longer(r);
}

static void test_question_that_cannot_be_sent_is_retry(void **state)
{
    static const char *const ping[] = { "PING", NULL };
    rf__redis *r = connected_to_us();
    const rf__reply *reply = NULL;

    (void)state;
    close(accepted);
    assert_status(
        rf__redis_question(r, ping, rf__now_ms() + 5000, &reply, &error),
        RF_RETRY);
    assert_null(reply);
    assert_non_null(strstr(error.text, "lost while sending"));
    no_longer(r);
}

static void test_server_that_leaves_what_was_sent_unread_is_unknown(
    void **state)
{
    const rf__reply *reply = NULL;
    rf__redis *r = connected_to_us();
    short events = 0;

    (void)state;
    assert_status(rf__redis_step_send(r, &events, &error), RF_OK);
    close(accepted);
    assert_status(rf__redis_step_reply(r, &events, &reply, &error), RF_UNKNOWN);
    assert_null(reply);
    assert_non_null(strstr(error.text, "broke off without a word"));
    no_longer(r);
}

/* ---- Greetings -------------------------------------------------------------- */

static int start(void **state)
{
    (void)state;
    assert_int_equal(redis_world_start(state), 0);
    redis_server_command(server, "ACL SETUSER app on >s3cret ~* +@all");
    return 0;
}

static int open_far(void **state)
{
    (void)state;
    return redis_world_open_far(2000);
}

static rf__redis *new_with_login(void)
{
    char url[128];

    snprintf(url, sizeof(url), "redis://app:s3cret@127.0.0.1:%d/1",
             proxy_port(fault));
    return new_to(url);
}

static void test_greeting_without_an_answer_is_retry(void **state)
{
    rf__redis *r = new_with_login();

    (void)state;
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(connect_in_steps(r), RF_RETRY);
    assert_non_null(strstr(error.text, "no answer from Redis"));
    assert_int_equal(rf__redis_fd(r), -1);
    proxy_set(fault, PROXY_PASS, 0, 0);
    assert_status(connect_in_steps(r), RF_OK);
    rf__redis_free(r);
}

/* What can't be read as a text is a refusal all the same. */
static void test_refusal_that_is_no_text_is_misuse(void **state)
{
    static const char bytes[] = "-NOT\0TEXT s3cret\r\n";
    static const char *const ping[] = { "PING", NULL };
    rf__redis *r = new_with_login();
    const rf__reply *reply;
    int64_t until_ms = rf__now_ms() + 5000;

    (void)state;
    proxy_say(fault, 1, bytes, sizeof(bytes) - 1);
    assert_status(connect_in_steps(r), RF_MISUSE);
    assert_non_null(strstr(error.text, "login or database refused"));
    assert_null(strstr(error.text, "s3cret"));
    proxy_say(fault, 1, bytes, sizeof(bytes) - 1);
    assert_status(rf__redis_connect(r, until_ms, &error), RF_MISUSE);
    proxy_set(fault, PROXY_PASS, 0, 0);
    assert_status(rf__redis_connect(r, until_ms, &error), RF_OK);
    proxy_say(fault, 1, bytes, sizeof(bytes) - 1);
    assert_status(rf__redis_question(r, ping, until_ms, &reply, &error),
                  RF_MISUSE);
    assert_string_equal(error.text, "Redis refuses the command (ERR)");
    rf__redis_free(r);
}

/* ---- Names with several addresses -------------------------------------------- */

static const char *addresses[2]; /* of the host two.test */

int __real_getaddrinfo(const char *name, const char *service,
                       const struct addrinfo *hints, struct addrinfo **out);
int __wrap_getaddrinfo(const char *name, const char *service,
                       const struct addrinfo *hints, struct addrinfo **out);

int __wrap_getaddrinfo(const char *name, const char *service,
                       const struct addrinfo *hints, struct addrinfo **out)
{
    int failure;

    if (name == NULL || strcmp(name, "two.test") != 0)
        return __real_getaddrinfo(name, service, hints, out);
    failure = __real_getaddrinfo(addresses[0], service, hints, out);
    /* The elements of a list are freed one by one. */
    return failure != 0 ? failure
                        : __real_getaddrinfo(addresses[1], service, hints,
                                             &(*out)->ai_next);
}

/* A Redis listens on 127.0.0.1 and on no other address of the loopback. */
static rf_status connect_both_ways(const char *first, const char *second)
{
    rf_status status = RF_OK;
    char url[128];

    addresses[0] = first;
    addresses[1] = second;
    snprintf(url, sizeof(url), "redis://two.test:%d",
             redis_server_port(server));
    for (int in_steps = 0; in_steps < 2; in_steps++) {
        rf_status before = status;
        rf__redis *r = new_to(url);

        status = in_steps ? connect_in_steps(r)
                          : rf__redis_connect(r, rf__now_ms() + 5000, &error);
        assert_true(rf__redis_connected(r) == (status == RF_OK));
        if (in_steps)
            assert_status(status, before);
        rf__redis_free(r);
    }
    return status;
}

static void test_next_address_is_tried_when_one_refuses(void **state)
{
    (void)state;
    assert_status(connect_both_ways("127.0.0.1", "127.0.0.2"), RF_OK);
    assert_status(connect_both_ways("127.0.0.2", "127.0.0.1"), RF_OK);
    assert_status(connect_both_ways("127.0.0.2", "127.0.0.3"), RF_RETRY);
    assert_non_null(strstr(error.text, "two.test"));
}

int main(void)
{
#define FAR(name) \
    cmocka_unit_test_setup_teardown(name, open_far, redis_world_close)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_listening_is_retry),
        cmocka_unit_test(test_what_does_not_go_out_is_pending_then_unknown),
        cmocka_unit_test(
            test_server_that_left_before_anything_was_sent_is_retry),
        cmocka_unit_test(test_question_that_cannot_be_sent_is_retry),
        cmocka_unit_test(
            test_server_that_leaves_what_was_sent_unread_is_unknown),
        FAR(test_greeting_without_an_answer_is_retry),
        FAR(test_refusal_that_is_no_text_is_misuse),
        cmocka_unit_test(test_next_address_is_tried_when_one_refuses),
    };

    return run_group(tests, start, redis_world_stop);
}
