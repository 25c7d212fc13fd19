/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * batch.c - many locks in one request, against one request for each
 *
 * rf_acquire_all() and rf_release_all() against as many rf_acquire() and
 * rf_release() calls, on one connection, by turns: over the loopback, and where
 * every answer comes a millisecond late.
 *
 *   batch [rounds]
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"
#include "proxy.h"
#include "redis_server.h"
#include "ringfence.h"
#include "sample.h"
#include "stopwatch.h"

enum { ROUNDS_MAX = 1000, REPEAT_MAX = 10, FAR_MS = 1 };

typedef enum { ACQUIRE, RELEASE, STEPS } step;

/* A way to a Redis, and how much is done there. */
typedef struct place {
    const char *name;
    rf_client *client;
    size_t rounds, repeat;
    step last; /* the proxy delays requests that came together one by one */
} place;

static rf_client *client; /* of the place where we are */
static const char *resources[RF_ALL_MAX];

/* [step][round]: microseconds for each lock. */
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
static void play(void (*way)(size_t, double *), size_t n, size_t repeat,
                 double into[STEPS])
{
    double us[STEPS][REPEAT_MAX], both[STEPS];

    for (size_t i = 0; i < repeat; i++) {
        way(n, both);
        for (step s = ACQUIRE; s < STEPS; s++)
            us[s][i] = both[s] / (double)n;
    }
    for (step s = ACQUIRE; s < STEPS; s++)
        into[s] = sample_median(us[s], repeat);
}

static void tell(const char *name, step s, const series us, const series them,
                 size_t rounds)
{
    static const char *const suffixes[STEPS] = { "", ".release" };
    sample_ratio r = sample_compare(them[s], us[s], rounds);

    printf("batch.%s%s\t%.2f\tus per lock\tsingle\t%.2f\t%.2f\t%.2f\n", name,
           suffixes[s], sample_median(us[s], rounds), r.ratio, r.low, r.high);
    printf("batch.%s_single%s\t%.2f\tus per lock\t\t\t\t\n", name, suffixes[s],
           sample_median(them[s], rounds));
}

static void compare(const place *where, size_t n)
{
    static series us, them;
    double both[STEPS];
    char name[32];

    client = where->client;
    snprintf(name, sizeof(name), "%zu%s", n, where->name);
    for (size_t round = 0; round <= where->rounds; round++) {
        bool ours_first = round % 2;

        for (int i = 0; i < 2; i++) {
            bool ours = ours_first == (i == 0);

            play(ours ? at_once : one_by_one, n, where->repeat, both);
            /* The first round warms up. */
            for (step s = ACQUIRE; s < STEPS && round > 0; s++)
                (ours ? us : them)[s][round - 1] = both[s];
        }
    }
    for (step s = ACQUIRE; s <= where->last; s++)
        tell(name, s, us, them, where->rounds);
}

static rf_client *client_at(int port)
{
    rf_client *made;
    char url[64];

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", port);
    if (rf_open(url, NULL, &made) != RF_OK)
        die(url, rf_message(NULL));
    return made;
}

int main(int argc, char **argv)
{
    static char names[RF_ALL_MAX][16];
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 21;
    redis_server *server = redis_server_start(NULL);
    proxy *late = proxy_start(redis_server_socket(server));
    place near = { "", client_at(redis_server_port(server)), rounds, REPEAT_MAX,
                   RELEASE };
    place far = { "_far", client_at(proxy_port(late)), 3, 1, ACQUIRE };

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("rounds: 1 to 1000", NULL);
    for (size_t i = 0; i < RF_ALL_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "order:%zu", i);
        resources[i] = names[i];
    }
    proxy_set_delay(late, 0, INT_MAX, FAR_MS);
    compare(&near, 10);
    compare(&near, 100);
    compare(&far, 100);
    rf_close(near.client);
    rf_close(far.client);
    proxy_stop(late);
    redis_server_stop(server);
    return 0;
}
