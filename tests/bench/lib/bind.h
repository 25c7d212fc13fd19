/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * bind.h - which processors a process may use
 */
#ifndef BIND_H
#define BIND_H

#include <stddef.h>
#include <sys/types.h>

/*
 * No more than n of those that this process may use; 0 is this process.  Who is
 * started later has the same.  A failure ends the program.
 */
void bind_to(size_t n, pid_t pid);

#endif /* BIND_H */
