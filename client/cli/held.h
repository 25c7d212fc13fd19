/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * held.h - the locks that are held, in the order of their names
 */
#ifndef CLI_HELD_H
#define CLI_HELD_H

#include "command.h"

typedef struct cli_lock {
    char resource[RF_RESOURCE_MAX + 1];
    rf_info info;
} cli_lock;

/* Starts as { 0 }. */
typedef struct cli_held {
    cli_lock *lock;
    size_t n;
} cli_held;

/* All of them, each once.  RF_OK, or what rf_list() returns. */
rf_status cli_held_ask(cli_call *call, cli_held *out);

/* Why they can't be had, and what to do.  The exit code. */
int cli_held_fail(cli_call *call, rf_status status);

/* As cli_held_ask(); 0, or the exit code after its message. */
int cli_held_read(cli_call *call, cli_held *out);

void cli_held_free(cli_held *held);

#endif /* CLI_HELD_H */
