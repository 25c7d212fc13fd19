/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_link.h - one of hiredis' connections that never block
 */
#ifndef RF_ASYNC_LINK_H
#define RF_ASYNC_LINK_H

#include "internal.h"
#include "reply.h"
#include "words.h"

struct redisAsyncContext;

typedef struct rf__link rf__link;

/* One request that is on its way.  Whoever sent it keeps it until answered(). */
typedef struct rf__sent {
    struct rf__sent *next;
    rf__link *link; /* which it is on, or has its reply from; NULL: none */

    /*
     * Exactly once: RF_OK with the reply, which is there for the time of the
     * call; RF_UNKNOWN, or RF_RETRY when nothing can have gone out, with a text
     * in the link's error.
     */
    void (*answered)(struct rf__sent *sent, rf_status status,
                     const rf__reply *reply);
} rf__sent;

/*
 * Who is told that a link has ended, before its requests are, so that what is
 * sent again goes another way.  The link is gone then.
 */
typedef struct rf__link_owner {
    void (*ended)(rf__link *link, void *arg);
    void *arg;
    rf__error *error;
} rf__link_owner;

/* Takes ac over, also when it fails: NULL with a text, and the outcome. */
rf__link *rf__link_new(struct redisAsyncContext *ac,
                       const rf__link_owner *owner, rf_status *status);
void rf__link_own(rf__link *link, const rf__link_owner *owner);

/* RF_OK; otherwise RF_NOMEM or RF_RETRY: it was not sent, and the link ends. */
rf_status rf__link_send(rf__link *link, const rf__words *words, rf__sent *sent);

/* End it now. */
void rf__link_break(rf__link *link, const char *why);

/* End it when all that is on its way has been answered; send no more on it. */
void rf__link_leave(rf__link *link);

#endif /* RF_ASYNC_LINK_H */
