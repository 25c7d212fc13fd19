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

#include "check.h"
#include "network.h"
#include "postgres.h"
#include "section.h"
#include "servers.h"
#include "world.h"

#define FAULT_MOST(id, name, most) most,
#define NAME(id, name)             name,

static const int fault_most[] = { SIM_FAULTS(FAULT_MOST) };
static const char *const sum_names[] = { SIM_EVENTS(NAME) };
static const char *const weaknesses[] = { SIM_WEAKNESSES(NAME) };

/* One kind of fault in two is absent, so that each is met without others. */
static void choose_odds(void)
{
    int last = sim_chance(350) ? SIM_LAST_HONEST : SIM_FAULT_KINDS - 1;

    memset(odds, 0, sizeof(odds));
    if (sim_chance(50))
        return; /* a quiet world: only others' work is in the way */
    for (int i = 0; i <= last; i++) {
        if (sim_chance(500))
            odds[i] = (int)sim_between(1, fault_most[i]);
    }
}

static void simulate(uint64_t seed)
{
    int64_t before = memory_in_use();

    sim_begin(seed);
    choose_odds();
    check_begin();
    servers_begin();
    network_begin();
    postgres_begin();
    holders_begin();
    sim_run();
    check_end();
    if (memory_in_use() != before && weakness != SIM_KEEPS_ON)
        sim_fail("%lld blocks of memory are not given back",
                 (long long)(memory_in_use() - before));
}

static void print_sums(void)
{
    for (int i = 0; i < SUM_KINDS; i++)
        printf("%lld %s%s", (long long)sums[i], sum_names[i],
               i + 1 < SUM_KINDS ? ", " : "; faults: ");
    for (int i = 0; i < SIM_FAULT_KINDS; i++)
        printf("%lld %s%s", (long long)fault_sums[i], sim_fault_names[i],
               i + 1 < SIM_FAULT_KINDS ? ", " : "; no invariant broken\n");
}

static int set_weakness(const char *name)
{
    for (int i = 0; i < SIM_WEAKNESS_KINDS; i++) {
        if (strcmp(name, weaknesses[i]) == 0) {
            weakness = (sim_weakness)i;
            return 1;
        }
    }
    fprintf(stderr, "simulate: there is no weakness %s\n", name);
    return 0;
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
        if (strcmp(argv[i], "trace") == 0)
            tracing = 1;
        else if (!set_weakness(argv[i]))
            return 2;
    }
    for (int64_t i = 0; i < count; i++)
        simulate(first + (uint64_t)i);
    print_sums();
    return 0;
}
