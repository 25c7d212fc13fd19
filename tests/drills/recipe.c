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
#include <time.h>

#include "process.h"
#include "ringfence.h"

typedef enum kind { PLAIN, CACHED, STEPS, WALL } kind;

static const char *const styles[] = {
    [PLAIN] = "recipe", [CACHED] = "cached", [STEPS] = "steps", [WALL] = "wall"
};

struct recipe {
    redisContext *redis;
    char holder[RF_HOLDER_LEN + 1];
    kind kind;
    long long until_ms; /* by the wall clock */
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

static int kind_of(const char *style)
{
    int n = (int)(sizeof(styles) / sizeof(styles[0]));

    for (int i = 0; i < n; i++) {
        if (strcmp(styles[i], style) == 0)
            return i;
    }
    return -1;
}

/* hiredis waits for ever unless it is given a limit. */
static redisContext *connect_to(const char *redis, long timeout_ms)
{
    struct timeval limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
    const char *colon = strrchr(redis, ':');
    redisContext *context;
    char host[128];

    if (*redis == '/') {
        context = redisConnectUnixWithTimeout(redis, limit);
    } else {
        snprintf(host, sizeof(host), "%.*s", (int)strcspn(redis, ":"), redis);
        context = redisConnect(
            host, colon != NULL ? (int)strtol(colon + 1, NULL, 10) : 6379);
    }
    if (context == NULL || context->err != 0) {
        fprintf(stderr, "recipe: cannot connect to %s\n", redis);
        exit(1);
    }
    if (timeout_ms > 0)
        redisSetTimeout(context, limit);
    return context;
}

recipe *recipe_open(const char *style, const char *redis, long timeout_ms)
{
    int found = kind_of(style);
    recipe *r;

    if (found < 0)
        return NULL;
    r = calloc(1, sizeof(*r));
    if (r == NULL)
        abort();
    r->kind = (kind)found;
    r->redis = connect_to(redis, timeout_ms);
    if (r->kind == CACHED) {
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

/* What it answered as a number; -1: something else, or nothing. */
static long long answer_of(recipe *r, redisReply *reply)
{
    long long answer = -1;

    if (reply == NULL) {
        forgive(r);
        return -1;
    }
    if (reply->type == REDIS_REPLY_INTEGER)
        answer = reply->integer;
    freeReplyObject(reply);
    return answer;
}

static long long ask(recipe *r, const char *script, const char *resource,
                     const char *value)
{
    char lock[300], counter[300];

    snprintf(lock, sizeof(lock), "{lock:v1:%s}", resource);
    snprintf(counter, sizeof(counter), "{lock:v1:%s}:fence", resource);
    if (r->kind == CACHED)
        script = script == acquire_script ? ACQUIRE_SHA1 : RELEASE_SHA1;
    return answer_of(r, redisCommand(r->redis, "%s %s 2 %s %s %s %s",
                                     r->kind == CACHED ? "EVALSHA" : "EVAL",
                                     script, lock, counter, r->holder, value));
}

static long long acquire_in_steps(recipe *r, const char *resource,
                                  const char *ttl)
{
    char lock[300], counter[300];

    snprintf(lock, sizeof(lock), "{lock:v1:%s}", resource);
    snprintf(counter, sizeof(counter), "{lock:v1:%s}:fence", resource);
    if (answer_of(r, redisCommand(r->redis, "SETNX %s %s", lock, r->holder)) !=
        1)
        return 0;
    stop_at("expire");
    (void)answer_of(r, redisCommand(r->redis, "PEXPIRE %s %s", lock, ttl));
    return answer_of(r, redisCommand(r->redis, "INCR %s", counter));
}

static long long wall_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
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
        r->until_ms = wall_ms() + ttl_ms;
        answer = r->kind == STEPS ? acquire_in_steps(r, resource, ttl)
                                  : ask(r, acquire_script, resource, ttl);
    }
    snprintf(fence, size, "%lld", answer);
    return answer > 0;
}

int recipe_trusted(const recipe *r)
{
    return r->kind != WALL || wall_ms() < r->until_ms;
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
