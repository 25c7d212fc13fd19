/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * script.c - the atomic steps: one Lua script each, run on a connection
 *
 * By digest first, by text when Redis does not have it (after a restart, a
 * fail-over or SCRIPT FLUSH).  A reply counts only when it names the step, the
 * holder and the tag of this request: one that was left over, doubled or
 * swapped on the way can't pass for it.
 */
#include "script.h"

#include <stdio.h>
#include <string.h>

#include "backoff.h"
#include "lua_scripts.h"

#define SCRIPT(n, k, ...)                                       \
    const rf__script rf__script_##n = {                         \
        #n, rf__lua_##n, rf__lua_##n##_sha1, k, { __VA_ARGS__ } \
    }

SCRIPT(acquire, 4, RF__KEY_LOCK, RF__KEY_COUNTER, RF__KEY_WAKE,
       RF__KEY_WAITERS);
SCRIPT(acquire_all, 4, RF__KEY_LOCK, RF__KEY_COUNTER, RF__KEY_WAKE,
       RF__KEY_WAITERS);
SCRIPT(renew, 2, RF__KEY_LOCK, RF__KEY_COUNTER);
SCRIPT(release, 3, RF__KEY_LOCK, RF__KEY_WAKE, RF__KEY_WAITERS);
SCRIPT(reissue, 2, RF__KEY_LOCK, RF__KEY_COUNTER);
SCRIPT(raise, 2, RF__KEY_LOCK, RF__KEY_COUNTER);
SCRIPT(withdraw, 3, RF__KEY_LOCK, RF__KEY_WAKE, RF__KEY_WAITERS);
SCRIPT(inspect, 4, RF__KEY_LOCK, RF__KEY_COUNTER, RF__KEY_READERS,
       RF__KEY_WAITERS);
SCRIPT(force_release, 3, RF__KEY_LOCK, RF__KEY_WAKE, RF__KEY_WAITERS);
SCRIPT(probe, 1, RF__KEY_LOCK);

SCRIPT(acquire_shared, 4, RF__KEY_LOCK, RF__KEY_WAKE, RF__KEY_WAITERS,
       RF__KEY_READERS);
SCRIPT(renew_shared, 2, RF__KEY_LOCK, RF__KEY_READERS);
SCRIPT(release_shared, 4, RF__KEY_LOCK, RF__KEY_WAKE, RF__KEY_WAITERS,
       RF__KEY_READERS);

size_t rf__key_name(char out[RF__KEY_MAX], rf__key key, const char *prefix,
                    const char *resource)
{
    static const char *const endings[] = { "}", "}:fence", "}:wake",
                                           "}:waiters", "}:readers" };
    size_t p = strlen(prefix), r = strlen(resource), e = strlen(endings[key]);

    out[0] = '{';
    memcpy(out + 1, prefix, p);
    memcpy(out + 1 + p, resource, r);
    memcpy(out + 1 + p + r, endings[key], e + 1);
    return 1 + p + r + e;
}

/* A lock is renewed where it is, wherever its counter may be just then. */
static int keys_of(const rf__call *call)
{
    int alone = call->script == &rf__script_renew && call->idle == NULL;

    return alone ? 1 : call->script->keys;
}

static int append_keys(rf__words *w, const rf__call *call, const char *resource)
{
    char key[RF__KEY_MAX];
    int fine = 1;

    for (int i = 0; i < keys_of(call) && fine; i++) {
        size_t len = rf__key_name(key, call->script->key[i], call->prefix,
                                  resource);

        fine = rf__words_add(w, key, len);
    }
    return fine;
}

int rf__script_write(rf__words *w, const rf__call *call, int by_text)
{
    size_t keys = (size_t)keys_of(call) * (1 + call->n_more);
    char count[RF__DECIMAL_MAX];
    int fine;

    rf__decimal_write(count, (int64_t)keys);
    fine = rf__words_begin(w, 3 + keys + (size_t)call->n + 1 +
                                  (call->idle != NULL)) &&
           rf__words_text(w, by_text ? "EVAL" : "EVALSHA") &&
           rf__words_text(w,
                          by_text ? call->script->text : call->script->sha1) &&
           rf__words_text(w, count) && append_keys(w, call, call->resource);
    for (size_t i = 0; i < call->n_more && fine; i++)
        fine = append_keys(w, call, call->more[i]);
    for (int i = 0; i < call->n && fine; i++)
        fine = rf__words_text(w, call->args[i]);
    fine = fine && rf__words_text(w, call->tag);
    return fine && (call->idle == NULL || rf__words_text(w, call->idle));
}

