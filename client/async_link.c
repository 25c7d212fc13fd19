/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_link.c - one of hiredis' connections that never block
 *
 * The only file that includes hiredis' asynchronous part.  Knows bytes and the
 * order of answers, and nothing of what is asked.  Written for hiredis 0.14 and
 * 1.x.
 */
#include "async_link.h"

#include <hiredis/async.h>
#include <hiredis/sds.h>
#include <pthread.h>
#include <stdlib.h>

/*
 * hiredis keeps a list of callbacks, one for each command.  Ours are all alike:
 * an answer belongs to the first request of our own list.  There is always one
 * callback more than there are requests, put there with a command of no bytes.
 * hiredis ends the program when an answer comes that nobody waits for; so the
 * spare one takes it, and the connection ends instead.  And when hiredis gives a
 * connection up, the spare one is called for the last time of all.
 */
struct rf__link {
    redisAsyncContext *ac; /* NULL: ended, and only waits for its callbacks */
    rf__link_owner owner;
    rf__sent *first, *last;
    size_t slots; /* callbacks that hiredis has of us */
    int leaving;
    rf__reply reply;
};

/* ---- Bounds ----------------------------------------------------------------- */

static const redisReplyObjectFunctions *usual;
static redisReplyObjectFunctions bounded;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/*
 * hiredis makes room for as many elements as are announced, and looks at each
 * when it frees them: two thousand million would keep the loop for seconds.
 */
#if HIREDIS_MAJOR >= 1
static void *make_array(const redisReadTask *task, size_t elements)
#else
static void *make_array(const redisReadTask *task, int elements)
#endif
{
    if ((long long)elements > RF__REPLY_ITEMS_MAX)
        return NULL;
    return usual->createArray(task, elements);
}

/* Replies stay hiredis' own: the caller may have sent a login before us. */
static void bound(redisReader *reader)
{
    pthread_mutex_lock(&mutex);
    if (usual == NULL) {
        usual = reader->fn;
        bounded = *usual;
        bounded.createArray = make_array;
    }
    pthread_mutex_unlock(&mutex);
    if (reader->fn == usual)
        reader->fn = &bounded;
    /* 0: never shrink.  Shrinking aborts the process when out of memory. */
    reader->maxbuf = 0;
}

/* ---- The end ---------------------------------------------------------------- */

static void fail_all(rf__link *link, rf_status status)
{
    rf__sent *sent = link->first;

    link->first = NULL;
    link->last = NULL;
    while (sent != NULL) {
        rf__sent *next = sent->next;

        sent->link = NULL;
        sent->answered(sent, status, NULL);
        sent = next;
    }
}

static redisAsyncContext *end(rf__link *link, const char *why)
{
    redisAsyncContext *ac = link->ac;
    int connected = ac->c.flags & REDIS_CONNECTED;

    link->ac = NULL;
    if (connected)
        rf__set_error(link->owner.error, "no answer from Redis: %s", why);
    else
        rf__set_error(link->owner.error, "cannot connect to Redis: %s", why);
    link->owner.ended(link, link->owner.arg);
    fail_all(link, connected ? RF_UNKNOWN : RF_RETRY);
    return ac;
}

void rf__link_break(rf__link *link, const char *why)
{
    /* The last callback, now or soon, frees the link. */
    redisAsyncFree(end(link, why));
}

void rf__link_leave(rf__link *link)
{
    link->leaving = 1;
    if (link->first == NULL)
        rf__link_break(link, "it is not asked any more");
}

/* ---- Answers ------------------------------------------------------------------ */

