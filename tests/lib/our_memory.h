/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * our_memory.h - memory runs out at the n-th request of our own code
 *
 * For a program that includes this in its one file and is linked with
 * --wrap=malloc,--wrap=calloc,--wrap=realloc: what is linked statically meets
 * these, the libraries below it don't.  (no_memory.h meets those as well.)
 */
#ifndef OUR_MEMORY_H
#define OUR_MEMORY_H

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Threads ask for memory as well. */
static atomic_long allocations; /* since armed                       */
static atomic_long fatal = -1;  /* the one that fails; -1: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int fails(void)
{
    if (allocations++ != fatal)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

static void arm(long nth)
{
    allocations = 0;
    fatal = nth;
}

/* 1 when the armed failure has happened; none is armed afterwards. */
static int disarm(void)
{
    int happened = fatal >= 0 && allocations > fatal;

    fatal = -1;
    return happened;
}

#endif /* OUR_MEMORY_H */
