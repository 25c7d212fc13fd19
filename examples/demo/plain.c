/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plain.c - the usual Redis lock: SET NX PX with a random token, and a script
 * that deletes the key only if the token is still there
 *
 * Nothing here is made worse than people write it.  The database is not told
 * who holds the lock, because this recipe has nothing to tell it.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "section.h"

static const char release_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('DEL', KEYS[1]) end return 0";

struct section {
    char path[256];
    PGconn *conn;
    redisContext *redis;
    char resource[RF_RESOURCE_MAX + 1];
    char token[RF_HOLDER_LEN + 1];
    char text[256];
};

static section *open_section(const char *url, PGconn *conn, const char *style)
{
    static const char scheme[] = "redis+unix://";
    section *s;

    (void)style; /* this recipe has one style */
    if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
        return NULL;
    s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->conn = conn;
    snprintf(s->path, sizeof(s->path), "%s", url + sizeof(scheme) - 1);
    return s;
}

static void disconnect(section *s)
{
    if (s->redis != NULL)
        redisFree(s->redis);
    s->redis = NULL;
}

static void close_section(section *s)
{
    if (s == NULL)
        return;
    disconnect(s);
    free(s);
}

static rf_status fail(section *s, rf_status status, const char *text)
{
    snprintf(s->text, sizeof(s->text), "%s", text);
    return status;
}

static int connected(section *s)
{
    struct timeval limit = { 2, 0 };

    if (s->redis != NULL)
        return 1;
    s->redis = redisConnectUnixWithTimeout(s->path, limit);
    if (s->redis == NULL || s->redis->err != 0 ||
        redisSetTimeout(s->redis, limit) != REDIS_OK) {
        disconnect(s);
        return 0;
    }
    return 1;
}

/* One try.  An answer that never came leaves us not knowing: RF_UNKNOWN. */
static rf_status try_lock(section *s, int ttl_ms)
{
    redisReply *reply;
    rf_status status;

    if (!connected(s))
        return fail(s, RF_RETRY, "Redis can't be reached");
    reply = redisCommand(s->redis, "SET lock:%s %s NX PX %d", s->resource,
                         s->token, ttl_ms);
    if (reply == NULL) {
        disconnect(s);
        return fail(s, RF_UNKNOWN, "Redis did not answer");
    }
    if (reply->type == REDIS_REPLY_STATUS)
        status = RF_OK;
    else if (reply->type == REDIS_REPLY_NIL)
        status = fail(s, RF_BUSY, "held by another");
    else
        status = fail(s, RF_RETRY, reply->str != NULL ? reply->str : "?");
    freeReplyObject(reply);
    return status;
}

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

static rf_status begin_section(section *s, const char *resource, int ttl_ms,
                               int wait_ms)
{
    long until = now_ms() + wait_ms;
    struct timespec pause = { 0, 0 };
    rf_status status;

    snprintf(s->resource, sizeof(s->resource), "%s", resource);
    for (;;) {
        if (rf_holder_new(s->token) != RF_OK)
            return fail(s, RF_RETRY, "no random bytes");
        status = try_lock(s, ttl_ms);
        if (status != RF_BUSY)
            return status;
        if (now_ms() >= until)
            return RF_TIMEOUT;
        /* Polling with jitter, as the recipe has it. */
        pause.tv_nsec = (2 + random() % 8) * 1000000L;
        nanosleep(&pause, NULL);
    }
}

static rf_fence section_fence(const section *s)
{
    (void)s;
    return 0;
}

static rf_status write_section(section *s, const rf_pg_statement *statement,
                               section_refusal *refusal)
{
    PGresult *result = PQexecParams(s->conn, statement->sql, statement->n, NULL,
                                    statement->values, NULL, NULL, 0);
    rf_status status = RF_OK;

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = section_refused(s->conn, result, refusal);
    PQclear(result);
    return status;
}

static rf_status end_section(section *s)
{
    redisReply *reply;
    rf_status status = RF_UNKNOWN;

    if (!connected(s))
        return fail(s, RF_RETRY, "Redis can't be reached");
    reply = redisCommand(s->redis, "EVAL %s 1 lock:%s %s", release_script,
                         s->resource, s->token);
    if (reply == NULL)
        disconnect(s);
    else if (reply->type == REDIS_REPLY_INTEGER)
        status = reply->integer == 1 ? RF_OK : RF_LOST;
    freeReplyObject(reply);
    return status;
}

static const char *section_text(const section *s)
{
    return s->text;
}

const section_kind plain_section = {
    .name = "plain",
    .open = open_section,
    .close = close_section,
    .begin = begin_section,
    .fence = section_fence,
    .write = write_section,
    .end = end_section,
    .text = section_text,
};
