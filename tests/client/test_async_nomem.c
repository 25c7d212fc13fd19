/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_async_nomem.c - memory runs out at the n-th request, in an event loop
 *
 * The loop is poll() with hiredis' six hooks and no timer: it allocates nothing
 * itself.  Making a connection is the caller's, so nothing fails there.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "no_memory.h"
#include "rf_test.h"

#include <hiredis/async.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "internal.h"
#include "redis_world.h"
#include "ringfence_async.h"

#define LINKS 8

typedef struct wire {
    redisAsyncContext *ac; /* NULL: free */
    int reads, writes, used;
} wire;

static wire wires[LINKS];
static int writing;
static rf_client *async;

/* ---- A loop ------------------------------------------------------------------- */

static void add_read(void *w)
{
    ((wire *)w)->reads = 1;
}

static void del_read(void *w)
{
    ((wire *)w)->reads = 0;
}

static void add_write(void *w)
{
    ((wire *)w)->writes = 1;
    ((wire *)w)->used = 1;
}

static void del_write(void *w)
{
    ((wire *)w)->writes = 0;
}

static void cleanup(void *w)
{
    memset(w, 0, sizeof(wire));
}

static redisAsyncContext *connect_to(void *arg)
{
    long before = fatal;
    wire *w = wires;

    (void)arg;
    while (w->ac != NULL)
        w++;
    fatal = -1;
    w->ac = redisAsyncConnectUnix(redis_server_socket(server));
    fatal = before;
    w->ac->ev.data = w;
    w->ac->ev.addRead = add_read;
    w->ac->ev.delRead = del_read;
    w->ac->ev.addWrite = add_write;
    w->ac->ev.delWrite = del_write;
    w->ac->ev.cleanup = cleanup;
    return w->ac;
}

/*
 * hiredis 0.14 doesn't look at what malloc says while it frees a connection, nor
 * after it has written.
 */
static int hiredis_alone(void)
{
    if (writing)
        return 1;
    for (int i = 0; i < LINKS; i++) {
        if (wires[i].ac != NULL && wires[i].used &&
            wires[i].ac->replies.head == NULL)
            return 1;
    }
    return 0;
}

static void turn(void)
{
    struct pollfd p[LINKS];
    int64_t wait_ms = rf_async_next_ms(async);

    for (int i = 0; i < LINKS; i++) {
        const wire *w = &wires[i];

        p[i].fd = w->ac != NULL ? w->ac->c.fd : -1;
        p[i].events = (short)((w->reads ? POLLIN : 0) |
                              (w->writes ? POLLOUT : 0));
        p[i].revents = 0;
    }
    poll(p, LINKS, wait_ms < 0 || wait_ms > 10 ? 10 : (int)wait_ms);
    for (int i = 0; i < LINKS; i++) {
        if ((p[i].revents & ~POLLOUT) && wires[i].ac != NULL)
            redisAsyncHandleRead(wires[i].ac);
        writing = 1;
        if ((p[i].revents & POLLOUT) && wires[i].ac != NULL)
            redisAsyncHandleWrite(wires[i].ac);
        writing = 0;
    }
    rf_async_tick(async);
}

static void until(const int *told)
{
    int64_t since = test_now_ms();

    while (*told == 0) {
        turn();
        assert_at_most_ms(since, 20000);
    }
}

/* ---- Calls --------------------------------------------------------------------- */

typedef struct news {
    int told;
    rf_status status;
    rf_lock *lock;
} news;

static void on_acquired(rf_client *from, rf_status status, rf_lock *lock,
                        void *arg)
{
    news *n = arg;

    (void)from;
    n->told++;
    n->status = status;
    n->lock = lock;
}

static void on_done(rf_client *from, rf_status status, void *arg)
{
    on_acquired(from, status, NULL, arg);
}

/* What it comes to: at once, or told. */
static rf_status acquire(const char *resource, int64_t wait_ms, news *n)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status;

    memset(n, 0, sizeof(*n));
    opts.wait_ms = wait_ms;
    status = rf_async_acquire(async, resource, &opts, on_acquired, n);
    if (status != RF_OK)
        return status;
    until(&n->told);
    assert_true((n->lock != NULL) == (n->status == RF_OK));
    return n->status;
}

static rf_status finish(rf_status at_once, news *n)
{
    if (at_once != RF_OK)
        return at_once;
    until(&n->told);
    return n->status;
}

static rf_status renew(rf_lock *lock)
{
    news n = { 0 };

    return finish(rf_async_renew(lock, 60000, on_done, &n), &n);
}

/* Refused at once for want of memory, it is as before: then once more. */
static rf_status release(rf_lock *lock)
{
    news n = { 0 };
    rf_status at_once = rf_async_release(lock, on_done, &n);

    if (at_once == RF_NOMEM)
        at_once = rf_async_release(lock, on_done, &n);
    return finish(at_once, &n);
}

