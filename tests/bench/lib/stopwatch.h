/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stopwatch.h - the clocks of the measurements
 */
#ifndef STOPWATCH_H
#define STOPWATCH_H

/* Processor time of this process, all threads, in microseconds. */
typedef struct stopwatch_cpu {
    double user, system;
} stopwatch_cpu;

double stopwatch_us(void); /* time that passes, in microseconds */
stopwatch_cpu stopwatch_cpu_now(void);
double stopwatch_cpu_us(void); /* user and system together */

/* Sleep until stopwatch_us() says so, also when signals come. */
void stopwatch_wait_until(double us);

#endif /* STOPWATCH_H */
