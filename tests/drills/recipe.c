/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * recipe.c - the lock as it is usually written
 */
#include "recipe.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence.h"

struct recipe {
    redisContext *redis;
    char holder[RF_HOLDER_LEN + 1];
};

static const char acquire_script[] =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('INCR', KEYS[2]) end return 0";
static const char release_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('DEL', KEYS[1]) end return 0";

recipe *recipe_open(const char *redis, long timeout_ms)
{
    struct timeval limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
    recipe *r = calloc(1, sizeof(*r));

    if (r == NULL)
        abort();
    r->redis = redisConnectUnixWithTimeout(redis, limit);
    if (r->redis == NULL || r->redis->err != 0) {
        fprintf(stderr, "recipe: cannot connect to %s\n", redis);
        exit(1);
    }
    redisSetTimeout(r->redis, limit);
    return r;
}

void recipe_close(recipe *r)
{
    if (r != NULL)
        redisFree(r->redis);
    free(r);
}

const char *recipe_holder(const recipe *r)
{
    return r->holder;
}

/* Carry on after a timeout, as so many wrappers do. */
static void forgive(recipe *r)
{
    if (r->redis->err == REDIS_ERR_IO && errno == EAGAIN)
        r->redis->err = 0;
    else
        redisReconnect(r->redis);
}

static long long ask(recipe *r, const char *script, const char *resource,
                     const char *value)
{
    char lock[300], counter[300];
    redisReply *reply;
    long long answer = -1;

    snprintf(lock, sizeof(lock), "{lock:v1:%s}", resource);
    snprintf(counter, sizeof(counter), "{lock:v1:%s}:fence", resource);
    reply = redisCommand(r->redis, "EVAL %s 2 %s %s %s %s", script, lock,
                         counter, r->holder, value);
    if (reply != NULL && reply->type == REDIS_REPLY_INTEGER)
        answer = reply->integer;
    if (reply == NULL)
        forgive(r);
    else
        freeReplyObject(reply);
    return answer;
}

int recipe_acquire(recipe *r, const char *resource, long ttl_ms, char *fence,
                   size_t size)
{
    char ttl[24];
    long long answer = -1;

    snprintf(ttl, sizeof(ttl), "%ld", ttl_ms);
    for (int i = 0; i < 5 && answer < 0; i++) {
        if (rf_holder_new(r->holder) != RF_OK)
            return 0;
        answer = ask(r, acquire_script, resource, ttl);
    }
    snprintf(fence, size, "%lld", answer);
    return answer > 0;
}

void recipe_release(recipe *r, const char *resource)
{
    (void)ask(r, release_script, resource, "0");
}
