/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * main.c - measure SQL statements side by side
 *
 *   statements NAME FILE
 *
 * Contestants take turns, in another order each round, so that the machine's
 * mood meets all of them.  What comes out are lines of results, columns parted
 * by tabs: name, value, unit, compared with, ratio, least and greatest ratio
 * that nine in ten repetitions would give.  FILE: plan.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "die.h"
#include "plan.h"
#include "sample.h"
#include "session.h"
#include "turn.h"

typedef enum { TIME, CPU, WAL, METRICS } metric;

static const char *const suffixes[METRICS] = { "", ".cpu", ".wal" };

/* values[metric][contestant][round] */
typedef double series[PLAN_ROUNDS];
static series values[METRICS][PLAN_CONTESTANTS];

/* Of each contestant and client; shared by those in one database. */
static session *sessions[PLAN_CONTESTANTS][PLAN_CLIENTS];

static size_t first_of_database(const plan *p, size_t who)
{
    size_t first = 0;

    while (!session_is_of(p, first, who))
        first++;
    return first;
}

static void open_sessions(const plan *p)
{
    for (size_t who = 0; who < p->n; who++)
        for (size_t i = 0; i < p->clients; i++) {
            size_t first = first_of_database(p, who);

            sessions[who][i] = first < who ? sessions[first][i]
                                           : session_open(p, who, i);
        }
}

static void close_sessions(const plan *p)
{
    for (size_t who = 0; who < p->n; who++)
        for (size_t i = 0; i < p->clients; i++)
            if (first_of_database(p, who) == who)
                session_close(sessions[who][i]);
}

static void play_round(const plan *p, size_t round)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t who = (i + round) % p->n;
        turn t = turn_take(p, sessions[who], who);

        values[TIME][who][round] = t.us;
        values[CPU][who][round] = t.cpu_us;
        values[WAL][who][round] = t.wal;
    }
}

static void play(const plan *p)
{
    bool watched = isatty(STDERR_FILENO);

    /* Once unmeasured: plans, caches and tables find their steady state. */
    play_round(p, 0);
    for (size_t round = 0; round < p->rounds; round++) {
        if (watched)
            fprintf(stderr, "\r%s: round %zu of %zu ", p->name, round + 1,
                    p->rounds);
        play_round(p, round);
    }
    if (watched)
        fprintf(stderr, "\r\033[K");
}

static size_t find_base(const plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->cost_above && strcmp(p->who[i].name, p->cost_above) == 0)
            return i;
    if (p->cost_above)
        die("no such contestant", p->cost_above);
    return PLAN_CONTESTANTS;
}

static double value_of(const plan *p, metric m, size_t who)
{
    /* Others write to the log as well now and then; nobody unwrites. */
    if (m == WAL)
        return sample_least(values[m][who], p->rounds);
    return sample_median(values[m][who], p->rounds);
}

/* Microseconds become what the plan wants to tell. */
static void tell_value(const plan *p, metric m, size_t who)
{
    double value = value_of(p, m, who);
    const char *unit = m == WAL ? "bytes" : "us";

    if (m == TIME && p->clients > 1) {
        value = 1e6 / value;
        unit = "per s";
    } else if (p->rows > 0) {
        value = value / p->rows * (m == WAL ? 1 : 1e3);
        unit = m == WAL ? "bytes per row" : "ns per row";
    }
    printf("%s.%s%s\t%.4g\t%s", p->name, p->who[who].name, suffixes[m], value,
           unit);
}

static sample_ratio ratio_of(const plan *p, metric m, size_t a, size_t b)
{
    size_t base = find_base(p);

    if (m == WAL) {
        double ratio = value_of(p, m, a) / value_of(p, m, b);

        return (sample_ratio){ ratio, ratio, ratio };
    }
    if (base != PLAN_CONTESTANTS && base != b)
        return sample_compare_cost(values[m][a], values[m][b], values[m][base],
                                   p->rounds);
    /* Several clients: of throughput, so the other way round. */
    if (m == TIME && p->clients > 1)
        return sample_compare(values[m][b], values[m][a], p->rounds);
    return sample_compare(values[m][a], values[m][b], p->rounds);
}

static bool is_compared(const plan *p, metric m, size_t who, size_t other)
{
    const contestant *us = &p->who[who], *them = &p->who[other];

    if (!us->ours || them->ours)
        return false;
    if (us->against != NULL && strcmp(us->against, them->name) != 0)
        return false;
    /* Others' log traffic is told, but is not what ours is measured by. */
    return m != WAL || (p->cost_above && find_base(p) == other);
}

static void tell(const plan *p, metric m, size_t who)
{
    bool told = false;

    for (size_t other = 0; other < p->n; other++) {
        sample_ratio r;

        if (!is_compared(p, m, who, other))
            continue;
        r = ratio_of(p, m, who, other);
        tell_value(p, m, who);
        printf("\t%s", p->who[other].name);
        if (isfinite(r.ratio))
            printf("\t%.3f\t%.3f\t%.3f\n", r.ratio, r.low, r.high);
        else
            printf("\t\t\t\n");
        told = true;
    }
    if (!told) {
        tell_value(p, m, who);
        printf("\t\t\t\t\n");
    }
}

int main(int argc, char **argv)
{
    plan *p;

    if (argc != 3)
        die("usage: statements NAME FILE", NULL);
    p = plan_read(argv[2], argv[1]);
    open_sessions(p);
    play(p);
    for (metric m = TIME; m < METRICS; m++)
        for (size_t who = 0; who < p->n; who++)
            tell(p, m, who);
    close_sessions(p);
    return 0;
}
