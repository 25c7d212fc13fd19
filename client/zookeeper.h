/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper.h - one session with ZooKeeper, and another when it has ended
 *
 * Knows servers, sessions, time limits and what a failure proves; nothing of
 * locks.  Its functions may be called from any thread.
 */
#ifndef RF_ZOOKEEPER_H
#define RF_ZOOKEEPER_H

#include "url.h"
#include "zookeeper_keys.h"

typedef struct rf__zoo rf__zoo;

/* NULL: out of memory, or no descriptor.  Freeing ends the session. */
rf__zoo *rf__zoo_new(const rf__service *service);
void rf__zoo_free(rf__zoo *z);

/* The same, but of one server alone: its number in the URL. */
rf__zoo *rf__zoo_only(const rf__zoo *z, size_t server);

/* Where the servers are, and who we are there. */
const rf__service *rf__zoo_service(const rf__zoo *z);

/*
 * Be connected by the deadline.  A new session, when there is none, is to
 * outlive ttl_ms, as far as the servers allow.  RF_OK, RF_RETRY, RF_MISUSE or
 * RF_NOMEM.
 */
rf_status rf__zoo_ready(rf__zoo *z, int64_t ttl_ms, int64_t deadline_ms,
                        rf__error *error);

/* The session that is now; all 0 when there is none. */
typedef struct rf__zoo_life {
    long number;     /* 1 or more, and never one twice              */
    int session_ms;  /* how long the servers keep it unheard of     */
    int64_t sure_ms; /* until then they keep it, whatever happens   */
} rf__zoo_life;

rf__zoo_life rf__zoo_session(rf__zoo *z);

/* ---- Requests ----------------------------------------------------------------- */

typedef enum rf__zoo_op {
    RF__ZOO_CREATE, /* a numbered node of this session: name, czxid, times */
    RF__ZOO_FOLDER, /* a node that others can be in                        */
    RF__ZOO_LIST,   /* names                                               */
    RF__ZOO_SYNC,   /* what is asked next is not older than this moment    */
    RF__ZOO_GET,    /* text, czxid, times                                  */
    RF__ZOO_WATCH,  /* the same; and rf__zoo_wait() ends when it changes    */
    RF__ZOO_SET,    /* czxid, times                                        */
    RF__ZOO_DELETE,
    RF__ZOO_RIGHTS, /* is_open                                              */
    RF__ZOO_CONFIG  /* n: how many servers are to be there, wherever the path */
} rf__zoo_op;

/* Answers that mean something to a lock; all else is a failure. */
typedef enum rf__zoo_code {
    RF__ZOO_DONE,
    RF__ZOO_NONE,  /* no such node          */
    RF__ZOO_EXISTS /* such a node is there  */
} rf__zoo_code;

typedef struct rf__zoo_reply {
    rf__zoo_code code;
    int64_t czxid;
    int64_t pzxid;           /* when last a node in it came or went */
    int64_t made_ms, set_ms; /* by the wall clock of the servers' leader */
    int is_ours;             /* it goes with this session                 */
    int is_open;             /* anybody may do more than read             */
    char text[RF__ZOO_NAME_MAX];
    char *names; /* n of them, each with its zero; the caller frees them */
    size_t n;
} rf__zoo_reply;

typedef struct rf__zoo_call rf__zoo_call;

/*
 * Send a request in that session; the servers do them in the order in which
 * they were sent.  NULL: out of memory.  Each must be asked for its answer, or
 * forgotten.
 */
rf__zoo_call *rf__zoo_send(rf__zoo *z, long session, rf__zoo_op op,
                           const char *path, const char *text);

/*
 * Its answer, and the call is gone.  RF_OK when reply->code tells; RF_UNKNOWN:
 * it may land, or has; RF_RETRY: it has not, and the session is over;
 * RF_MISUSE: refused for good; RF_NOMEM (also for a call that is NULL).
 */
rf_status rf__zoo_answer(rf__zoo *z, rf__zoo_call *call, int64_t deadline_ms,
                         rf__zoo_reply *reply, rf__error *error);
void rf__zoo_forget(rf__zoo *z, rf__zoo_call *call);

/*
 * Sleep until something watched has changed, the session is in trouble,
 * cancel_fd is readable (-1: never), or it is until_ms.  1: something has
 * happened since rf__zoo_begin_wait().  One thread at a time.
 */
void rf__zoo_begin_wait(rf__zoo *z);
int rf__zoo_wait(rf__zoo *z, int cancel_fd, int64_t until_ms);

#endif /* RF_ZOOKEEPER_H */
