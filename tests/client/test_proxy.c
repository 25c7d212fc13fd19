/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_proxy.c - the fault proxy of these tests does what it says
 *
 * Seen from plain sockets: a fault that does not happen lets every test of it
 * pass.
 */
#include "rf_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy.h"
#include "redis_server.h"

static redis_server *server;
static proxy *fault;

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

static int open_proxy(void **state)
{
    (void)state;
    redis_server_command(server, "FLUSHALL");
    fault = proxy_start(redis_server_socket(server));
    return 0;
}

static int close_proxy(void **state)
{
    (void)state;
    proxy_stop(fault);
    return 0;
}

/* ---- A client without a mind of its own -------------------------------------- */

static int dial(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)proxy_port(fault)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void say(int fd, const char *command)
{
    assert_int_equal(send(fd, command, strlen(command), MSG_NOSIGNAL),
                     strlen(command));
}

#define INCR "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"
#define ECHO "*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n"

/*
 * What comes until there are so many bytes, or the other side sends no more, or
 * nothing comes for ms.  Returns it with "|" behind when the end was seen.
 */
static const char *hear_for(int fd, size_t bytes, int ms)
{
    static char heard[256];
    size_t len = 0;

    while (len < bytes) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t n;

        if (poll(&p, 1, ms) == 0)
            break;
        n = recv(fd, heard + len, sizeof(heard) - 2 - len, 0);
        if (n <= 0) {
            heard[len++] = '|';
            break;
        }
        len += (size_t)n;
    }
    heard[len] = '\0';
    return heard;
}

static const char *hear(int fd, size_t bytes)
{
    return hear_for(fd, bytes, 10000);
}

/* To the end of what is sent. */
static const char *hear_out(int fd)
{
    return hear(fd, 200);
}

static long long counted(void)
{
    return redis_server_number(server, "GET n");
}

/* ---- Each fault ------------------------------------------------------------------ */

static void test_without_a_fault_all_passes_and_is_counted(void **state)
{
    int fd = dial();

    (void)state;
    for (int i = 1; i <= 3; i++) {
        char wanted[8];

        snprintf(wanted, sizeof(wanted), ":%d\r\n", i);
        say(fd, INCR);
        assert_string_equal(hear(fd, 4), wanted);
        assert_int_equal(proxy_requests(fault), i);
    }
    assert_int_equal(proxy_connections(fault), 1);
    close(fd);
}

static void test_fault_meets_those_that_it_was_set_for(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_DUPLICATE, 1, 2);
    for (int i = 0; i < 4; i++) {
        say(fd, INCR);
        hear(fd, 4);
    }
    assert_int_equal(counted(), 6);
    close(fd);
}

static void test_delayed_reply_comes_late(void **state)
{
    int fd = dial();
    int64_t since = test_now_ms();

    (void)state;
    proxy_set_delay(fault, 0, 1, 300);
    say(fd, PING);
    assert_string_equal(hear(fd, 7), "+PONG\r\n");
    assert_at_least_ms(since, 300);
    close(fd);
}

static void test_swallowed_request_never_arrives(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_SWALLOW, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear_for(fd, 4, 200), "");
    assert_int_equal(proxy_requests(fault), 1);
    assert_int_equal(redis_server_number(server, "EXISTS n"), 0);
    close(fd);
}

static void test_muted_reply_never_comes_though_it_was_done(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_MUTE, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear_for(fd, 4, 200), "");
    assert_int_equal(counted(), 1);
    close(fd);
}

static void test_cut_before_does_nothing_and_breaks(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_CUT_BEFORE, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear_out(fd), "|");
    assert_int_equal(redis_server_number(server, "EXISTS n"), 0);
    close(fd);
}

static void test_cut_after_does_it_and_breaks(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear_out(fd), "|");
    assert_int_equal(counted(), 1);
    close(fd);
}

