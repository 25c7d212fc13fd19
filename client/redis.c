/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis.c - one connection to one Redis
 *
 * The only file that includes hiredis, and of it only what parses replies: the
 * sockets are ours, because hiredis' own stretch their timeouts at every
 * signal, raise SIGPIPE and are shared with a forked child.  Written for
 * hiredis 0.14 and 1.x.
 */
#include "redis.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "socket.h"
#include "tls.h"

struct rf__redis {
    rf__socket socket;
    int usual_ms;
    pid_t pid;
    rf__url url;
    redisReader *reader;
    rf__words out; /* commands that wait to be sent */
    rf__reply reply;
    rf__locator *locator; /* NULL: it stays where url says */
    int asking;

    /* In steps: where a connection stands. */
    enum { RF__READY, RF__BEGUN, RF__GREETED } stage;
    int which;       /* of the server's addresses       */
    int replies;     /* to the greeting, still to come  */
    size_t out_sent; /* of out                          */
    int partial;     /* a reply has begun and not ended */
    int heard;       /* anything at all                 */
    int understood;  /* a whole reply                   */
};

/* ---- Replies ------------------------------------------------------------ */

/*
 * hiredis calls these as it parses.  What they return only has to be something
 * other than NULL; NULL makes the parser give up.
 */
static void *add_item(const redisReadTask *task, rf__reply_type type,
                      long long number)
{
    return rf__reply_add(task->privdata, type, number) ? task->privdata : NULL;
}

static void *add_text(const redisReadTask *task, char *text, size_t len)
{
    rf__reply_type type = task->type == REDIS_REPLY_ERROR ? RF__ERROR
                                                          : RF__STRING;

    return rf__reply_add_text(task->privdata, type, text, len) ? task->privdata
                                                               : NULL;
}

static void *add_integer(const redisReadTask *task, long long value)
{
    return add_item(task, RF__INTEGER, value);
}

static void *add_nil(const redisReadTask *task)
{
    return add_item(task, RF__NIL, 0);
}

#if HIREDIS_MAJOR >= 1
static void *add_array(const redisReadTask *task, size_t elements)
#else
static void *add_array(const redisReadTask *task, int elements)
#endif
{
    return add_item(task, RF__ARRAY, (long long)elements);
}

#if HIREDIS_MAJOR >= 1
/* Never asked for: these belong to a version of the protocol we don't speak. */
static void *refuse_double(const redisReadTask *task, double value, char *text,
                           size_t len)
{
    (void)task, (void)value, (void)text, (void)len;
    return NULL;
}

static void *refuse_bool(const redisReadTask *task, int value)
{
    (void)task, (void)value;
    return NULL;
}
#endif

static void free_nothing(void *object)
{
    (void)object;
}

static redisReplyObjectFunctions reply_functions = {
    .createString = add_text,
    .createArray = add_array,
    .createInteger = add_integer,
    .createNil = add_nil,
#if HIREDIS_MAJOR >= 1
    .createDouble = refuse_double,
    .createBool = refuse_bool,
#endif
    .freeObject = free_nothing,
};

/* ---- Connection --------------------------------------------------------- */

rf__redis *rf__redis_new(const rf__url *url, int usual_ms)
{
    rf__redis *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    r->socket.fd = -1;
    r->usual_ms = usual_ms;
    r->url = *url;
    rf__tls_keep(url->tls);
    return r;
}

rf__redis *rf__redis_again(const rf__redis *r)
{
    rf__redis *again = rf__redis_new(&r->url, r->usual_ms);

    if (again == NULL || r->locator == NULL)
        return again;
    again->locator = r->locator->again(r->locator);
    if (again->locator != NULL)
        return again;
    rf__redis_free(again);
    return NULL;
}

void rf__redis_locate_by(rf__redis *r, rf__locator *l)
{
    r->locator = l;
}

void rf__redis_place(const rf__redis *r, char *out, size_t size)
{
    if (r->url.path[0] != '\0')
        (void)snprintf(out, size, "%s", r->url.path);
    else
        (void)snprintf(out, size, "%s:%d", r->url.host, r->url.port);
}

int rf__redis_located(const rf__redis *r)
{
    return r->locator != NULL;
}

