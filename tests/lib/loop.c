/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop.c - an event loop (libevent) for tests, and a client in it
 */
#include "loop.h"

#include <hiredis/adapters/libevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rf_test.h"

#define LIMIT_MS 30000

struct loop {
    struct event_base *base;
    struct event *timer, *stop;
    rf_client *client;
    const char *path;
    int connections, refuse;
};

static redisAsyncContext *connect_to(void *arg)
{
    loop *l = arg;
    redisAsyncContext *ac;

    if (l->refuse)
        return NULL;
    l->connections++;
    ac = redisAsyncConnectUnix(l->path);
    if (ac != NULL && ac->err == 0)
        redisLibeventAttach(ac, l->base);
    return ac;
}

static void set_timer(int64_t ms, void *arg)
{
    struct timeval in = { ms / 1000, ms % 1000 * 1000 };

    event_add(((loop *)arg)->timer, &in);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    loop *l = arg;

    (void)fd, (void)what;
    if (l->client != NULL)
        rf_async_tick(l->client);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

loop *loop_open(const char *url, const rf_options *opts)
{
    rf_loop asks = RF_LOOP_INIT;
    loop *l = calloc(1, sizeof(*l));

    if (l == NULL)
        exit(99);
    /* hiredis writes to sockets that were closed. */
    signal(SIGPIPE, SIG_IGN);
    l->path = strchr(url, '/') + 2; /* redis+unix:///path */
    l->base = event_base_new();
    l->timer = event_new(l->base, -1, 0, on_timer, l);
    l->stop = event_new(l->base, -1, 0, on_stop, l);
    asks.connect = connect_to;
    asks.timer = set_timer;
    asks.arg = l;
    assert_status(rf_async_open(&asks, opts, &l->client), RF_OK);
    return l;
}

void loop_close_client(loop *l)
{
    rf_client *client = l->client;

    event_del(l->timer);
    l->client = NULL;
    rf_close(client);
}

void loop_close(loop *l)
{
    loop_close_client(l);
    event_free(l->timer);
    event_free(l->stop);
    assert_int_equal(event_base_get_num_events(l->base, EVENT_BASE_COUNT_ADDED),
                     0);
    event_base_free(l->base);
    free(l);
}

rf_client *loop_client(loop *l)
{
    return l->client;
}

int loop_connections(const loop *l)
{
    return l->connections;
}

void loop_refuse(loop *l, int refuse)
{
    l->refuse = refuse;
}

void loop_until(loop *l, const int *what, int n)
{
    int64_t since = test_now_ms();

    while (*what < n) {
        struct timeval limit = { 1, 0 };

        event_add(l->stop, &limit);
        event_base_loop(l->base, EVLOOP_ONCE);
        if (test_now_ms() - since < LIMIT_MS)
            continue;
        fprintf(stderr, "loop: it never came\n");
        exit(99);
    }
    event_del(l->stop);
}

void loop_for(loop *l, int64_t ms)
{
    int64_t until_ms = test_now_ms() + ms, left_ms;

    while ((left_ms = until_ms - test_now_ms()) > 0) {
        struct timeval limit = { left_ms / 1000, left_ms % 1000 * 1000 };

        event_add(l->stop, &limit);
        event_base_loop(l->base, EVLOOP_ONCE);
    }
    event_del(l->stop);
}
