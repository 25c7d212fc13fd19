/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * sample.c - medians of rounds, and how far they can be trusted
 */
#include "sample.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

enum { DRAWS = 400 };

typedef struct rounds {
    const double *a, *b, *base;
} rounds;

typedef double statistic(const rounds *r, const size_t *pick, double *space,
                         size_t n);

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double *space_for(size_t n)
{
    double *space = malloc(n * sizeof(*space));

    if (space == NULL)
        die("out of memory", NULL);
    return space;
}

double sample_median(const double *values, size_t n)
{
    double *space = space_for(n), median;

    memcpy(space, values, n * sizeof(*space));
    median = median_of(space, n);
    free(space);
    return median;
}

double sample_least(const double *values, size_t n)
{
    double least = values[0];

    for (size_t i = 1; i < n; i++)
        if (values[i] < least)
            least = values[i];
    return least;
}

static double median_ratio(const rounds *r, const size_t *pick, double *space,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        space[i] = r->a[pick[i]] / r->b[pick[i]];
    return median_of(space, n);
}

static double median_cost(const double *values, const double *base,
                          const size_t *pick, double *space, size_t n)
{
    for (size_t i = 0; i < n; i++)
        space[i] = values[pick[i]] - base[pick[i]];
    return median_of(space, n);
}

static double ratio_of_costs(const rounds *r, const size_t *pick, double *space,
                             size_t n)
{
    return median_cost(r->a, r->base, pick, space, n) /
           median_cost(r->b, r->base, pick, space, n);
}

static size_t draw(uint64_t *state, size_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)(*state % n);
}

static sample_ratio judge(statistic *of, const rounds *r, size_t n)
{
    uint64_t state = 88172645463325252u;
    double drawn[DRAWS], *space = space_for(n);
    size_t *pick = malloc(n * sizeof(*pick));
    sample_ratio result;

    if (pick == NULL)
        die("out of memory", NULL);
    for (size_t i = 0; i < n; i++)
        pick[i] = i;
    result.ratio = of(r, pick, space, n);
    for (size_t d = 0; d < DRAWS; d++) {
        for (size_t i = 0; i < n; i++)
            pick[i] = draw(&state, n);
        drawn[d] = of(r, pick, space, n);
    }
    qsort(drawn, DRAWS, sizeof(*drawn), ascending);
    result.low = drawn[DRAWS / 20];
    result.high = drawn[DRAWS - 1 - DRAWS / 20];
    free(pick);
    free(space);
    return result;
}

sample_ratio sample_compare(const double *a, const double *b, size_t n)
{
    rounds r = { a, b, NULL };

    return judge(median_ratio, &r, n);
}

sample_ratio sample_compare_cost(const double *a, const double *b,
                                 const double *base, size_t n)
{
    rounds r = { a, b, base };

    return judge(ratio_of_costs, &r, n);
}
