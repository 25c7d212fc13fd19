/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ringfence_async.h - locks for programs with an event loop
 *
 * Nothing here blocks.  Connections are hiredis' own (redisAsyncContext), which
 * its adapters attach to libevent, libuv and others; time comes from a timer of
 * the loop.  One Redis; the scripts, the outcomes and the locks are those of
 * ringfence.h, and so are rf_message(), rf_lock_fence() and its like, rf_set_hook(),
 * rf_get_stats() and rf_close().  The calls that would block are RF_MISUSE on
 * such a client: rf_acquire(), rf_renew(), rf_release(), rf_keep() and so on.
 *
 * Errors     A call that returns RF_OK calls back exactly once; any other has
 *            done nothing and never calls back.  rf_message() has the text,
 *            in the callback or after the call.
 * Callbacks  All come from rf_async_tick() or rf_close(), and never from within
 *            another call.  They may use the client in every way, rf_close()
 *            included.
 * Threads    The client, its locks and its connections belong to the loop's
 *            thread.  Nothing may be asked of them from another one, but for
 *            rf_get_stats() and rf_stats_text().  A forked child must leave them
 *            alone.
 * Signals    hiredis writes to connections that may be closed: ignore SIGPIPE.
 * Time       A deadline runs from before its request was sent, and is judged
 *            when the answer comes.  An answer that has not come when timeout_ms
 *            is over never counts: its connection is ended, and what else was
 *            on its way there is sent once more on another.
 */
#ifndef RINGFENCE_ASYNC_H
#define RINGFENCE_ASYNC_H

#include "ringfence.h"

#ifdef __cplusplus
extern "C" {
#endif

struct redisAsyncContext;

/* ---- Client ----------------------------------------------------------- */

/* What a client asks of the loop.  Start from RF_LOOP_INIT. */
typedef struct rf_loop {
    /*
     * Make a connection: redisAsyncConnect() and its like, then attach it, then,
     * if need be, send AUTH and SELECT on it.  It is the client's from then on;
     * send nothing else on it, and don't free it.  Called for the first request,
     * after a connection was lost, and once more for each resource that is waited
     * for.  NULL when none can be had.
     */
    struct redisAsyncContext *(*connect)(void *arg);

    /*
     * Call rf_async_tick() in ms milliseconds from now, and no more when it was
     * set to before.  Must not call it itself.  May be NULL in a loop that asks
     * rf_async_next_ms() before each of its waits.
     */
    void (*timer)(int64_t ms, void *arg);

    void *arg; /* handed to both */
} rf_loop;

/* clang-format off */
#define RF_LOOP_INIT { 0, 0, (void *)0 }
/* clang-format on */

/*
 * Make a client whose calls don't block.  loop and opts are copied; opts NULL
 * means the defaults.  Nothing is connected yet.  min_replicas must be 0: on a
 * connection that waits for replicas, everything else would wait too.
 *
 * On success *out is the client; end it with rf_close(), which ends its
 * connections and calls back for whatever has not been told yet: RF_UNKNOWN for
 * what was sent, RF_RETRY for what was not; locks that are kept are not told of.
 * Otherwise *out is NULL and the text is rf_message(NULL).
 *
 * Returns RF_OK, RF_MISUSE, RF_RETRY (the system gives no descriptor) or
 * RF_NOMEM.
 */
rf_status rf_async_open(const rf_loop *loop, const rf_options *opts,
                        rf_client **out);

/*
 * Milliseconds until rf_async_tick() has something to do; 0: now, -1: never,
 * as things are.
 */
int64_t rf_async_next_ms(const rf_client *client);

/*
 * Do what is due, and call back for what is over.  Too early or too often does
 * no harm.
 */
void rf_async_tick(rf_client *client);

/* ---- Locks ------------------------------------------------------------ */

/*
 * lock is NULL but after RF_OK.  It is ended with rf_async_release().
 */
typedef void (*rf_on_acquired)(rf_client *client, rf_status status,
                               rf_lock *lock, void *arg);

typedef void (*rf_on_done)(rf_client *client, rf_status status, void *arg);

/*
 * Take the lock on resource, as rf_acquire() does with the same opts, which are
 * copied.  One that waits (wait_ms) is served by this client in the order of the
 * calls; only the first in line for a resource asks, so the others cost nothing.
 * ask_floor is called on the loop, which waits for it: rf_pg_floor() takes one
 * round trip to the database, and is asked only when Redis has lost its counter.
 *
 * Returns RF_OK (done will be called, with what rf_acquire() returns), RF_MISUSE
 * or RF_NOMEM.
 */
rf_status rf_async_acquire(rf_client *client, const char *resource,
                           const rf_acquire_options *opts, rf_on_acquired done,
                           void *arg);

/*
 * End the waits of all rf_async_acquire() that were given this arg; each calls
 * back with RF_TIMEOUT, or RF_UNKNOWN when it may have been granted.  A grant
 * that was on its way is given back first.  Returns how many there were.
 */
size_t rf_async_cancel(rf_client *client, const void *arg);

/*
 * Let the lock live ttl_ms from now, if it is still ours, as rf_renew() does.
 *
 * Returns RF_OK (done will be called, with what rf_renew() returns), RF_LOST,
 * what ended the lock before, RF_MISUSE or RF_NOMEM.
 */
rf_status rf_async_renew(rf_lock *lock, int64_t ttl_ms, rf_on_done done,
                         void *arg);

/*
 * Give the lock back if it is still ours.  From here on the lock must not be
 * used any more, whatever comes of it, unless RF_NOMEM is returned.  It is never
 * renewed again.  done may be NULL.
 *
 * Returns RF_OK (done will be called, with what rf_release() returns), RF_MISUSE
 * (lock is NULL, its client is closed, or a forked child called) or RF_NOMEM
 * (the lock is as before).
 */
rf_status rf_async_release(rf_lock *lock, rf_on_done done, void *arg);

/*
 * Renew the lock whenever a third of its time is used up, until it is released
 * or lost, as rf_keep() does.  on_lost() is called once, like all callbacks, and
 * may release the lock.
 *
 * Returns RF_OK, RF_LOST (past its deadline), what ended the lock before,
 * RF_MISUSE or RF_NOMEM.
 */
rf_status rf_async_keep(rf_lock *lock, const rf_keep_options *opts);

#ifdef __cplusplus
}
#endif

#endif /* RINGFENCE_ASYNC_H */
