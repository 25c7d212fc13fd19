/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * found.c - how a finding ends the program
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void fuzz_found(const char *what, int line)
{
    fprintf(stderr, "must hold, line %d: %s\n", line, what);
    abort();
}
