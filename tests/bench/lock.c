/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lock.c - what the library costs beyond the two round trips
 *
 * rf_acquire() and rf_release() against hiredis sending the same two scripts
 * with arguments of the same size, over the loopback, in one process.  Rounds
 * of both take turns, so that the machine's mood meets both; medians count.
 *
 *   lock [rounds] [pairs per round]
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "lua_scripts.h"
#include "redis_server.h"
#include "ringfence.h"
#include "sample.h"
#include "stopwatch.h"

enum { ROUNDS_MAX = 1000 };

/* Of a round; times are of one pair. */
typedef enum { MEAN, P50, P99, P999, CPU, FIGURES } figure;

typedef struct series {
    const char *name;
    void (*pair)(void);
    double values[FIGURES][ROUNDS_MAX];
} series;

static rf_client *client;
static redisContext *bare;

static void library_pair(void)
{
    rf_lock *lock;

    if (rf_acquire(client, "bench", NULL, &lock) != RF_OK ||
        rf_release(lock) != RF_OK)
        die("ringfence", rf_message(client));
}

static redisReply *run(int argc, const char **argv)
{
    redisReply *reply = redisCommandArgv(bare, argc, argv, NULL);

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY ||
        strcmp(reply->element[3]->str, "OK") != 0)
        die("hiredis failed", bare->errstr);
    return reply;
}

static void bare_pair(void)
{
    const char *take[] = { "EVALSHA",
                           rf__lua_acquire_sha1,
                           "4",
                           "{lock:v1:other}",
                           "{lock:v1:other}:fence",
                           "{lock:v1:other}:wake",
                           "{lock:v1:other}:waiters",
                           "0123456789abcdef0123456789abcdef",
                           "30000",
                           "0",
                           "0",
                           "",
                           "0123456789abcdef-12345" };
    const char *give[] = { "EVALSHA",
                           rf__lua_release_sha1,
                           "3",
                           "{lock:v1:other}",
                           "{lock:v1:other}:wake",
                           "{lock:v1:other}:waiters",
                           "0123456789abcdef0123456789abcdef",
                           "",
                           "0123456789abcdef-12345" };
    redisReply *taken = run(13, take);

    give[7] = taken->element[4]->str;
    freeReplyObject(run(9, give));
    freeReplyObject(taken);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* us: room for the pairs' own times. */
static void round_of(series *s, size_t round, double *us, size_t pairs)
{
    static const double at[] = { [P50] = 0.5, [P99] = 0.99, [P999] = 0.999 };
    double cpu = stopwatch_cpu_us(), begin = stopwatch_us(), last = begin;

    for (size_t i = 0; i < pairs; i++) {
        double now;

        s->pair();
        now = stopwatch_us();
        us[i] = now - last;
        last = now;
    }
    s->values[CPU][round] = (stopwatch_cpu_us() - cpu) / (double)pairs;
    s->values[MEAN][round] = (last - begin) / (double)pairs;
    qsort(us, pairs, sizeof(*us), ascending);
    for (figure f = P50; f <= P999; f++)
        s->values[f][round] = us[(size_t)(at[f] * (double)(pairs - 1))];
}

static const char *const suffixes[FIGURES] = { "", ".p50", ".p99", ".p99.9",
                                               ".cpu" };

/* Throughput is the inverse of time, and so is its ratio. */
static void tell(const series *s, const series *other, size_t rounds)
{
    for (figure f = MEAN; f < FIGURES; f++) {
        double value = sample_median(s->values[f], rounds);
        const double *a = s->values[f], *b = other ? other->values[f] : a;
        sample_ratio r = f == MEAN ? sample_compare(b, a, rounds)
                                   : sample_compare(a, b, rounds);

        printf("lock.%s%s\t%.4g\t%s", s->name, suffixes[f],
               f == MEAN ? 1e6 / value : value, f == MEAN ? "pairs/s" : "us");
        if (other != NULL)
            printf("\t%s\t%.3f\t%.3f\t%.3f\n", other->name, r.ratio, r.low,
                   r.high);
        else
            printf("\t\t\t\t\n");
    }
}

int main(int argc, char **argv)
{
    static series ours = { .name = "acquire_release", .pair = library_pair };
    static series theirs = { .name = "hiredis", .pair = bare_pair };
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 61;
    size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    double *us = calloc(pairs, sizeof(*us));
    redis_server *server = redis_server_start(NULL);
    char url[64];

    if (rounds < 1 || rounds > ROUNDS_MAX || pairs < 1 || us == NULL)
        die("rounds: 1 to 1000; pairs: 1 or more", NULL);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(server));
    bare = redisConnect("127.0.0.1", redis_server_port(server));
    if (rf_open(url, NULL, &client) != RF_OK || bare == NULL || bare->err)
        die("cannot connect", url);
    library_pair();
    for (size_t i = 0; i < rounds; i++) {
        round_of(i % 2 ? &ours : &theirs, i, us, pairs);
        round_of(i % 2 ? &theirs : &ours, i, us, pairs);
    }
    tell(&ours, &theirs, rounds);
    tell(&theirs, NULL, rounds);
    rf_close(client);
    redisFree(bare);
    free(us);
    redis_server_stop(server);
    return 0;
}