static int append_asking(rf__words *w)
{
    return rf__words_begin(w, 1) && rf__words_text(w, "ASKING");
}

/* Behind the script, because it counts those who have what came before it. */
static int append_wait(rf__words *w, const rf__call *call)
{
    char replicas[RF__DECIMAL_MAX], ms[RF__DECIMAL_MAX];

    rf__decimal_write(replicas, call->replicas);
    /* To Redis 0 means for ever. */
    rf__decimal_write(ms, call->replicas_ms > 0 ? call->replicas_ms : 1);
    return rf__words_begin(w, 3) && rf__words_text(w, "WAIT") &&
           rf__words_text(w, replicas) && rf__words_text(w, ms);
}

static int text_is(const rf__reply *reply, size_t i, const char *wanted)
{
    const char *text = rf__reply_text(reply, i);

    return text != NULL && rf__reply_kind(reply, i) == RF__STRING &&
           strcmp(text, wanted) == 0;
}

/* Flat, named, and with nothing but text in it. */
static int is_answer(const rf__reply *reply, const rf__call *call)
{
    size_t n = rf__reply_count(reply);

    if (rf__reply_kind(reply, 0) != RF__ARRAY || n < RF__OUTCOME + 2)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (rf__reply_kind(reply, i) != RF__STRING ||
            rf__reply_text(reply, i) == NULL)
            return 0;
    }
    return text_is(reply, 1, call->script->name) &&
           text_is(reply, 2, call->echo) && text_is(reply, 3, call->tag);
}

static rf_status put(rf__redis *r, const rf__call *call, int by_text,
                     rf__error *error)
{
    rf__words *out = rf__redis_out(r);

    if ((!rf__redis_asks(r) || append_asking(out)) &&
        rf__script_write(out, call, by_text) &&
        (call->replicas == 0 || append_wait(out, call)))
        return RF_OK;
    /* Half a command stands there now: nothing may follow it. */
    rf__redis_close(r);
    rf__set_error(error, "out of memory");
    return RF_NOMEM;
}

static rf_status send_call(rf__redis *r, rf__call *call, int by_text,
                           int64_t deadline_ms, rf__error *error)
{
    rf_status status = put(r, call, by_text, error);

    if (status != RF_OK)
        return status;
    /* Before, not after: the lock runs from when Redis gets the request. */
    call->sent_ms = rf__now_ms();
    return rf__redis_send(r, deadline_ms, error);
}

/* On a connection that the server has closed meanwhile nothing goes out. */
static rf_status connect_and_send(rf__redis *r, rf__call *call,
                                  int64_t deadline_ms, rf__error *error)
{
    rf_status status = RF_RETRY;

    for (int i = 0; i < 2 && status == RF_RETRY; i++) {
        status = rf__redis_connect(r, deadline_ms, error);
        if (status != RF_OK)
            return status;
        status = send_call(r, call, 0, deadline_ms, error);
    }
    return status;
}

rf_status rf__script_refusal(const rf__reply *reply, int *leave,
                             rf__error *error)
{
    const char *text = rf__reply_text(reply, 0);
    const rf__redis_failure *why = rf__redis_explain(text != NULL ? text : "");

    *leave = why->leave;
    if (strcmp(why->code, "ERR") == 0 && text != NULL)
        rf__set_error(error, "%s: %.160s", why->text, text);
    else
        rf__set_error(error, "%s (%s)", why->text, why->code);
    return why->status;
}

rf_status rf__script_refused(rf__redis *r, const rf__reply *reply,
                             rf__error *error)
{
    int leave;
    rf_status status = rf__script_refusal(reply, &leave, error);

    if (leave)
        rf__redis_close(r);
    return status;
}

