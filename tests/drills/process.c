/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * process.c - what happens to a worker as a process
 *
 * It stops like one that is starved, swapped out or debugged; it is interrupted;
 * it forks; and it is cloned, as a machine is from a snapshot: two go on from
 * the same memory, and nothing in them tells which is which.
 */
#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "settings.h"

static int stopped;
static pid_t child, cloned;

void stop_at(const char *point)
{
    if (stopped || strcmp(set.stop, point) != 0)
        return;
    stopped = 1;
    tell("stops\t%s", point);
    raise(SIGSTOP);
    tell("goes on\t%s", point);
}

/* ---- Signals ---------------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
}

void process_interrupt(void)
{
    struct itimerval every = { .it_interval.tv_usec = set.signals * 1000,
                               .it_value.tv_usec = set.signals * 1000 };
    struct sigaction action = { .sa_handler = on_signal };

    if (set.signals == 0)
        return;
    sigaction(SIGALRM, &action, NULL); /* without SA_RESTART */
    setitimer(ITIMER_REAL, &every, NULL);
}

/* ---- Two of them -------------------------------------------------------------- */

/* How the library finds out that it was forked; a clone does not. */
pid_t __real_rf__process_id(void);
pid_t __wrap_rf__process_id(void);

pid_t __wrap_rf__process_id(void)
{
    return cloned != 0 ? cloned : __real_rf__process_id();
}

static void become_the_child(pid_t parent)
{
    static char name[64];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    snprintf(name, sizeof(name), "%s2", set.name);
    set.name = name;
    tell("begins\t%d", (int)getpid());
    if (!set.clone)
        set.item = set.fork;
}

int process_divide(void)
{
    pid_t parent = getpid();

    if (set.clone)
        cloned = parent;
    child = fork();
    if (child == 0)
        become_the_child(parent);
    if (set.clone) {
        raise(SIGSTOP);
        stopped = 0;
    }
    return child == 0;
}

void process_join(void)
{
    if (child > 0)
        waitpid(child, NULL, 0);
}
