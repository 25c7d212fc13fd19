/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lock_bench.c - what the library costs beyond the two round trips
 *
 * rf_acquire() and rf_release() against hiredis sending the same two scripts
 * with arguments of the same size, over the loopback, in one process.  Rounds
 * of both take turns, so that the machine's mood meets both; medians count.
 *
 *   lock_bench [rounds] [pairs per round]
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lua_scripts.h"
#include "redis_server.h"
#include "ringfence.h"

#define ROUNDS_MAX 1000

typedef struct series {
    const char *name;
    void (*pair)(void);
    double per_second[ROUNDS_MAX]; /* of each round                 */
    double *latency_us;            /* of each pair                  */
    size_t pairs;
    double cpu_us; /* of this process, for all pairs */
} series;

static rf_client *client;
static redisContext *bare;

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what)
{
    fprintf(stderr, "lock_bench: %s\n", what);
    exit(1);
}

static void library_pair(void)
{
    rf_lock *lock;

    if (rf_acquire(client, "bench", NULL, &lock) != RF_OK ||
        rf_release(lock) != RF_OK)
        die(rf_message(client));
}

static redisReply *run(int argc, const char **argv)
{
    redisReply *reply = redisCommandArgv(bare, argc, argv, NULL);

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY ||
        strcmp(reply->element[3]->str, "OK") != 0)
        die("hiredis failed");
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

static void round_of(series *s, size_t round, size_t pairs)
{
    double begin = now_us(), cpu = cpu_us(), last = begin;

    for (size_t i = 0; i < pairs; i++) {
        double now;

        s->pair();
        now = now_us();
        s->latency_us[s->pairs++] = now - last;
        last = now;
    }
    s->cpu_us += cpu_us() - cpu;
    s->per_second[round] = (double)pairs / (last - begin) * 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(double *values, size_t n, double q)
{
    qsort(values, n, sizeof(*values), ascending);
    return values[(size_t)(q * (double)(n - 1))];
}

static void report(series *ours, series *theirs, size_t rounds)
{
    static const double at[] = { 0.5, 0.99, 0.999 };
    static const char *const names[] = { "p50", "p99", "p99.9" };
    double ratios[ROUNDS_MAX] = { 0 }, a, b;

    for (size_t i = 0; i < rounds; i++)
        ratios[i] = ours->per_second[i] / theirs->per_second[i];
    a = quantile(ours->per_second, rounds, 0.5);
    b = quantile(theirs->per_second, rounds, 0.5);
    printf("%-28s %12s %12s %8s\n", "", ours->name, theirs->name, "ratio");
    printf("%-28s %12.0f %12.0f %8.3f\n", "pairs per second (median)", a, b,
           quantile(ratios, rounds, 0.5));
    printf("lock.acquire_release\t%.0f\tpairs/s\t%s\t%.3f\n", a, theirs->name,
           quantile(ratios, rounds, 0.5));
    for (size_t i = 0; i < 3; i++) {
        a = quantile(ours->latency_us, ours->pairs, at[i]);
        b = quantile(theirs->latency_us, theirs->pairs, at[i]);
        printf("%-28s %12.1f %12.1f %8.3f\n", names[i], a, b, a / b);
        printf("lock.acquire_release.%s\t%.1f\tus\t%s\t%.3f\n", names[i], a,
               theirs->name, a / b);
    }
    a = ours->cpu_us / (double)ours->pairs;
    b = theirs->cpu_us / (double)theirs->pairs;
    printf("%-28s %12.2f %12.2f %8.3f\n", "processor time per pair, us", a, b,
           a / b);
    printf("lock.acquire_release.cpu\t%.2f\tus\t%s\t%.3f\n", a, theirs->name,
           a / b);
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 40;
    size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 500;
    redis_server *server = redis_server_start(NULL);
    series ours = { .name = "ringfence", .pair = library_pair };
    series theirs = { .name = "hiredis", .pair = bare_pair };
    char url[64];

    if (rounds < 1 || rounds > ROUNDS_MAX || pairs < 1)
        die("rounds: 1 to 1000; pairs: 1 or more");
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(server));
    bare = redisConnect("127.0.0.1", redis_server_port(server));
    ours.latency_us = calloc(rounds * pairs, sizeof(double));
    theirs.latency_us = calloc(rounds * pairs, sizeof(double));
    if (rf_open(url, NULL, &client) != RF_OK || bare == NULL || bare->err ||
        ours.latency_us == NULL || theirs.latency_us == NULL)
        die("cannot connect");
    library_pair();
    for (size_t i = 0; i < rounds; i++) {
        round_of(i % 2 ? &ours : &theirs, i, pairs);
        round_of(i % 2 ? &theirs : &ours, i, pairs);
    }
    report(&ours, &theirs, rounds);
    rf_close(client);
    redisFree(bare);
    free(ours.latency_us);
    free(theirs.latency_us);
    redis_server_stop(server);
    return 0;
}
