/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keeper.h - keeps locks alive from a thread of its own
 */
#ifndef RF_KEEPER_H
#define RF_KEEPER_H

#include "client.h"
#include "kept.h"

typedef struct rf__keeper rf__keeper;

/* A keeper with a connection of its own, like the client's.  NULL: no memory. */
rf__keeper *rf__keeper_new(rf_client *client);

/* Its thread ends first.  NULL is fine. */
void rf__keeper_free(rf__keeper *k);

/*
 * The keeper looks at it from here until rf__keeper_remove(), or until it has
 * told of the loss.  RF_OK, RF_NOMEM, or RF_RETRY when the system gives no
 * thread.
 */
rf_status rf__keeper_add(rf__keeper *k, rf__kept *kept);

/*
 * Returns when no renewal of it is on its way and none will ever be.  0 when the
 * keeper's own thread asks, from inside on_lost(): it can't wait for itself.
 */
int rf__keeper_remove(rf__keeper *k, rf__kept *kept);

/* 1 when the keeper's own thread asks, from inside on_lost(). */
int rf__keeper_calls(rf__keeper *k);

/*
 * One round: renew what is due, tell of what is lost.  Returns when the next
 * round is due.  The thread does nothing but this.
 */
int64_t rf__keeper_round(rf__keeper *k);

#endif /* RF_KEEPER_H */
