/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * main.c - acquire and release, from every source of locks
 *
 *   sources ROUNDS [NAME...]
 *
 * The names are those of the sources whose servers are here: redis, redlock,
 * postgresql, shedlock, advisory, etcd, zookeeper.  All servers run at once; one
 * client takes one lock and gives it back, from each in turn.  Costs are counted
 * before, while nobody else is at work.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contestant.h"
#include "die.h"
#include "sample.h"
#include "stopwatch.h"

enum { ROUNDS_MAX = 1000, PER_ROUND = 20, COUNTED = 100 };

static const contestant *const all[] = { &redis,    &redlock,  &postgresql,
                                         &shedlock, &advisory, &etcd,
                                         &zookeeper };
enum { ALL = sizeof(all) / sizeof(all[0]) };

static const char *const compared[][2] = {
    { "redlock", "redis" },       { "postgresql", "redis" },
    { "postgresql", "shedlock" }, { "postgresql", "advisory" },
    { "etcd", "postgresql" },     { "zookeeper", "postgresql" },
};
enum { COMPARED = sizeof(compared) / sizeof(compared[0]) };

/* One that takes part. */
typedef struct entrant {
    const contestant *who;
    cost cost;
    double us[ROUNDS_MAX]; /* median of a round, of one pair */
} entrant;

static entrant entrants[ALL];
static size_t n_entrants;

/* ---- Who takes part --------------------------------------------------------- */

static bool is_built(const contestant *c)
{
    rf_client *client = NULL;
    rf_status status = c->url ? rf_open(c->url, NULL, &client) : RF_OK;

    rf_close(client);
    return status != RF_MISUSE;
}

static const contestant *named(const char *name)
{
    for (size_t i = 0; i < ALL; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    die("no such source", name);
}

static void enter(const char *name)
{
    const contestant *c = named(name);
    entrant *e = &entrants[n_entrants];

    if (!is_built(c)) {
        printf("sources.%s\tnot had\tnot built\t\t\t\t\n", c->name);
        return;
    }
    if (n_entrants == ALL)
        die("too many sources", NULL);
    n_entrants++;
    e->who = c;
    c->start();
    c->pair();
    e->cost = c->cost_of(COUNTED);
}

static const entrant *entered(const char *name)
{
    for (size_t i = 0; i < n_entrants; i++)
        if (strcmp(entrants[i].who->name, name) == 0)
            return &entrants[i];
    return NULL;
}

/* ---- Time ------------------------------------------------------------------- */

static double round_us(const contestant *c)
{
    double us[PER_ROUND];

    for (size_t i = 0; i < PER_ROUND; i++) {
        double begin = stopwatch_us();

        c->pair();
        us[i] = stopwatch_us() - begin;
    }
    return sample_median(us, PER_ROUND);
}

static void play(size_t rounds)
{
    for (size_t i = 0; i < n_entrants; i++)
        round_us(entrants[i].who);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < n_entrants; i++) {
            entrant *e = &entrants[(i + round) % n_entrants];

            e->us[round] = round_us(e->who);
        }
}

/* ---- What is told ------------------------------------------------------------- */

static void tell_alone(const entrant *e, size_t rounds)
{
    const char *name = e->who->name;

    printf("sources.%s\t%.0f\tus\t\t\t\t\n", name,
           sample_median(e->us, rounds));
    printf("sources.%s.requests\t%.1f\tall servers\t\t\t\t\n", name,
           e->cost.requests);
    printf("sources.%s.flushes\t%.1f\tall servers\t\t\t\t\n", name,
           e->cost.flushes);
}

static void tell_ratio(const char *const names[2], size_t rounds)
{
    const entrant *a = entered(names[0]), *b = entered(names[1]);
    sample_ratio r;

    if (a == NULL || b == NULL)
        return;
    r = sample_compare(a->us, b->us, rounds);
    printf("sources.%s\t%.0f\tus\t%s\t%.3f\t%.3f\t%.3f\n", names[0],
           sample_median(a->us, rounds), names[1], r.ratio, r.low, r.high);
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("rounds: 1 to 1000", NULL);
    for (int i = 2; i < argc; i++)
        enter(argv[i]);
    play(rounds);
    for (size_t i = 0; i < n_entrants; i++)
        tell_alone(&entrants[i], rounds);
    for (size_t i = 0; i < COMPARED; i++)
        tell_ratio(compared[i], rounds);
    for (size_t i = 0; i < n_entrants; i++)
        entrants[i].who->stop();
    return 0;
}