void rf__redis_close(rf__redis *r)
{
    rf__socket_close(&r->socket);
    if (r->reader != NULL)
        redisReaderFree(r->reader);
    r->reader = NULL;
    r->out.len = 0;
    r->out_sent = 0;
    r->stage = RF__READY;
    r->partial = 0;
    r->heard = 0;
    r->understood = 0;
}

void rf__redis_set_asking(rf__redis *r, int asking)
{
    r->asking = asking;
}

int rf__redis_asks(const rf__redis *r)
{
    return r->asking;
}

const char *rf__redis_refusal(const rf__redis *r)
{
    return rf__reply_kind(&r->reply, 0) == RF__ERROR
               ? rf__reply_text(&r->reply, 0)
               : NULL;
}

int rf__redis_connected(const rf__redis *r)
{
    return r->socket.fd >= 0;
}

void rf__redis_free(rf__redis *r)
{
    if (r == NULL)
        return;
    rf__redis_close(r);
    if (r->locator != NULL)
        r->locator->free(r->locator);
    rf__tls_drop(r->url.tls);
    explicit_bzero(&r->url, sizeof(r->url));
    rf__words_free(&r->out);
    rf__reply_free(&r->reply);
    free(r);
}

rf__words *rf__redis_out(rf__redis *r)
{
    return &r->out;
}

rf_status rf__redis_send(rf__redis *r, int64_t deadline_ms, rf__error *error)
{
    size_t sent = 0;
    int failure = rf__socket_send(&r->socket, r->out.data, r->out.len,
                                  deadline_ms, &sent);

    r->out.len = 0;
    r->reply.count = 0;
    if (failure == 0)
        return RF_OK;
    rf__redis_close(r);
    rf__set_error(error, "connection to Redis lost while sending: %s",
                  rf__socket_reason(&r->socket, failure));
    return sent == 0 ? RF_RETRY : RF_UNKNOWN;
}

/* Nothing that was sent before can be trusted to have been answered. */
static rf_status give_up(rf__redis *r, rf__error *error, const char *what)
{
    rf__redis_close(r);
    rf__set_error(error, "no answer from Redis: %s", what);
    return RF_UNKNOWN;
}

rf_status rf__redis_await(rf__redis *r, int other_fd, int64_t deadline_ms,
                          rf__error *error)
{
    int failure = rf__socket_await(&r->socket, other_fd, deadline_ms);

    if (failure == 0)
        return RF_OK;
    if (failure != ECANCELED)
        return give_up(r, error, rf__socket_reason(&r->socket, failure));
    rf__redis_close(r);
    return RF_TIMEOUT;
}

/*
 * It closed the connection.  One that wants TLS does so at the first word in
 * the clear, and mostly without a word of its own.
 */
static rf_status broke_off(rf__redis *r, rf__error *error, int failure)
{
    if (!r->heard && r->url.tls == NULL)
        return give_up(r, error,
                       r->url.path[0] != '\0'
                           ? "it broke off without a word (is it Redis?)"
                           : "it broke off without a word (is it Redis? if it "
                             "wants TLS, the URL begins with rediss)");
    return give_up(r, error,
                   failure == 0 ? "it closed the connection"
                                : rf__socket_reason(&r->socket, failure));
}

/* As a deadline: take what is there and don't wait. */
#define AT_ONCE 0

static void begin_reply(rf__redis *r, rf__reply *into)
{
    rf__reply_clear(into);
    r->reader->privdata = into;
}

/*
 * What can't be read is trusted in nothing.  But one whose very first words are
 * no reply has carried nothing out: it is no Redis, however often it is asked.
 * What is too large is none of those: we refuse it as if memory had run out.
 */
static rf_status not_a_reply(rf__redis *r, const rf__reply *into,
                             rf__error *error)
{
    int stranger = !r->understood && r->reader->err == REDIS_ERR_PROTOCOL;
    char place[160];

    (void)give_up(r, error,
                  into->oversize                    ? "it is too large"
                  : r->reader->err == REDIS_ERR_OOM ? "out of memory"
                                                    : "it is no reply");
    if (!stranger)
        return RF_UNKNOWN;
    rf__redis_place(r, place, sizeof(place));
    rf__set_error(error,
                  "%s does not speak the Redis protocol (another "
                  "server's port?)",
                  place);
    return RF_MISUSE;
}

