/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop_engine.h - what a test asks of an event loop, whichever it is
 */
#ifndef LOOP_ENGINE_H
#define LOOP_ENGINE_H

#include <hiredis/async.h>
#include <stdint.h>

typedef struct loop_engine {
    /* An engine whose timer calls ring(arg). */
    void *(*open)(void (*ring)(void *arg), void *arg);
    void (*attach)(void *engine, redisAsyncContext *ac);
    void (*set_timer)(void *engine, int64_t ms);
    void (*stop_timer)(void *engine);
    void (*turn)(void *engine, int64_t most_ms); /* once, if anything happens */
    int (*close)(void *engine); /* 1 when nothing was left in it */
} loop_engine;

extern const loop_engine loop_libevent, loop_libuv;

#endif /* LOOP_ENGINE_H */
