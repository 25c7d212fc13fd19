/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * events.c - what a worker was told, a line each, written before the next step
 */
#include "events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "settings.h"

static FILE *events;

void events_open(void)
{
    events = set.log != NULL ? fopen(set.log, "a") : stdout;
    if (events == NULL)
        settings_refuse(set.log);
}

int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t time_of_day_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void tell(const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (char *at = line; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    fprintf(events, "%" PRId64 "\t%s\t%s\n", now_ms(), set.name, line);
    fflush(events);
}