static rf_status receive_more(rf__redis *r, int64_t deadline_ms,
                              rf__reply *into, rf__error *error)
{
    char data[4096];
    size_t total = 0, got;
    void *done = NULL;
    int failure;

    for (;;) {
        if (redisReaderGetReply(r->reader, &done) != REDIS_OK)
            return not_a_reply(r, into, error);
        if (done != NULL) {
            r->understood = 1;
            return RF_OK;
        }
        if (total > 2 * RF__REPLY_BYTES_MAX)
            return give_up(r, error, "it is too large");
        failure = rf__socket_recv(&r->socket, data, sizeof(data), deadline_ms,
                                  &got);
        if (failure == ETIMEDOUT && deadline_ms == AT_ONCE)
            return RF__PENDING;
        if (failure == ECONNRESET || (failure == 0 && got == 0))
            return broke_off(r, error, failure);
        if (failure != 0)
            return give_up(r, error, rf__socket_reason(&r->socket, failure));
        r->heard = 1;
        if (redisReaderFeed(r->reader, data, got) != REDIS_OK)
            return give_up(r, error, "out of memory");
        total += got;
    }
}

static rf_status receive(rf__redis *r, int64_t deadline_ms, rf__reply *into,
                         rf__error *error)
{
    begin_reply(r, into);
    return receive_more(r, deadline_ms, into, error);
}

rf_status rf__redis_reply(rf__redis *r, int64_t deadline_ms,
                          const rf__reply **out, rf__error *error)
{
    rf_status status = receive(r, deadline_ms, &r->reply, error);

    *out = status == RF_OK ? &r->reply : NULL;
    return status;
}

long long rf__redis_number(rf__redis *r, int64_t deadline_ms)
{
    rf__reply reply = { 0 };
    rf__error ignored;
    long long number = -1;

    if (receive(r, deadline_ms, &reply, &ignored) == RF_OK &&
        rf__reply_kind(&reply, 0) == RF__INTEGER)
        number = rf__reply_number(&reply, 0);
    rf__reply_free(&reply);
    return number;
}

/* ---- Greeting ------------------------------------------------------------ */

static rf_status append_words(rf__redis *r, int argc, const char *const *argv)
{
    int fine = rf__words_begin(&r->out, (size_t)argc);

    for (int i = 0; i < argc && fine; i++)
        fine = rf__words_text(&r->out, argv[i]);
    return fine ? RF_OK : RF_NOMEM;
}

/*
 * A server that wants another certificate, or one at all, says so when a TLS
 * 1.3 handshake is over for us: nothing that matters may be sent before it has
 * answered something.
 */
static int only_pings(const rf__redis *r)
{
    return r->url.tls != NULL && r->url.password[0] == '\0' && r->url.db == 0 &&
           r->locator == NULL;
}

/* A command of the greeting, and so one more reply to come. */
static rf_status append_command(rf__redis *r, int *replies, int argc,
                                const char *const *argv)
{
    ++*replies;
    return append_words(r, argc, argv);
}

static rf_status append_greeting(rf__redis *r, int *replies, rf__error *error)
{
    const char *both[] = { "AUTH", r->url.user, r->url.password };
    const char *password[] = { "AUTH", r->url.password };
    const char *role[] = { "ROLE" };
    const char *ping[] = { "PING" };
    char db[16];
    const char *number[] = { "SELECT", db };
    rf_status status = RF_OK;

    *replies = 0;
    if (r->url.user[0] != '\0')
        status = append_command(r, replies, 3, both);
    else if (r->url.password[0] != '\0')
        status = append_command(r, replies, 2, password);
    if (status == RF_OK && r->url.db != 0) {
        snprintf(db, sizeof(db), "%d", r->url.db);
        status = append_command(r, replies, 2, number);
    }
    /* Who pointed us here may know less than the server itself. */
    if (status == RF_OK && r->locator != NULL)
        status = append_command(r, replies, 1, role);
    if (only_pings(r))
        status = append_command(r, replies, 1, ping);
    if (status != RF_OK)
        rf__set_error(error, "out of memory");
    return status;
}

/*
 * Never quotes what Redis answers: it repeats the arguments of a command that
 * it does not know, and here that is a password.
 */
