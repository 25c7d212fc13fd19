/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * stopwatch.c - the clocks of the measurements
 */
#include "stopwatch.h"

#include <sys/resource.h>
#include <time.h>

double stopwatch_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us_of(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

stopwatch_cpu stopwatch_cpu_now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (stopwatch_cpu){ us_of(usage.ru_utime), us_of(usage.ru_stime) };
}

double stopwatch_cpu_us(void)
{
    stopwatch_cpu cpu = stopwatch_cpu_now();

    return cpu.user + cpu.system;
}

void stopwatch_wait_until(double us)
{
    struct timespec until = { (time_t)(us / 1e6), 0 };

    until.tv_nsec = (long)((us - (double)until.tv_sec * 1e6) * 1e3);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}
