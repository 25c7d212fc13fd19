/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop_libevent.c - the loop of libevent
 */
#include "loop_engine.h"

#include <hiredis/adapters/libevent.h>
#include <stdlib.h>

typedef struct engine {
    struct event_base *base;
    struct event *timer, *stop;
    void (*ring)(void *arg);
    void *arg;
} engine;

static struct timeval in_ms(int64_t ms)
{
    struct timeval in = { ms / 1000, ms % 1000 * 1000 };

    return in;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    engine *e = arg;

    (void)fd, (void)what;
    e->ring(e->arg);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

static void *open_engine(void (*ring)(void *arg), void *arg)
{
    engine *e = calloc(1, sizeof(*e));

    if (e == NULL)
        exit(99);
    e->ring = ring;
    e->arg = arg;
    e->base = event_base_new();
    e->timer = event_new(e->base, -1, 0, on_timer, e);
    e->stop = event_new(e->base, -1, 0, on_stop, e);
    return e;
}

static void attach(void *arg, redisAsyncContext *ac)
{
    redisLibeventAttach(ac, ((engine *)arg)->base);
}

static void set_timer(void *arg, int64_t ms)
{
    struct timeval in = in_ms(ms);

    event_add(((engine *)arg)->timer, &in);
}

static void stop_timer(void *arg)
{
    event_del(((engine *)arg)->timer);
}

static void turn(void *arg, int64_t most_ms)
{
    engine *e = arg;
    struct timeval limit = in_ms(most_ms);

    event_add(e->stop, &limit);
    event_base_loop(e->base, EVLOOP_ONCE);
    event_del(e->stop);
}

static int close_engine(void *arg)
{
    engine *e = arg;
    int left;

    event_free(e->timer);
    event_free(e->stop);
    left = event_base_get_num_events(e->base, EVENT_BASE_COUNT_ADDED);
    event_base_free(e->base);
    free(e);
    return left == 0;
}

const loop_engine loop_libevent = { open_engine, attach, set_timer,
                                    stop_timer,  turn,   close_engine };
