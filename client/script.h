/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * script.h - the atomic steps: one Lua script each, run on a connection
 *
 * Knows keys, arguments and the echo in the reply.  What an outcome means is
 * the caller's business.
 */
#ifndef RF_SCRIPT_H
#define RF_SCRIPT_H

#include "redis.h"

#define RF__PREFIX_MAX 64
#define RF__KEY_MAX    (RF__PREFIX_MAX + RF_RESOURCE_MAX + 16)
#define RF__TAG_LEN    40

typedef enum rf__key {
    RF__KEY_LOCK = 0,
    RF__KEY_COUNTER = 1,
    RF__KEY_WAKE = 2,
    RF__KEY_WAITERS = 3,
    RF__KEY_READERS = 4,
    RF__KEYS = 5
} rf__key;

typedef struct rf__script {
    const char *name; /* what the reply begins with                      */
    const char *text;
    const char *sha1;
    int keys; /* how many, and which                             */
    rf__key key[RF__KEYS];
} rf__script;

extern const rf__script rf__script_acquire, rf__script_renew,
    rf__script_release, rf__script_reissue, rf__script_inspect,
    rf__script_force_release, rf__script_acquire_all, rf__script_raise,
    rf__script_withdraw, rf__script_acquire_shared, rf__script_renew_shared,
    rf__script_release_shared, rf__script_probe;

#define RF__ARGS_MAX 6

/* One request.  The tag comes back in the reply. */
typedef struct rf__call {
    const rf__script *script;
    const char *prefix;
    const char *resource;
    const char *const *more; /* resources beside the first, or NULL      */
    size_t n_more;
    const char *echo;               /* second element of the reply     */
    const char *args[RF__ARGS_MAX]; /* the tag not among them          */
    int n;
    const char *tag;
    const char *idle;    /* behind the tag, for who has to know; or NULL     */
    int64_t sent_ms;     /* out: clock just before the send                  */
    int replicas;        /* how many shall have it; 0: nobody asks           */
    int replicas_ms;     /* how long to wait for them                        */
    long long confirmed; /* out: how many do; -1: unknown                */
} rf__call;

/* Name of a key of a resource, zero-terminated.  Returns its length. */
size_t rf__key_name(char out[RF__KEY_MAX], rf__key key, const char *prefix,
                    const char *resource);

/*
 * The pure parts, for whoever has a connection of another kind: the request as
 * bytes (EVALSHA with its digest, or EVAL with the whole text; 0: no memory), and
 * what its reply says, as rf__script_take() tells it.  *leave: nothing that comes
 * on this connection can be trusted, or will be any better.
 */
int rf__script_write(rf__words *w, const rf__call *call, int by_text);
rf_status rf__script_verdict(const rf__call *call, const rf__reply *reply,
                             int *leave, rf__error *error);

/* What an error reply means: its status, with a text. */
rf_status rf__script_refusal(const rf__reply *reply, int *leave,
                             rf__error *error);

/*
 * Run it.  RF_OK: *reply is an array of count items, and it is the answer to
 * this very request; its outcome is item RF__OUTCOME.  Otherwise as
 * rf__redis_failure says, or RF_RETRY, RF_UNKNOWN, RF_NOMEM, with a text.  Where
 * the server moves, what did not land is tried again until the deadline.
 */
#define RF__OUTCOME 4
rf_status rf__script_run(rf__redis *r, rf__call *call, int64_t deadline_ms,
                         const rf__reply **reply, rf__error *error);

/*
 * The same in two halves, for several requests on their way at once: connect
 * first, put each, send all with rf__redis_send(), then take the answers in the
 * order of the requests.  Sets no sent_ms.  Taking one may give RF__UNSENT: the
 * script was not in Redis' cache and nothing was done; run it by itself.
 */
#define RF__UNSENT ((rf_status)-1)
rf_status rf__script_put(rf__redis *r, const rf__call *call, rf__error *error);
rf_status rf__script_take(rf__redis *r, rf__call *call, int64_t deadline_ms,
                          const rf__reply **reply, rf__error *error);

/*
 * For exchange.c: by_text puts the whole script, and what a reply says is judged
 * when it is there.
 */
rf_status rf__script_put_text(rf__redis *r, const rf__call *call,
                              rf__error *error);
rf_status rf__script_judge(rf__redis *r, const rf__call *call,
                           const rf__reply *reply, rf__error *error);

/* The same for a reply on r, which is closed if it is to be left. */
rf_status rf__script_refused(rf__redis *r, const rf__reply *reply,
                             rf__error *error);

#endif /* RF_SCRIPT_H */
