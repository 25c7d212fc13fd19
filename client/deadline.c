/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * deadline.c - the only file that reads a clock
 *
 * CLOCK_BOOTTIME, because a lock goes on running out while a laptop sleeps and
 * CLOCK_MONOTONIC stands still then.  The wall clock decides nothing: it jumps.
 */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

int64_t rf__now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t rf__wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t rf__now_ms(void)
{
    return rf__now_us() / 1000;
}

int64_t rf__deadline_ms(int64_t sent_ms, int64_t ttl_ms)
{
    /*
     * One per cent for clocks that run at different speeds, two milliseconds
     * for rounding on both sides.
     */
    return sent_ms + ttl_ms - ttl_ms / 100 - 2;
}

int rf__left_ms(int64_t deadline_ms)
{
    int64_t left = deadline_ms - rf__now_ms();

    if (left <= 0)
        return 0;
    return left > RF_TTL_MAX_MS ? RF_TTL_MAX_MS : (int)left;
}

void rf__sleep_until_ms(int64_t until_ms)
{
    struct timespec until = { .tv_sec = (time_t)(until_ms / 1000),
                              .tv_nsec = (long)(until_ms % 1000) * 1000000 };

    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

void rf__sleep_or_fd(int64_t until_ms, int fd)
{
    struct pollfd p[2] = { { .fd = -1 }, { .fd = fd, .events = POLLIN } };
    int left;

    while ((left = rf__left_ms(until_ms)) > 0) {
        if (poll(p, 2, left) > 0)
            return;
    }
}

void rf__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void rf__cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(cond, mutex, &until);
}
