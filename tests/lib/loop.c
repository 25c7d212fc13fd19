/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop.c - an event loop for tests, and a client in it
 */
#include "loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop_engine.h"
#include "rf_test.h"

#define LIMIT_MS 30000

struct loop {
    const loop_engine *ops;
    void *engine;
    rf_client *client;
    const char *path;
    int connections, refuse;
};

/* As RF_LOOP says; it knows libuv only, and libevent when it is not set. */
static const loop_engine *chosen(void)
{
    const char *name = getenv("RF_LOOP");

    if (name == NULL)
        return &loop_libevent;
    if (strcmp(name, "libuv") == 0)
        return &loop_libuv;
    fprintf(stderr, "loop: there is none of this name: %s\n", name);
    exit(99);
}

static redisAsyncContext *connect_to(void *arg)
{
    loop *l = arg;
    redisAsyncContext *ac;

    if (l->refuse)
        return NULL;
    l->connections++;
    ac = redisAsyncConnectUnix(l->path);
    if (ac != NULL && ac->err == 0)
        l->ops->attach(l->engine, ac);
    return ac;
}

static void set_timer(int64_t ms, void *arg)
{
    loop *l = arg;

    l->ops->set_timer(l->engine, ms);
}

static void on_timer(void *arg)
{
    loop *l = arg;

    if (l->client != NULL)
        rf_async_tick(l->client);
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
    l->ops = chosen();
    l->engine = l->ops->open(on_timer, l);
    asks.connect = connect_to;
    asks.timer = set_timer;
    asks.arg = l;
    assert_status(rf_async_open(&asks, opts, &l->client), RF_OK);
    return l;
}

void loop_close_client(loop *l)
{
    rf_client *client = l->client;

    l->ops->stop_timer(l->engine);
    l->client = NULL;
    rf_close(client);
}

void loop_close(loop *l)
{
    loop_close_client(l);
    assert_true(l->ops->close(l->engine));
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
        l->ops->turn(l->engine, 1000);
        if (test_now_ms() - since < LIMIT_MS)
            continue;
        fprintf(stderr, "loop: it never came\n");
        exit(99);
    }
}

void loop_for(loop *l, int64_t ms)
{
    int64_t until_ms = test_now_ms() + ms, left_ms;

    while ((left_ms = until_ms - test_now_ms()) > 0)
        l->ops->turn(l->engine, left_ms);
}
