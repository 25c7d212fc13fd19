/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async.h - what is inside a client that never blocks
 *
 * Everything that goes on is a job: it has a time at which it wants to be looked
 * at, and tells its caller when it is over.
 */
#ifndef RF_ASYNC_H
#define RF_ASYNC_H

#include "answer.h"
#include "async_link.h"
#include "due.h"
#include "lock.h"
#include "ringfence_async.h"

typedef struct rf__async rf__async;
typedef struct rf__line rf__line;

/* Something that wants to be called at a time.  Its owner knows what it is in. */
typedef struct rf__alarm {
    rf__due due;
    void (*ring)(struct rf__alarm *alarm);
} rf__alarm;

typedef struct rf__job {
    struct rf__job *next, *before; /* among all of its client's      */
    struct rf__job *next_told;     /* among those that are over      */
    rf__async *async;

    /* The client is closed, and it is not over: no more is to be done for it. */
    void (*abandon)(struct rf__job *job);

    /* It is over: tell its caller, with the message below, and free it. */
    void (*tell)(struct rf__job *job);
    rf_status status;
    int64_t busy_ms, begin_us;
    char message[sizeof(((rf__error *)0)->text)];
} rf__job;

#define RF__SPARE_LINKS 4
#define RF__LINE_ROWS   256

struct rf__async {
    rf__source base; /* it is a client's source, whose steps refuse */
    rf__source_ops ops;
    rf_client *client;
    rf_loop loop;
    pid_t pid;
    rf__author author;
    rf__words words;          /* of the request that is being sent            */
    rf__link *link, *leaving; /* for requests; see rf__async_leave()          */
    rf__link *spare[RF__SPARE_LINKS]; /* nobody waits on them at the moment */
    rf__line *lines[RF__LINE_ROWS];   /* of those that wait: async_line.c   */
    rf__due_queue alarms;
    size_t n_alarms; /* that may be in there at once */
    rf__job *jobs, *told_first, *told_last;
    int64_t armed_ms; /* when the loop is going to call; INT64_MAX: never */
    int ticking, closing;
};

/* async_refuse.c: every step that would block; close is still to be set. */
extern const rf__source_ops rf__refusing_ops;

/* Of a client that was opened for it and is open; NULL, with a text. */
rf__async *rf__async_of(rf_client *client);

/* RF_NOMEM with a text; what it needs of the client is there until it is told. */
rf_status rf__async_begin(rf__async *async, rf__job *job);

/* It is over: its caller is told at the next tick.  The text is the client's. */
void rf__async_over(rf__job *job, rf_status status);

/* Its caller is told, or it has none: it goes. */
void rf__async_free(rf__job *job);

/* At that time, unless it is unset before; setting it again moves it. */
void rf__async_set(rf__async *async, rf__alarm *alarm, int64_t at_ms);
void rf__async_unset(rf__async *async, rf__alarm *alarm);

/* The link for requests, made if need be.  NULL with a text and the outcome. */
rf__link *rf__async_link(rf__async *async, rf_status *status);

/* This server will go on refusing: what is to come goes another way. */
void rf__async_leave(rf__async *async, rf__link *link);

/* ---- async_ask.c: one script, asked until there is an answer -------------- */

typedef struct rf__ask {
    rf__sent sent;   /* first */
    rf__alarm alarm; /* no longer than this */
    rf__async *async;
    rf__grant grant;
    rf__request request;
    char tag[RF__TAG_LEN + 1]; /* of the same by text */
    const rf__script *script;
    rf_fence floor;
    int64_t deadline_ms;
    int by_text;
    int repeated;         /* an answer was lost, and it was sent once more */
    const int *withdrawn; /* not NULL, and set: not to be sent any more */
    void (*answered)(struct rf__ask *ask, rf_status status);
} rf__ask;

/*
 * grant, with what it points to, stays as long as the ask does.  When an answer
 * is lost it is sent once more, if there is time; so RF_UNKNOWN is final.  It is called back at once when nothing can be sent.
 */
void rf__ask_init(rf__ask *ask, rf__async *async, const rf__grant *grant,
                  void (*answered)(rf__ask *ask, rf_status status));
void rf__ask_send(rf__ask *ask, rf__step step, rf_fence floor,
                  int64_t deadline_ms);

/* ---- async_acquire.c and async_line.c: waiting ---------------------------- */

typedef struct rf__acquire {
    rf__job job; /* first */
    rf__ask ask;
    rf__alarm alarm; /* of a pause, or of the end while it stands in line */
    rf_lock *lock;
    rf_acquire_options opts;
    rf_fence floor;
    rf_on_acquired done;
    void *arg;
    int64_t end_ms, ceiling_ms, asked_us;
    int again;      /* the caller has it already              */
    int maybe;      /* a request may have landed that nobody answered */
    int unanswered; /* there was one, whatever was answered since   */
    int waited;     /* its first request was not the one              */
    int cancelled;  /* it gives up                                    */
    enum { RF__ASKING, RF__STANDING, RF__PAUSING, RF__RETURNING } state;
    struct rf__acquire *behind, *before; /* in its line */
    rf__line *line;                      /* NULL: it is in none */
} rf__acquire;

/* It is the first in its line now: it asks at the next tick. */
void rf__acquire_turn(rf__acquire *a);

/* Somebody gave the lock back, or it is time to see: its token is set. */
void rf__acquire_wake(rf__acquire *a);

/* It could not sleep: pause, then ask. */
void rf__acquire_pause(rf__acquire *a);

/* Is anybody in line for this? */
int rf__line_there(const rf__async *async, const char *resource);

/* Go to its end.  0: no memory. */
int rf__line_join(rf__acquire *a);

/* The first sleeps until its token is there, for_ms at the most. */
void rf__line_sleep(rf__acquire *first, int64_t for_ms);

/*
 * Out of the line; 1 when a wake-up may have been on its way to it and to nobody
 * else.  If it was the first, it is the next one's turn.
 */
int rf__line_leave(rf__acquire *a);

/* ---- async_lock.c ---------------------------------------------------------- */

/* One who leaned on the lock less: a released one goes with the last of them. */
void rf__async_drop(rf_lock *lock);

/* ---- async_keep.c --------------------------------------------------------- */

/* It is never renewed again. */
void rf__async_unkeep(rf_lock *lock);

#endif /* RF_ASYNC_H */