static rf_status check_greeting(rf__redis *r, const rf__reply *reply,
                                rf__error *error)
{
    const char *text = rf__reply_text(reply, 0);
    const rf__redis_failure *why;

    if (rf__reply_kind(reply, 0) == RF__ERROR) {
        why = rf__redis_explain(text != NULL ? text : "");
        /* Whoever may not PING has been answered all the same. */
        if (only_pings(r) && strcmp(why->code, "NOPERM") == 0)
            return RF_OK;
        rf__set_error(error, "login or database refused by Redis: %s (%s)",
                      why->text, why->code);
        return why->status;
    }
    /* Only ROLE is answered by a list. */
    if (rf__reply_kind(reply, 0) != RF__ARRAY)
        return RF_OK;
    text = rf__reply_text(reply, 1);
    if (text != NULL && strcmp(text, "master") == 0)
        return RF_OK;
    rf__set_error(error, "%s port %d is not a master", r->url.host,
                  r->url.port);
    return RF_RETRY;
}

/* No request was sent yet, so there is nothing that might have landed. */
static rf_status not_greeted(const rf__redis *r, rf_status status)
{
    if (status != RF_UNKNOWN && status != RF_RETRY)
        return status;
    return r->socket.refused ? RF_MISUSE : RF_RETRY;
}

/* Authenticate, select, and see to it that a master that moved is one. */
static rf_status greet(rf__redis *r, int64_t deadline_ms, rf__error *error)
{
    const rf__reply *reply;
    int replies;
    rf_status status = append_greeting(r, &replies, error);

    if (status == RF_OK && replies > 0)
        status = rf__redis_send(r, deadline_ms, error);
    while (status == RF_OK && replies-- > 0) {
        status = rf__redis_reply(r, deadline_ms, &reply, error);
        if (status == RF_OK)
            status = check_greeting(r, reply, error);
    }
    return not_greeted(r, status);
}

