/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * die.h - a measurement that cannot be made ends the program with the reason
 */
#ifndef DIE_H
#define DIE_H

#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "bench: %s%s%s\n", what, which ? ": " : "",
            which ? which : "");
    exit(1);
}

#endif /* DIE_H */
