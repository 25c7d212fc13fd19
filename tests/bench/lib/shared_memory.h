/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared_memory.h - what a program shares with the processes that it forks
 */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include <stddef.h>

/* Zeroed, and there until the program ends. */
void *shared_memory(size_t size);

#endif /* SHARED_MEMORY_H */
