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
#include "keeper.h"

struct rf_lock {
    rf_client *client;
    pid_t pid;       /* a forked child may look, but the lock is not its own */
    atomic_int over; /* rf_status: RF_OK while nothing final was heard       */
    atomic_int gone; /* Redis itself said that it is no longer ours          */
    int claimed;
    rf_fence fence;
    int64_t ttl_ms;
    int64_t granted_ms; /* asked for then */
    _Atomic int64_t deadline_ms;
    rf__kept *kept; /* NULL: no keeper looks after it */
    char holder[RF_HOLDER_LEN + 1];
    char resource[];
};

/* RF_OK while usable; else what it is instead, with a text for the caller. */
rf_status rf__lock_check(rf_lock *lock);

/* keep.c: from here on no keeper looks at it.  0 on the keeper's own thread. */
int rf__unkeep(rf_lock *lock);

#endif /* RF_LOCK_H */