static void test_cut_inside_sends_half_and_breaks(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_CUT_INSIDE, 0, 1);
    say(fd, ECHO);
    assert_string_equal(hear_out(fd), "$5\r\nh|");
    close(fd);
}

static void test_duplicated_request_is_done_and_answered_twice(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_DUPLICATE, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear(fd, 8), ":1\r\n:2\r\n");
    close(fd);
}

static void test_swapped_replies_change_places(void **state)
{
    int one = dial(), two = dial();

    (void)state;
    proxy_set(fault, PROXY_SWAP, 0, 2);
    say(one, PING);
    say(two, ECHO);
    assert_string_equal(hear(one, 11), "$5\r\nhello\r\n");
    assert_string_equal(hear(two, 7), "+PONG\r\n");
    say(one, PING);
    assert_string_equal(hear(one, 7), "+PONG\r\n");
    close(one);
    close(two);
}

static void test_stale_reply_is_that_of_the_request_before(void **state)
{
    int fd = dial();

    (void)state;
    say(fd, INCR);
    assert_string_equal(hear(fd, 4), ":1\r\n");
    proxy_set(fault, PROXY_STALE, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear(fd, 4), ":1\r\n");
    assert_int_equal(counted(), 2);
    close(fd);
}

static void test_dribbled_reply_comes_byte_by_byte(void **state)
{
    int fd = dial(), pieces = 0;
    size_t len = 0;
    char text[32];

    (void)state;
    proxy_set(fault, PROXY_DRIBBLE, 0, 1);
    say(fd, ECHO);
    while (len < 11) {
        ssize_t n = recv(fd, text + len, sizeof(text) - len, 0);

        assert_true(n > 0);
        len += (size_t)n;
        pieces++;
    }
    assert_memory_equal(text, "$5\r\nhello\r\n", 11);
    assert_true(pieces > 1);
    close(fd);
}

/* The other direction stays open: the client may write, and nobody answers. */
static void test_half_closed_connection_ends_in_one_direction(void **state)
{
    int fd = dial();

    (void)state;
    proxy_set(fault, PROXY_HALF_CLOSE, 0, 1);
    say(fd, INCR);
    assert_string_equal(hear_out(fd), "|");
    assert_int_equal(counted(), 1);
    for (int i = 0; i < 3; i++) {
        say(fd, INCR);
        assert_string_equal(hear_out(fd), "|");
    }
    assert_int_equal(counted(), 1);
    close(fd);
}

static void test_what_it_was_told_is_said_instead(void **state)
{
    int fd = dial();

    (void)state;
    proxy_say(fault, 1, "-ERR not today\r\n", 16);
    say(fd, INCR);
    assert_string_equal(hear(fd, 16), "-ERR not today\r\n");
    assert_int_equal(redis_server_number(server, "EXISTS n"), 0);
    say(fd, INCR);
    assert_string_equal(hear(fd, 4), ":1\r\n");
    close(fd);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_proxy, close_proxy)
    const struct CMUnitTest tests[] = {
        CASE(test_without_a_fault_all_passes_and_is_counted),
        CASE(test_fault_meets_those_that_it_was_set_for),
        CASE(test_delayed_reply_comes_late),
        CASE(test_swallowed_request_never_arrives),
        CASE(test_muted_reply_never_comes_though_it_was_done),
        CASE(test_cut_before_does_nothing_and_breaks),
        CASE(test_cut_after_does_it_and_breaks),
        CASE(test_cut_inside_sends_half_and_breaks),
        CASE(test_duplicated_request_is_done_and_answered_twice),
        CASE(test_swapped_replies_change_places),
        CASE(test_stale_reply_is_that_of_the_request_before),
        CASE(test_dribbled_reply_comes_byte_by_byte),
        CASE(test_half_closed_connection_ends_in_one_direction),
        CASE(test_what_it_was_told_is_said_instead),
    };

    return run_group(tests, start, stop);
}
