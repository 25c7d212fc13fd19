/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * bind.c - which processors a process may use
 */
#define _GNU_SOURCE
#include "bind.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "die.h"

void bind_to(size_t n, pid_t pid)
{
    cpu_set_t ours, few;
    size_t left = n;

    if (sched_getaffinity(0, sizeof(ours), &ours) != 0)
        die("processors are not known", strerror(errno));
    CPU_ZERO(&few);
    for (int i = 0; i < CPU_SETSIZE && left > 0; i++)
        if (CPU_ISSET(i, &ours)) {
            CPU_SET(i, &few);
            left--;
        }
    if (sched_setaffinity(pid, sizeof(few), &few) != 0)
        die("cannot bind to processors", strerror(errno));
}
