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

#include "nth_request.h"

#include <stdlib.h>

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

#endif /* OUR_MEMORY_H */
