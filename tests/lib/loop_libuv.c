/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop_libuv.c - the loop of libuv
 */
#include "loop_engine.h"

#include <hiredis/adapters/libuv.h>
#include <stdlib.h>

typedef struct engine {
    uv_loop_t loop;
    uv_timer_t timer, stop;
    void (*ring)(void *arg);
    void *arg;
} engine;

static void on_timer(uv_timer_t *timer)
{
    engine *e = timer->data;

    e->ring(e->arg);
}

static void on_stop(uv_timer_t *timer)
{
    (void)timer;
}

static void *open_engine(void (*ring)(void *arg), void *arg)
{
    engine *e = calloc(1, sizeof(*e));

    if (e == NULL || uv_loop_init(&e->loop) != 0)
        exit(99);
    e->ring = ring;
    e->arg = arg;
    uv_timer_init(&e->loop, &e->timer);
    uv_timer_init(&e->loop, &e->stop);
    e->timer.data = e;
    return e;
}

static void attach(void *arg, redisAsyncContext *ac)
{
    redisLibuvAttach(ac, &((engine *)arg)->loop);
}

/* Its time stands still between two turns: what comes counts from now. */
static void start(engine *e, uv_timer_t *timer, uv_timer_cb ring, int64_t ms)
{
    uv_update_time(&e->loop);
    uv_timer_start(timer, ring, (uint64_t)ms, 0);
}

static void set_timer(void *arg, int64_t ms)
{
    engine *e = arg;

    start(e, &e->timer, on_timer, ms);
}

static void stop_timer(void *arg)
{
    uv_timer_stop(&((engine *)arg)->timer);
}

static void turn(void *arg, int64_t most_ms)
{
    engine *e = arg;

    start(e, &e->stop, on_stop, most_ms);
    uv_run(&e->loop, UV_RUN_ONCE);
    uv_timer_stop(&e->stop);
}

/* Connections that have ended close their handles in the next turn. */
static int close_engine(void *arg)
{
    engine *e = arg;
    int left;

    uv_close((uv_handle_t *)&e->timer, NULL);
    uv_close((uv_handle_t *)&e->stop, NULL);
    uv_run(&e->loop, UV_RUN_NOWAIT);
    left = uv_loop_close(&e->loop);
    free(e);
    return left == 0;
}

const loop_engine loop_libuv = { open_engine, attach, set_timer,
                                 stop_timer,  turn,   close_engine };