static int is_noscript(const rf__reply *reply)
{
    const char *text = rf__reply_text(reply, 0);

    return rf__reply_kind(reply, 0) == RF__ERROR && text != NULL &&
           strncmp(text, "NOSCRIPT", 8) == 0;
}

rf_status rf__script_put(rf__redis *r, const rf__call *call, rf__error *error)
{
    return put(r, call, 0, error);
}

rf_status rf__script_put_text(rf__redis *r, const rf__call *call,
                              rf__error *error)
{
    return put(r, call, 1, error);
}

rf_status rf__script_verdict(const rf__call *call, const rf__reply *reply,
                             int *leave, rf__error *error)
{
    *leave = 0;
    if (is_noscript(reply))
        return RF__UNSENT;
    if (rf__reply_kind(reply, 0) == RF__ERROR)
        return rf__script_refusal(reply, leave, error);
    if (is_answer(reply, call))
        return RF_OK;
    *leave = 1;
    rf__set_error(error, "Redis' answer does not belong to the request");
    return RF_UNKNOWN;
}

rf_status rf__script_judge(rf__redis *r, const rf__call *call,
                           const rf__reply *reply, rf__error *error)
{
    int leave;
    rf_status status = rf__script_verdict(call, reply, &leave, error);

    if (leave)
        rf__redis_close(r);
    return status;
}

rf_status rf__script_take(rf__redis *r, rf__call *call, int64_t deadline_ms,
                          const rf__reply **reply, rf__error *error)
{
    rf_status status = RF_OK;

    /* If it was refused, what follows tells. */
    if (rf__redis_asks(r))
        status = rf__redis_reply(r, deadline_ms, reply, error);
    if (status == RF_OK)
        status = rf__redis_reply(r, deadline_ms, reply, error);
    if (status != RF_OK)
        return status;
    if (call->replicas > 0)
        call->confirmed = rf__redis_number(r, deadline_ms);
    return rf__script_judge(r, call, *reply, error);
}

/*
 * Another request, another tag: should something on the way have doubled the
 * first one, its answer is older than this request and would let the lock seem
 * to live longer than it does.
 */
static rf_status run_text(rf__redis *r, rf__call *call, int64_t deadline_ms,
                          const rf__reply **reply, rf__error *error)
{
    char again[RF__TAG_LEN + 1];
    const char *tag = call->tag;
    rf_status status;

    snprintf(again, sizeof(again), "%s+", tag);
    call->tag = again;
    /* What came behind the first answer may have cost the connection. */
    status = rf__redis_connect(r, deadline_ms, error);
    if (status == RF_OK)
        status = send_call(r, call, 1, deadline_ms, error);
    if (status == RF_OK)
        status = rf__script_take(r, call, deadline_ms, reply, error);
    call->tag = tag;
    if (status != RF__UNSENT)
        return status;
    /* To the whole text nobody answers so: it is the answer to a double. */
    rf__redis_close(r);
    rf__set_error(error, "Redis' answer does not belong to the request");
    return RF_UNKNOWN;
}

static rf_status run_once(rf__redis *r, rf__call *call, int64_t deadline_ms,
                          const rf__reply **reply, rf__error *error)
{
    rf_status status = connect_and_send(r, call, deadline_ms, error);

    if (status == RF_OK)
        status = rf__script_take(r, call, deadline_ms, reply, error);
    if (status != RF__UNSENT)
        return status;
    return run_text(r, call, deadline_ms, reply, error);
}

rf_status rf__script_run(rf__redis *r, rf__call *call, int64_t deadline_ms,
                         const rf__reply **reply, rf__error *error)
{
    rf__pauses pauses = { .ceiling_ms = 10, .most_ms = 200 };
    rf_status status;

    do {
        status = run_once(r, call, deadline_ms, reply, error);
        /* Still connected: this server is the one, whatever it complains of. */
        if (status != RF_RETRY || !rf__redis_located(r) ||
            rf__redis_connected(r))
            return status;
    } while (rf__backoff(&pauses, deadline_ms));
    return status;
}