static void assert_fair(rf_status status)
{
    if (status != RF_OK && status != RF_NOMEM && status != RF_UNKNOWN &&
        status != RF_RETRY && status != RF_LOST)
        fail_msg("%s", rf_status_name(status));
}

static int held(void)
{
    return (int)redis_server_number(server, "EXISTS " LOCK, "r");
}

static void open_async(void)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_loop loop = RF_LOOP_INIT;
    rf_status status;

    opts.timeout_ms = 1000;
    loop.connect = connect_to;
    status = rf_async_open(&loop, &opts, &async);
    assert_true(status == RF_OK || (status == RF_NOMEM && async == NULL));
}

/* Whatever ran out before: it works again, and one connection is enough. */
static void assert_works(void)
{
    rf_lock *lock;
    news n;

    redis_server_command(server, "FLUSHALL");
    assert_status(acquire("r", 0, &n), RF_OK);
    lock = n.lock;
    assert_status(renew(lock), RF_OK);
    assert_status(release(lock), RF_OK);
    assert_int_equal(held(), 0);
}

static int take_renew_give(long nth)
{
    rf_status status = RF_NOMEM;
    rf_lock *lock;
    news n = { 0 };
    int happened;

    redis_server_command(server, "FLUSHALL");
    redis_server_command(server, "SCRIPT FLUSH");
    arm(nth);
    open_async();
    if (async != NULL)
        status = acquire("r", 0, &n);
    assert_fair(status);
    lock = n.lock;
    if (lock != NULL) {
        status = renew(lock);
        assert_fair(status);
        status = release(lock);
        assert_fair(status);
    }
    happened = disarm();
    if (async != NULL)
        assert_works();
    rf_close(async);
    return happened;
}

/* One waits in line behind another, and both are served. */
static int wait_in_line(long nth)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status[2];
    news first, waits[2];
    int happened;

    redis_server_command(server, "FLUSHALL");
    open_async();
    assert_status(acquire("r", 0, &first), RF_OK);
    memset(waits, 0, sizeof(waits));
    opts.wait_ms = 10000;
    arm(nth);
    for (int i = 0; i < 2; i++)
        status[i] = rf_async_acquire(async, "r", &opts, on_acquired, &waits[i]);
    for (int i = 0; i < 12; i++)
        turn();
    happened = disarm();
    assert_status(release(first.lock), RF_OK);
    for (int i = 0; i < 2; i++) {
        if (status[i] != RF_OK) {
            assert_status(status[i], RF_NOMEM);
            continue;
        }
        until(&waits[i].told);
        assert_int_equal(waits[i].told, 1);
        assert_fair(waits[i].status);
        if (waits[i].lock != NULL)
            assert_status(release(waits[i].lock), RF_OK);
    }
    assert_works();
    rf_close(async);
    return happened;
}

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    (void)lock, (void)reason;
    ++*(int *)arg;
}

static int keep(long nth)
{
    rf_keep_options opts = RF_KEEP_INIT;
    int lost = 0, happened;
    rf_status status;
    rf_stats stats;
    news n;

    redis_server_command(server, "FLUSHALL");
    open_async();
    assert_status(acquire("r", 0, &n), RF_OK);
    opts.ttl_ms = 450;
    opts.on_lost = on_lost;
    opts.arg = &lost;
    arm(nth);
    status = rf_async_keep(n.lock, &opts);
    do {
        turn();
        rf_get_stats(async, &stats);
    } while (status == RF_OK && stats.calls[RF_CALL_RENEW][RF_OK] == 0);
    happened = disarm();
    assert_true(status == RF_OK || status == RF_NOMEM);
    assert_int_equal(lost, 0);
    assert_int_equal(held(), 1);
    release(n.lock);
    rf_close(async);
    return happened;
}

static void for_every_n(int (*try)(long nth))
{
    long n = 0;

    while (try(n))
        n++;
    assert_in_range(n, 3, 400);
    /* No connection is left. */
    for (int i = 0; i < LINKS; i++)
        assert_null(wires[i].ac);
}

static void test_lock_is_granted_once_or_not_at_all(void **state)
{
    (void)state;
    for_every_n(take_renew_give);
}

static void test_those_who_wait_are_told_without_memory(void **state)
{
    (void)state;
    for_every_n(wait_in_line);
}

static void test_kept_lock_survives_without_memory(void **state)
{
    (void)state;
    for_every_n(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_is_granted_once_or_not_at_all),
        cmocka_unit_test(test_those_who_wait_are_told_without_memory),
        cmocka_unit_test(test_kept_lock_survives_without_memory),
    };

    signal(SIGPIPE, SIG_IGN);
    spared = hiredis_alone;
    return run_group(tests, redis_world_start, redis_world_stop);
}
