/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared_memory.c - what a program shares with the processes that it forks
 */
#include "shared_memory.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "die.h"

void *shared_memory(size_t size)
{
    FILE *file = tmpfile();
    void *shared = MAP_FAILED;

    if (file != NULL && ftruncate(fileno(file), (off_t)size) == 0)
        shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fileno(file), 0);
    if (shared == MAP_FAILED)
        die("no memory to share", NULL);
    fclose(file);
    return shared;
}