/* The socket is connected: what else a connection needs. */
static rf_status set_up(rf__redis *r, rf__error *error)
{
    r->pid = rf__process_id();
    r->reader = redisReaderCreateWithFunctions(&reply_functions);
    if (r->reader == NULL) {
        rf__redis_close(r);
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    /* 0: never shrink.  Shrinking aborts the process when out of memory. */
    r->reader->maxbuf = 0;
    return RF_OK;
}

rf_status rf__redis_connect(rf__redis *r, int64_t deadline_ms, rf__error *error)
{
    rf_status status;

    /* The socket of before a fork is the parent's: close our copy only. */
    if (r->socket.fd >= 0 && r->pid == rf__process_id())
        return RF_OK;
    rf__redis_close(r);
    r->reply.count = 0;

    if (r->locator != NULL) {
        /* Whoever is found may be gone: leave time to look again. */
        deadline_ms = rf__now_ms() + (rf__left_ms(deadline_ms) + 1) / 2;
        status = r->locator->locate(r->locator, &r->url, deadline_ms, error);
        if (status != RF_OK)
            return status;
    }
    status = rf__socket_connect(&r->socket, &r->url, r->usual_ms, deadline_ms,
                                error);
    if (status != RF_OK)
        return status;
    status = set_up(r, error);
    if (status != RF_OK)
        return status;
    status = greet(r, deadline_ms, error);
    if (status != RF_OK)
        rf__redis_close(r);
    return status;
}

rf_status rf__redis_question(rf__redis *r, const char *const *words,
                             int64_t deadline_ms, const rf__reply **out,
                             rf__error *error)
{
    rf_status status = rf__redis_connect(r, deadline_ms, error);
    int n = 0;

    if (status != RF_OK)
        return status;
    while (words[n] != NULL)
        n++;
    if (append_words(r, n, words) != RF_OK) {
        rf__redis_close(r);
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    status = rf__redis_send(r, deadline_ms, error);
    if (status == RF_OK)
        status = rf__redis_reply(r, deadline_ms, out, error);
    if (status == RF_OK && rf__reply_kind(*out, 0) == RF__ERROR) {
        const char *text = rf__reply_text(*out, 0);
        const rf__redis_failure *why = rf__redis_explain(text ? text : "");

        rf__set_error(error, "%s (%s)", why->text, why->code);
        return why->status;
    }
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* ---- In steps ------------------------------------------------------------- */

int rf__redis_fd(const rf__redis *r)
{
    return r->socket.fd;
}

rf_status rf__redis_step_send(rf__redis *r, short *events, rf__error *error)
{
    size_t sent = 0;
    int failure;

    /* A greeting may have nothing to say. */
    if (r->out.len == 0)
        return RF_OK;
    failure = rf__socket_send(&r->socket, r->out.data + r->out_sent,
                              r->out.len - r->out_sent, AT_ONCE, &sent);
    r->out_sent += sent;
    if (failure == ETIMEDOUT) {
        *events = r->socket.events;
        return RF__PENDING;
    }
    if (failure != 0) {
        sent = r->out_sent;
        rf__redis_close(r);
        rf__set_error(error, "connection to Redis lost while sending: %s",
                      rf__socket_reason(&r->socket, failure));
        return sent == 0 ? RF_RETRY : RF_UNKNOWN;
    }
    r->out.len = 0;
    r->out_sent = 0;
    return RF_OK;
}

rf_status rf__redis_step_reply(rf__redis *r, short *events,
                               const rf__reply **out, rf__error *error)
{
    rf_status status;

    *out = NULL;
    if (!r->partial)
        begin_reply(r, &r->reply);
    r->partial = 1;
    status = receive_more(r, AT_ONCE, &r->reply, error);
    *events = r->socket.events;
    if (status == RF__PENDING)
        return status;
    r->partial = 0;
    if (status == RF_OK)
        *out = &r->reply;
    return status;
}

static rf_status cannot_connect(rf__redis *r, int failure, rf__error *error)
{
    rf__set_error(error, "cannot connect to %s port %d: %s", r->url.host,
                  r->url.port, rf__socket_reason(&r->socket, failure));
    return rf__socket_status(failure);
}

/* The next address that a connection can be begun to. */
static rf_status begin(rf__redis *r, rf__error *error)
{
    rf_status status = RF_RETRY;
    int failure;

    while ((failure = rf__socket_begin(&r->socket, &r->url, r->which++)) > 0)
        status = cannot_connect(r, failure, error);
    if (failure < 0) {
        rf__redis_close(r);
        return status;
    }
    r->stage = RF__BEGUN;
    return RF_OK;
}

/* Until an address takes the connection. */
static rf_status step_begun(rf__redis *r, short *events, rf__error *error)
{
    for (;;) {
        int failure = rf__socket_begun(&r->socket, &r->url, r->usual_ms);
        rf_status status;

        if (failure == EINPROGRESS) {
            *events = r->socket.events;
            return RF__PENDING;
        }
        if (failure == 0)
            return RF_OK;
        rf__socket_close(&r->socket);
        status = cannot_connect(r, failure, error);
        if (begin(r, error) != RF_OK)
            return status;
    }
}

static rf_status step_greeting(rf__redis *r, short *events, rf__error *error)
{
    const rf__reply *reply;
    rf_status status = rf__redis_step_send(r, events, error);

    while (status == RF_OK && r->replies > 0) {
        status = rf__redis_step_reply(r, events, &reply, error);
        if (status == RF_OK)
            status = check_greeting(r, reply, error);
        if (status == RF_OK)
            r->replies--;
    }
    return not_greeted(r, status);
}

rf_status rf__redis_step_connect(rf__redis *r, short *events, rf__error *error)
{
    rf_status status = RF_OK;

    if (r->socket.fd >= 0 && r->pid == rf__process_id() &&
        r->stage == RF__READY)
        return RF_OK;
    if (r->socket.fd < 0 || r->pid != rf__process_id()) {
        rf__redis_close(r);
        r->pid = rf__process_id();
        r->which = 0;
        status = begin(r, error);
    }
    if (status == RF_OK && r->stage == RF__BEGUN) {
        status = step_begun(r, events, error);
        if (status == RF_OK)
            status = set_up(r, error);
        if (status == RF_OK)
            status = append_greeting(r, &r->replies, error);
        if (status == RF_OK)
            r->stage = RF__GREETED;
    }
    if (status == RF_OK)
        status = step_greeting(r, events, error);
    if (status == RF_OK)
        r->stage = RF__READY;
    else if (status != RF__PENDING)
        rf__redis_close(r);
    return status;
}
