/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * system.c - what the client's files ask of the system, but for sockets
 *
 * Clocks, sleep, random bytes, poll() and the descriptor by which a wait is
 * cancelled.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "network.h"
#include "world.h"

#define FD_FIRST   5000
#define EVENTS_MAX 16

static uint64_t events[EVENTS_MAX];
static int event_open[EVENTS_MAX];

pid_t __wrap_getpid(void);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest);
ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags);
void __wrap_explicit_bzero(void *at, size_t size);
int __wrap_eventfd(unsigned count, int flags);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_close(int fd);

/* Nobody forks in here, and the kernel need not be asked a million times. */
pid_t __wrap_getpid(void)
{
    return 4711;
}

/* There are no secrets in here. */
void __wrap_explicit_bzero(void *at, size_t size)
{
    (void)at, (void)size;
}

/* ---- Time and chance ---------------------------------------------------------- */

/* Every look on the clock may be the moment at which a holder stops. */
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    int64_t ms;

    if (id != CLOCK_BOOTTIME && id != CLOCK_MONOTONIC)
        sim_fail("the client asked for clock %d", (int)id);
    if (sim_self() == NULL)
        sim_fail("%s", "simulator: no task looks on the clock");
    sim_maybe_pause();
    ms = id == CLOCK_BOOTTIME ? sim_clock(sim_here())
                              : sim_steady_clock(sim_here());
    out->tv_sec = (time_t)(ms / 1000);
    out->tv_nsec = (long)(ms % 1000) * 1000000;
    return 0;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest)
{
    int64_t until = (int64_t)t->tv_sec * 1000 + (t->tv_nsec + 999999) / 1000000;

    (void)rest;
    if (id != CLOCK_BOOTTIME || flags != TIMER_ABSTIME)
        sim_fail("%s", "the client sleeps by another clock");
    while (sim_clock(sim_here()) < until)
        sim_wait(sim_now() + until - sim_clock(sim_here()));
    return 0;
}

ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags)
{
    unsigned char *to = out;

    (void)flags;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t random = sim_random();

        memcpy(to + i, &random,
               size - i < sizeof(random) ? size - i : sizeof(random));
    }
    return (ssize_t)size;
}

/* ---- The descriptor of rf_cancel() ----------------------------------------------- */

static uint64_t *event_of(int fd)
{
    if (fd < FD_FIRST || fd >= FD_FIRST + EVENTS_MAX ||
        !event_open[fd - FD_FIRST])
        sim_fail("descriptor %d is not open", fd);
    return &events[fd - FD_FIRST];
}

int __wrap_eventfd(unsigned count, int flags)
{
    int i = 0;

    (void)flags;
    while (i < EVENTS_MAX && event_open[i])
        i++;
    if (i == EVENTS_MAX)
        sim_fail("%s", "simulator: too many clients: are they closed?");
    event_open[i] = 1;
    events[i] = count;
    return FD_FIRST + i;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    uint64_t *event = event_of(fd);

    if (*event == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(to, event, sizeof(*event));
    *event = 0;
    return (ssize_t)size;
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
    (void)from;
    ++*event_of(fd);
    sim_wake_all(event_of(fd));
    return (ssize_t)size;
}

int __wrap_close(int fd)
{
    if (fd < FD_FIRST)
        return network_close(fd);
    (void)event_of(fd);
    event_open[fd - FD_FIRST] = 0;
    return 0;
}

/* ---- poll() ---------------------------------------------------------------------- */

static short ready(const struct pollfd *p)
{
    if (p->fd < 0)
        return 0;
    if (p->fd >= FD_FIRST)
        return *event_of(p->fd) > 0 ? p->events & POLLIN : 0;
    if (p->fd >= LIBPQ_FD_FIRST)
        return libpq_ready(p->fd, p->events);
    return network_ready(p->fd, p->events);
}

static int look(struct pollfd *fds, nfds_t n)
{
    int found = 0;

    for (nfds_t i = 0; i < n; i++) {
        fds[i].revents = ready(&fds[i]);
        found += fds[i].revents != 0;
    }
    return found;
}

/* Whatever happens to one of them wakes the task. */
static void wait_for_any(const struct pollfd *fds, nfds_t n, int64_t until)
{
    sim_task *self = sim_self();

    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].fd >= LIBPQ_FD_FIRST && fds[i].fd < FD_FIRST)
            libpq_set_waiting(fds[i].fd, self);
        else if (fds[i].fd >= 0 && fds[i].fd < LIBPQ_FD_FIRST)
            network_set_waiting(fds[i].fd, self);
    }
    sim_wait_for(fds[n - 1].fd >= FD_FIRST ? event_of(fds[n - 1].fd) : NULL,
                 until);
    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].fd >= LIBPQ_FD_FIRST && fds[i].fd < FD_FIRST)
            libpq_set_waiting(fds[i].fd, NULL);
        else if (fds[i].fd >= 0 && fds[i].fd < LIBPQ_FD_FIRST)
            network_set_waiting(fds[i].fd, NULL);
    }
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int64_t until = sim_now() + timeout;
    int found = look(fds, n);

    while (found == 0 && sim_now() < until) {
        wait_for_any(fds, n, until);
        sim_maybe_pause();
        found = look(fds, n);
    }
    return found;
}
