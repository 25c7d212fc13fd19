/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keeper.h - keeps locks alive from a thread of its own
 */
#ifndef RF_KEEPER_H
#define RF_KEEPER_H

#include "client.h"

typedef struct rf__keeper rf__keeper;

/*
 * What the keeper knows of one lock.  It belongs to the lock, and the keeper
 * looks at it from rf__keeper_add() until rf__keeper_remove(), or until it has
 * told of the loss.
 */
typedef struct rf__kept {
    rf_lock *lock;
    rf__grant grant;
    int64_t ttl_ms;
    int64_t until_ms;    /* hard cap on holding                            */
    int64_t deadline_ms; /* what is believed of the lock                   */
    int64_t due_ms;      /* of the next renewal, or of the cap             */
    int failures;        /* renewals in a row that were not answered       */
    size_t at;           /* place in the heap, from 1; 0: not in it        */
    int busy;            /* a renewal or on_lost() is going on             */
    rf_on_lost on_lost;
    void *arg;
} rf__kept;

/* A keeper with a connection of its own, like the client's.  NULL: no memory. */
rf__keeper *rf__keeper_new(rf_client *client);

/* Its thread ends first.  NULL is fine. */
void rf__keeper_free(rf__keeper *k);

/* RF_OK, RF_NOMEM, or RF_RETRY when the system gives no thread. */
rf_status rf__keeper_add(rf__keeper *k, rf__kept *kept);

/*
 * Returns when no renewal of it is on its way and none will ever be.  0 when the
 * keeper's own thread asks, from inside on_lost(): it can't wait for itself.
 */
int rf__keeper_remove(rf__keeper *k, rf__kept *kept);

/*
 * One round: renew what is due, tell of what is lost.  Returns when the next
 * round is due.  The thread does nothing but this.
 */
int64_t rf__keeper_round(rf__keeper *k);

/*
 * lock.c: what the keeper found out.  Called from its thread, so these touch
 * nothing but what may be read from any.
 */
void rf__lock_renewed(rf_lock *lock, int64_t deadline_ms);
void rf__lock_lost(rf_lock *lock, int gone);

#endif /* RF_KEEPER_H */
