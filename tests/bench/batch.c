/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * batch.c - many locks in one request, against one request for each
 *
 * rf_acquire_all() and rf_release_all() against as many rf_acquire() and
 * rf_release() calls, on one connection over the loopback, by turns.
 *
 *   batch [rounds]
 */
#include <stdio.h>
#include <stdlib.h>

#include "die.h"
#include "redis_server.h"
#include "ringfence.h"
#include "sample.h"
#include "stopwatch.h"

enum { ROUNDS_MAX = 1000, REPEAT = 10 };

typedef enum { ACQUIRE, RELEASE, STEPS } step;

static rf_client *client;
static const char *resources[RF_ALL_MAX];

/* [step][round]: microseconds for each lock, the least of a few. */
typedef double series[STEPS][ROUNDS_MAX];

static void must(rf_status status)
{
    if (status != RF_OK)
        die(rf_status_name(status), rf_message(client));
}

static void at_once(size_t n, double us[STEPS])
{
    rf_lock *locks[RF_ALL_MAX];
    double begin = stopwatch_us();

    must(rf_acquire_all(client, resources, n, NULL, locks));
    us[ACQUIRE] = stopwatch_us() - begin;
    begin = stopwatch_us();
    must(rf_release_all(locks, n));
    us[RELEASE] = stopwatch_us() - begin;
}

static void one_by_one(size_t n, double us[STEPS])
{
    rf_lock *locks[RF_ALL_MAX];
    double begin = stopwatch_us();

    for (size_t i = 0; i < n; i++)
        must(rf_acquire(client, resources[i], NULL, &locks[i]));
    us[ACQUIRE] = stopwatch_us() - begin;
    begin = stopwatch_us();
    for (size_t i = 0; i < n; i++)
        must(rf_release(locks[i]));
    us[RELEASE] = stopwatch_us() - begin;
}

/* The median of some, so that one interruption does not make the round. */
static void play(void (*way)(size_t, double *), size_t n, size_t round,
                 series into)
{
    double us[STEPS][REPEAT], both[STEPS];

    for (size_t i = 0; i < REPEAT; i++) {
        way(n, both);
        for (step s = ACQUIRE; s < STEPS; s++)
            us[s][i] = both[s] / (double)n;
    }
    for (step s = ACQUIRE; s < STEPS; s++)
        into[s][round] = sample_median(us[s], REPEAT);
}

static void tell(size_t n, series ours, series theirs, size_t rounds)
{
    static const char *const suffixes[STEPS] = { "", ".release" };

    for (step s = ACQUIRE; s < STEPS; s++) {
        sample_ratio r = sample_compare(theirs[s], ours[s], rounds);

        printf("batch.%zu%s\t%.2f\tus per lock\tsingle_calls\t%.2f\t%.2f"
               "\t%.2f\n",
               n, suffixes[s], sample_median(ours[s], rounds), r.ratio, r.low,
               r.high);
    }
}

static void tell_single(series theirs, size_t rounds)
{
    printf("batch.single\t%.2f\tus per lock\t\t\t\t\n",
           sample_median(theirs[ACQUIRE], rounds));
    printf("batch.single.release\t%.2f\tus per lock\t\t\t\t\n",
           sample_median(theirs[RELEASE], rounds));
}

static void compare(size_t n, size_t rounds, int last)
{
    static series ours, theirs;

    play(one_by_one, n, 0, theirs);
    play(at_once, n, 0, ours);
    for (size_t round = 0; round < rounds; round++) {
        play(round % 2 ? at_once : one_by_one, n, round,
             round % 2 ? ours : theirs);
        play(round % 2 ? one_by_one : at_once, n, round,
             round % 2 ? theirs : ours);
    }
    tell(n, ours, theirs, rounds);
    if (last)
        tell_single(theirs, rounds);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 1, 10, 100 };
    static char names[RF_ALL_MAX][16];
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 21;
    size_t n_sizes = sizeof(sizes) / sizeof(sizes[0]);
    redis_server *server = redis_server_start(NULL);
    char url[64];

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("rounds: 1 to 1000", NULL);
    for (size_t i = 0; i < RF_ALL_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "order:%zu", i);
        resources[i] = names[i];
    }
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(server));
    must(rf_open(url, NULL, &client));
    for (size_t i = 0; i < n_sizes; i++)
        compare(sizes[i], rounds, i + 1 == n_sizes);
    rf_close(client);
    redis_server_stop(server);
    return 0;
}
