/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * no_memory.h - memory runs out at the n-th request of the whole program
 *
 * For a program that includes this in its one file: its malloc() and the like
 * stand in front of those of the C library, for hiredis and all others too.
 */
#ifndef NO_MEMORY_H
#define NO_MEMORY_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE first, for RTLD_NEXT"
#endif
#include "nth_request.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int (*spared)(void) = NULL; /* not NULL and true: not this one   */

/* The first requests come before ThreadSanitizer is ready to look at them. */
#define UNWATCHED __attribute__((no_sanitize("thread")))

/* And it ends the program when it is refused memory where a thread begins. */
#ifdef __SANITIZE_THREAD__
#define ASKS_ITSELF (gettid() != getpid())
#else
#define ASKS_ITSELF 0
#endif

UNWATCHED static int fails(void)
{
    long nth = fatal;

    if (nth < 0 || ASKS_ITSELF || (spared != NULL && spared()) ||
        allocations++ != nth)
        return 0;
    errno = ENOMEM;
    return 1;
}

UNWATCHED static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

UNWATCHED void *malloc(size_t size)
{
    static void *(*real)(size_t);

    if (real == NULL)
        real = (void *(*)(size_t))next("malloc");
    return fails() ? NULL : real(size);
}

UNWATCHED void *calloc(size_t n, size_t size)
{
    static void *(*real)(size_t, size_t);

    if (real == NULL)
        real = (void *(*)(size_t, size_t))next("calloc");
    return fails() ? NULL : real(n, size);
}

UNWATCHED void *realloc(void *old, size_t size)
{
    static void *(*real)(void *, size_t);

    if (real == NULL)
        real = (void *(*)(void *, size_t))next("realloc");
    return fails() ? NULL : real(old, size);
}

#endif /* NO_MEMORY_H */