/* As a flat list.  0: too large, or no memory. */
static int flatten(rf__reply *out, const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return rf__reply_add_text(out, RF__STRING, reply->str,
                                  (size_t)reply->len);
    case REDIS_REPLY_ERROR:
        return rf__reply_add_text(out, RF__ERROR, reply->str,
                                  (size_t)reply->len);
    case REDIS_REPLY_INTEGER:
        return rf__reply_add(out, RF__INTEGER, reply->integer);
    case REDIS_REPLY_NIL: return rf__reply_add(out, RF__NIL, 0);
    case REDIS_REPLY_ARRAY: break;
    default: return 0;
    }
    if (!rf__reply_add(out, RF__ARRAY, (long long)reply->elements))
        return 0;
    for (size_t i = 0; i < reply->elements; i++) {
        if (!flatten(out, reply->element[i]))
            return 0;
    }
    return 1;
}

static void take(rf__link *link, const redisReply *reply)
{
    rf__sent *sent = link->first;

    rf__reply_clear(&link->reply);
    if (sent == NULL) {
        rf__link_break(link, "it says what nobody has asked for");
        return;
    }
    if (!flatten(&link->reply, reply)) {
        rf__link_break(link, link->reply.oversize ? "it is too large"
                                                  : "out of memory");
        return;
    }
    link->first = sent->next;
    if (link->first == NULL)
        link->last = NULL;
    sent->answered(sent, RF_OK, &link->reply);
    if (link->ac != NULL && link->leaving && link->first == NULL)
        rf__link_break(link, "it is not asked any more");
}

static void on_reply(redisAsyncContext *ac, void *reply, void *arg)
{
    rf__link *link = arg;

    link->slots--;
    if (link->ac != NULL && reply != NULL)
        take(link, reply);
    else if (link->ac != NULL)
        end(link, ac->errstr != NULL && ac->errstr[0] != '\0'
                      ? ac->errstr
                      : "the connection was closed");
    if (link->ac != NULL || link->slots > 0)
        return;
    rf__reply_free(&link->reply);
    free(link);
}

/* ---- Requests ----------------------------------------------------------------- */

/* 0: hiredis had no memory for all of it, which it does not always tell. */
static int append(rf__link *link, const char *bytes, size_t len)
{
    redisAsyncContext *ac = link->ac;
    const redisCallback *last = ac->replies.tail;
    size_t before = sdslen(ac->c.obuf);

    if (redisAsyncFormattedCommand(ac, on_reply, link, bytes, len) != REDIS_OK)
        return 0;
    if (ac->replies.tail == last)
        return 0;
    link->slots++;
    return ac->c.err == 0 && sdslen(ac->c.obuf) == before + len;
}

rf__link *rf__link_new(redisAsyncContext *ac, const rf__link_owner *owner,
                       rf_status *status)
{
    rf__link *link = NULL;

    *status = RF_RETRY;
    if (ac == NULL) {
        rf__set_error(owner->error, "cannot connect to Redis: the loop has no "
                                    "connection to give");
        return NULL;
    }
    if (ac->err != 0) {
        rf__set_error(owner->error, "cannot connect to Redis: %s", ac->errstr);
        redisAsyncFree(ac);
        return NULL;
    }
    *status = RF_NOMEM;
    rf__set_error(owner->error, "out of memory");
    link = calloc(1, sizeof(*link));
    if (link == NULL) {
        redisAsyncFree(ac);
        return NULL;
    }
    link->ac = ac;
    link->owner = *owner;
    bound(ac->c.reader);
    if (append(link, "*1\r\n$4\r\nPING\r\n", 0)) {
        *status = RF_OK;
        return link;
    }
    link->ac = NULL;
    if (link->slots == 0)
        free(link);
    redisAsyncFree(ac);
    return NULL;
}

void rf__link_own(rf__link *link, const rf__link_owner *owner)
{
    link->owner = *owner;
}

rf_status rf__link_send(rf__link *link, const rf__words *words, rf__sent *sent)
{
    rf__error *error = link->owner.error;

    if (!append(link, words->data, words->len)) {
        /* What stands there in part never goes out. */
        rf__link_break(link, "out of memory");
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    sent->next = NULL;
    sent->link = link;
    if (link->last != NULL)
        link->last->next = sent;
    else
        link->first = sent;
    link->last = sent;
    return RF_OK;
}
