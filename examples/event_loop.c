/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * event_loop.c - many sections in one thread: locks in libevent's loop
 *
 *     event_loop /path/to/redis.sock
 *
 * Ten tasks want the same lock, each for a moment.  Each prints the fence that
 * its writes would carry; nothing blocks, and none comes twice.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <hiredis/adapters/libevent.h>

#include <ringfence_async.h>

#define TASKS 10

typedef struct service {
    struct event_base *base;
    struct event *timer;
    const char *path;
    rf_client *locks;
    int left, failed;
} service;

/* ---- What a client asks of the loop ----------------------------------------- */

static redisAsyncContext *connect_to(void *arg)
{
    service *s = arg;
    redisAsyncContext *ac = redisAsyncConnectUnix(s->path);

    if (ac != NULL && ac->err == 0)
        redisLibeventAttach(ac, s->base);
    return ac;
}

static void set_timer(int64_t ms, void *arg)
{
    service *s = arg;
    struct timeval in = { ms / 1000, ms % 1000 * 1000 };

    event_add(s->timer, &in);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    service *s = arg;

    (void)fd, (void)what;
    rf_async_tick(s->locks);
}

/* ---- A task ------------------------------------------------------------------- */

static void on_released(rf_client *locks, rf_status status, void *arg)
{
    service *s = arg;

    (void)locks, (void)status;
    if (--s->left == 0)
        event_base_loopexit(s->base, NULL);
}

static void on_lock(rf_client *locks, rf_status status, rf_lock *lock,
                    void *arg)
{
    service *s = arg;

    if (status != RF_OK) {
        fprintf(stderr, "%s: %s\n", rf_status_name(status), rf_message(locks));
        s->failed = 1;
        on_released(locks, status, s);
        return;
    }
    printf("fence %lld\n", (long long)rf_lock_fence(lock));
    if (rf_async_release(lock, on_released, s) != RF_OK)
        s->failed = 1;
}

static int start(service *s)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.wait_ms = 10000;
    for (s->left = 0; s->left < TASKS; s->left++) {
        if (rf_async_acquire(s->locks, "task", &opts, on_lock, s) != RF_OK)
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    rf_loop loop = RF_LOOP_INIT;
    service s = { 0 };

    if (argc != 2) {
        fprintf(stderr, "usage: %s PATH_OF_SOCKET\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* hiredis writes to sockets that were closed */
    s.path = argv[1];
    s.base = event_base_new();
    s.timer = event_new(s.base, -1, 0, on_timer, &s);
    loop.connect = connect_to;
    loop.timer = set_timer;
    loop.arg = &s;
    if (rf_async_open(&loop, NULL, &s.locks) != RF_OK || !start(&s)) {
        fprintf(stderr, "%s\n", rf_message(s.locks));
        return 2;
    }
    event_base_dispatch(s.base);

    rf_close(s.locks);
    event_free(s.timer);
    event_base_free(s.base);
    return s.failed;
}
