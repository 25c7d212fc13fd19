/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_wait.c - sleeping in Redis until a lock is given back
 */
#include "redis_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* {key, token}, from the list that was asked about and no other. */
static rf_status read_token(rf__redis_source_t *s, rf__grant *grant,
                            const rf__reply *reply, const char *key)
{
    const char *from = rf__reply_text(reply, 1);
    const char *token = rf__reply_text(reply, 2);

    if (rf__reply_kind(reply, 0) == RF__ERROR)
        return rf__script_refused(s->redis, reply, s->base.error);
    if (rf__reply_count(reply) != 3 || from == NULL || token == NULL ||
        strcmp(from, key) != 0 || strlen(token) >= sizeof(grant->token)) {
        rf__rs_settle(s, RF__NONSENSE);
        return RF_RETRY;
    }
    memcpy(grant->token, token, strlen(token) + 1);
    return RF_OK;
}

static int append_blpop(rf__redis *r, const char *key, int64_t for_ms)
{
    char seconds[RF__DECIMAL_MAX + 4];

    /* To Redis 0 means for ever. */
    if (for_ms < 1)
        for_ms = 1;
    snprintf(seconds, sizeof(seconds), "%" PRId64 ".%03d", for_ms / 1000,
             (int)(for_ms % 1000));
    if (rf__words_begin(rf__redis_out(r), 3) &&
        rf__words_text(rf__redis_out(r), "BLPOP") &&
        rf__words_text(rf__redis_out(r), key) &&
        rf__words_text(rf__redis_out(r), seconds))
        return 1;
    rf__redis_close(r);
    return 0;
}

/*
 * Redis serves the longest waiter first and ends the wait itself; the limit
 * here is for a Redis that has stopped answering.
 */
rf_status rf__rs_wait(rf__source *base, rf__grant *grant, int64_t for_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    int64_t deadline_ms = rf__now_ms() + for_ms + s->timeout_ms;
    char key[RF__KEY_MAX];
    const rf__reply *reply;
    rf_status status;

    grant->token[0] = '\0';
    rf__key_name(key, RF__KEY_WAKE, s->author.prefix, grant->resource);
    status = rf__redis_connect(s->redis, deadline_ms, base->error);
    if (status != RF_OK)
        return status;
    if (!append_blpop(s->redis, key, for_ms))
        return RF_NOMEM;
    status = rf__redis_send(s->redis, deadline_ms, base->error);
    if (status == RF_OK)
        status = rf__redis_await(s->redis, grant->cancel_fd, deadline_ms,
                                 base->error);
    if (status == RF_OK)
        status = rf__redis_reply(s->redis, deadline_ms, &reply, base->error);
    /* A wake-up may have been on its way to us and to nobody else. */
    if (status == RF_TIMEOUT || status == RF_UNKNOWN)
        memcpy(grant->token, "?", 2);
    if (status == RF_TIMEOUT)
        return RF_OK;
    if (status != RF_OK)
        return status == RF_UNKNOWN ? RF_RETRY : status;
    if (rf__reply_kind(reply, 0) == RF__NIL)
        return RF_OK;
    return read_token(s, grant, reply, key);
}
