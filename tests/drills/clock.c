/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * clock.c - clocks that can be set (to be preloaded)
 *
 * Adds offsets to the clocks, while the program runs: two 64-bit numbers of ms,
 * read from the file CLOCK_FILE.  The first is for the realtime clocks, as if
 * somebody had set them; the second for the one that counts suspend, as if the
 * machine had slept.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offsets_ms;

__attribute__((constructor)) static void map_offsets(void)
{
    const char *file = getenv("CLOCK_FILE");
    int fd = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    void *at;

    if (fd < 0)
        return;
    at = mmap(NULL, 2 * sizeof(*offsets_ms), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        offsets_ms = at;
}

static int64_t offset_of(clockid_t id)
{
    if (offsets_ms == NULL)
        return 0;
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
        return offsets_ms[0];
    return id == CLOCK_BOOTTIME ? offsets_ms[1] : 0;
}

/* The system call itself: the library's function would lead back to us. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    long failed = syscall(SYS_clock_gettime, id, t);
    int64_t ms = offset_of(id);

    if (failed != 0)
        return (int)failed;
    t->tv_sec += (time_t)(ms / 1000);
    t->tv_nsec += (long)(ms % 1000) * 1000000;
    if (t->tv_nsec >= 1000000000) {
        t->tv_nsec -= 1000000000;
        t->tv_sec++;
    } else if (t->tv_nsec < 0) {
        t->tv_nsec += 1000000000;
        t->tv_sec--;
    }
    return 0;
}

int gettimeofday(struct timeval *tv, void *zone)
{
    struct timespec t;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    tv->tv_sec = t.tv_sec;
    tv->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out != NULL)
        *out = t.tv_sec;
    return t.tv_sec;
}
