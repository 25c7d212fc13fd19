/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * sample.h - medians of rounds, and how far they can be trusted
 *
 * Contestants took turns within each round, so value i of one belongs to value
 * i of every other.  Intervals hold nine in ten, found by drawing rounds again
 * and again (bootstrap), with the same draws each time.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>

typedef struct sample_ratio {
    double ratio, low, high;
} sample_ratio;

double sample_median(const double *values, size_t n);
double sample_least(const double *values, size_t n);

/* Median of the rounds' own ratios. */
sample_ratio sample_compare(const double *a, const double *b, size_t n);

/* (median of a - base) / (median of b - base); base NULL is nothing. */
sample_ratio sample_compare_cost(const double *a, const double *b,
                                 const double *base, size_t n);

#endif /* SAMPLE_H */
