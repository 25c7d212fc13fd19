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
    int cached;
};

/* What Redis calls the two below. */
#define ACQUIRE_SHA1 "871282b662147ed9a76ab73d65192774d69249d0"
#define RELEASE_SHA1 "6fbe84d1140fd2047394924af9d845b83c070bec"

static const char acquire_script[] =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('INCR', KEYS[2]) end return 0";
static const char release_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('DEL', KEYS[1]) end return 0";

static const char renew_script[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "redis.call('SET', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2]) return 1 end "
    "return 0";

static void load(recipe *r, const char *script)
{
    redisReply *reply = redisCommand(r->redis, "SCRIPT LOAD %s", script);

    if (reply != NULL)
        freeReplyObject(reply);
}

recipe *recipe_open(const char *redis, long timeout_ms, int cached)
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
    r->cached = cached;
    if (cached) {
        load(r, acquire_script);
        load(r, release_script);
    }
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
    if (r->cached)
        script = script == acquire_script ? ACQUIRE_SHA1 : RELEASE_SHA1;
    reply = redisCommand(r->redis, "%s %s 2 %s %s %s %s",
                         r->cached ? "EVALSHA" : "EVAL", script, lock, counter,
                         r->holder, value);
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

int recipe_renew(recipe *r, const char *resource, long ttl_ms)
{
    char ttl[24];

    snprintf(ttl, sizeof(ttl), "%ld", ttl_ms);
    return ask(r, renew_script, resource, ttl) == 1;
}

void recipe_release(recipe *r, const char *resource)
{
    (void)ask(r, release_script, resource, "0");
}
