/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * exit.c - children of tests that leave by _exit are counted as well
 *
 * The linker puts this in the place of _exit, which would end the process before
 * its counts are written.
 */
#include <gcov.h>

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
