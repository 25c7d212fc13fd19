/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis.h - one connection to one Redis
 *
 * A connection that has failed in any way is closed at once: a reply that
 * comes late must never be read as the answer to a later request.  The next
 * rf__redis_connect() makes a new one.  It does so in a forked child as well.
 */
#ifndef RF_REDIS_H
#define RF_REDIS_H

#include "internal.h"
#include "reply.h"
#include "url.h"
#include "words.h"

typedef struct rf__redis rf__redis;

/*
 * Knows where a server is that moves, and is asked whenever a connection has to
 * be made.  What is found there must say of itself that it is a master.
 */
typedef struct rf__locator rf__locator;
struct rf__locator {
    rf_status (*locate)(rf__locator *l, rf__url *url, int64_t deadline_ms,
                        rf__error *error);
    rf__locator *(*again)(const rf__locator *l); /* NULL: out of memory */
    void (*free)(rf__locator *l);
};

/*
 * usual_ms: the limit of most requests.  Connects nothing.  NULL when out of
 * memory.
 */
rf__redis *rf__redis_new(const rf__url *url, int usual_ms);
rf__redis *rf__redis_again(const rf__redis *r); /* to the same server */
void rf__redis_free(rf__redis *r);
void rf__redis_close(rf__redis *r);
int rf__redis_connected(const rf__redis *r);

/* Where it is, for people: host:port, or a path. */
void rf__redis_place(const rf__redis *r, char *out, size_t size);

/* From now on l, which belongs to r, says where the server is. */
void rf__redis_locate_by(rf__redis *r, rf__locator *l);
int rf__redis_located(const rf__redis *r);

/*
 * See to a connection of this process, authenticated and on its database.
 * RF_OK, RF_RETRY, RF_MISUSE or RF_NOMEM: nothing but the greeting was sent.
 */
rf_status rf__redis_connect(rf__redis *r, int64_t deadline_ms,
                            rf__error *error);

/*
 * Commands that wait to be sent.  When one can't be written whole, the
 * connection must be closed.
 */
rf__words *rf__redis_out(rf__redis *r);

/*
 * Send what was appended.  RF_OK, RF_RETRY when no byte went out, RF_UNKNOWN
 * when some did.
 */
rf_status rf__redis_send(rf__redis *r, int64_t deadline_ms, rf__error *error);

/*
 * Wait for a reply to begin, so that something else can end the wait.  RF_OK:
 * take it now; RF_TIMEOUT: other_fd became readable, and the connection is
 * closed, with whatever was on its way; RF_UNKNOWN with a text.
 */
rf_status rf__redis_await(rf__redis *r, int other_fd, int64_t deadline_ms,
                          rf__error *error);

/*
 * The next reply; it stays until the next call on r.  RF_OK, or RF_UNKNOWN
 * when it did not come or was none.  An error that Redis answers is RF_OK
 * here and RF__ERROR in the reply.
 */
rf_status rf__redis_reply(rf__redis *r, int64_t deadline_ms,
                          const rf__reply **out, rf__error *error);

/*
 * The same for a reply that must be a number; the one before it stays.  -1 when
 * it is none or did not come.
 */
long long rf__redis_number(rf__redis *r, int64_t deadline_ms);

/*
 * Connect, send one command and wait for its reply: for questions that change
 * nothing.  words ends in NULL.  RF_OK with a reply that is no error; RF_UNKNOWN
 * becomes RF_RETRY.
 */
rf_status rf__redis_question(rf__redis *r, const char *const *words,
                             int64_t deadline_ms, const rf__reply **out,
                             rf__error *error);

/*
 * The same in steps, for who talks to several servers at once.  Nothing blocks,
 * but for resolving a name.  RF__PENDING: again when *events are there on
 * rf__redis_fd().  Between two steps nothing else may be asked of r, but to
 * close it.
 */
#define RF__PENDING ((rf_status)-2)
int rf__redis_fd(const rf__redis *r);
rf_status rf__redis_step_connect(rf__redis *r, short *events, rf__error *error);
rf_status rf__redis_step_send(rf__redis *r, short *events, rf__error *error);
rf_status rf__redis_step_reply(rf__redis *r, short *events,
                               const rf__reply **out, rf__error *error);

/* Text of the last reply when that was an error; else NULL. */
const char *rf__redis_refusal(const rf__redis *r);

/*
 * For the node of a cluster that is about to get a slot: until it is set to 0,
 * ASKING goes before every script.
 */
void rf__redis_set_asking(rf__redis *r, int asking);
int rf__redis_asks(const rf__redis *r);

/* redis_error.c: what an error reply means.  Never looks beyond its code. */
typedef struct rf__redis_failure {
    const char *code; /* as Redis writes it                            */
    rf_status status;
    int leave;        /* this server will go on refusing: disconnect   */
    const char *text; /* for people                                    */
} rf__redis_failure;

const rf__redis_failure *rf__redis_explain(const char *reply);

#endif /* RF_REDIS_H */
