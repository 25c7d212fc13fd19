/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * nth_request.h - which request for memory fails (for a program's one file)
 */
#ifndef NTH_REQUEST_H
#define NTH_REQUEST_H

#include <errno.h>
#include <stdatomic.h>

/* Threads ask for memory as well. */
static atomic_long allocations; /* since armed                       */
static atomic_long fatal = -1;  /* the one that fails; -1: none does */

static void arm(long nth)
{
    allocations = 0;
    fatal = nth;
}

/* Did the armed failure happen?  None is armed afterwards. */
static int disarm(void)
{
    int happened = fatal >= 0 && allocations > fatal;

    fatal = -1;
    return happened;
}

#endif /* NTH_REQUEST_H */
