/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lock.h - what is inside a lock
 *
 * The keeper's thread writes what is atomic here and nothing else; the rest
 * belongs to the thread that has the lock.
 */
#ifndef RF_LOCK_H
#define RF_LOCK_H

#include <stdatomic.h>

#include "client.h"

struct rf_lock {
    rf_client *client;
    pid_t pid;       /* a forked child may look, but the lock is not its own */
    atomic_int over; /* rf_status: RF_OK while nothing final was heard       */
    atomic_int gone; /* Redis itself said that it is no longer ours          */
    int claimed;
    int attached;           /* another process took it */
    int shared;             /* with others who only read: no fence */
    int count;              /* of acquisitions beyond the first: reentrant */
    rf_lock *next, *before; /* among its client's */
    rf_fence fence;
    int64_t ttl_ms;
    int64_t granted_ms; /* asked for then */
    _Atomic int64_t deadline_ms;
    struct rf__kept *kept; /* NULL: no keeper looks after it */

    /* Under an event loop: who keeps it, or NULL; how many lean on it; and
       whether it is released and goes with the last of them. */
    struct rf__keeping *keeping;
    int asked, released;
    char holder[RF_HOLDER_LEN + 1];
    char resource[];
};

/*
 * A lock that is not granted yet.  holder NULL: a new one.  Everything that can
 * fail for want of memory comes before the request.
 */
rf_status rf__lock_new(rf_client *client, const char *resource,
                       const char *holder, rf_lock **out);

/* One that may be used and has this resource already, or NULL. */
rf_lock *rf__lock_held(rf_client *client, const char *resource, int shared);

/* Who asks; what to ask for; and what the answer makes of the lock. */
rf__grant rf__grant_of(const rf_lock *lock);
rf__grant rf__lock_grant(const rf_lock *lock, const rf_acquire_options *opts);
void rf__lock_granted(rf_lock *lock, const rf__grant *grant, int64_t ttl_ms);

/* A call that began then is over: count it and tell the hook. */
void rf__lock_note(rf_client *client, rf_event event, int64_t begin_us);
void rf__lock_note_call(const rf_lock *lock, rf_call call, rf_status status,
                        int64_t begin_us);

/* What rf_release() may not send, and why; RF_OK when it may. */
rf_status rf__lock_check_release(rf_lock *lock);
void rf__lock_free(rf_lock *lock);

/* One of several releases, and not the last: 1, and *status is its outcome. */
int rf__lock_released_before(rf_lock *lock, rf_status *status);

/* RF_OK while usable; else what it is instead, with a text for the caller. */
rf_status rf__lock_check(rf_lock *lock);

/* What rf_renew() may not send, and why; and what its answer makes of the lock. */
rf_status rf__lock_check_renew(rf_lock *lock, int64_t ttl_ms);
void rf__lock_settle_renew(rf_lock *lock, int64_t sent_ms, int64_t ttl_ms,
                           rf_status status);

/*
 * What the keeper found out.  Called from its thread, so these touch nothing but
 * what may be read from any.
 */
void rf__lock_renewed(rf_lock *lock, int64_t deadline_ms);
void rf__lock_lost(rf_lock *lock, int gone);

/*
 * keep.c: from here on no keeper looks at it.  0 on the keeper's own thread,
 * where it may not.
 */
int rf__unkeep(rf_lock *lock);
int rf__may_unkeep(const rf_lock *lock);

#endif /* RF_LOCK_H */
