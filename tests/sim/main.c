/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * main.c - world after world, each from its seed
 *
 * simulate FIRST COUNT [WEAKNESS] [trace]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static const char *const weaknesses[] = {
    [SIM_SOUND] = "sound",         [SIM_REFUSE_LOWER] = "refuse-lower",
    [SIM_NO_HOLDER] = "no-holder", [SIM_NO_CLAIM] = "no-claim",
    [SIM_OLD_LOOK] = "old-look",   [SIM_NO_GUARD] = "no-guard",
    [SIM_LATE_HOLD] = "late-hold",
};
#define WEAKNESSES ((int)(sizeof(weaknesses) / sizeof(weaknesses[0])))

/* One kind of fault in two is absent, so that each is met without others. */
static int some(int most)
{
    return sim_chance(500) ? (int)sim_between(1, most) : 0;
}

static void choose_odds(void)
{
    memset(&odds, 0, sizeof(odds));
    if (sim_chance(50))
        return; /* a quiet world: only others' work is in the way */
    odds.pause = some(20);
    odds.refuse = some(100);
    odds.cut_before = some(60);
    odds.cut_request = some(60);
    odds.cut_reply = some(80);
    odds.swallow = some(30);
    odds.duplicate = some(100);
    odds.slow = some(150);
    odds.error = some(40);
    odds.pooled = some(300);
    odds.discard = some(100);
    odds.scripts = some(100);
    odds.crash = some(40);
    if (sim_chance(350))
        return; /* Redis at least is honest */
    odds.forget = some(60);
    odds.rewind = some(80);
    odds.evict = some(80);
    odds.step = some(80);
}

static void simulate(uint64_t seed)
{
    sim_begin(seed);
    choose_odds();
    check_begin();
    redis_begin();
    postgres_begin();
    holders_begin();
    sim_run();
    check_end();
}

static void print_sums(void)
{
    printf("%lld schedules, %lld sections, %lld grants, %lld faults of which "
           "Redis forgot %lld; both believed %lld times; %lld commits, %lld "
           "operations refused, %lld unknown of which %lld had landed; no "
           "invariant broken\n",
           (long long)sums.worlds, (long long)sums.sections,
           (long long)sums.acquired, (long long)sums.faults,
           (long long)sums.forgets, (long long)sums.overlaps,
           (long long)sums.commits, (long long)sums.refused,
           (long long)sums.unknown, (long long)sums.landed);
}

int main(int argc, char **argv)
{
    uint64_t first;
    int64_t count;

    if (argc < 3) {
        fprintf(stderr, "usage: simulate FIRST COUNT [WEAKNESS] [trace]\n");
        return 2;
    }
    first = strtoull(argv[1], NULL, 10);
    count = atoll(argv[2]);
    for (int i = 3; i < argc; i++) {
        int w = 0;

        if (strcmp(argv[i], "trace") == 0) {
            tracing = 1;
            continue;
        }
        while (w < WEAKNESSES && strcmp(argv[i], weaknesses[w]) != 0)
            w++;
        if (w == WEAKNESSES) {
            fprintf(stderr, "simulate: there is no weakness %s\n", argv[i]);
            return 2;
        }
        weakness = (sim_weakness)w;
    }
    for (int64_t i = 0; i < count; i++)
        simulate(first + (uint64_t)i);
    print_sums();
    return 0;
}
