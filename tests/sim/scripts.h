/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * scripts.h - the commands of the small Redis, and the scripts
 *
 * The scripts are the real ones, run by LuaJIT, which takes half the time of the
 * Lua that Redis embeds and knows the same language; make LUA=lua5.1 for that.
 * Knows the commands that they use, and no other.
 */
#ifndef SIM_SCRIPTS_H
#define SIM_SCRIPTS_H

#include "keyspace.h"
#include "reply.h"

/* EVAL or EVALSHA: what came, and where; and what it turned out to be. */
typedef struct script_call {
    keyspace *ks;
    int argc;
    char **argv;
    const size_t *len;
    reply *out;

    const char *name; /* NULL: the cache does not have it */
    char **keys, **args;
    int n_keys, n_args;
} script_call;

void scripts_begin(void);
void scripts_eval(script_call *call);

#endif /* SIM_SCRIPTS_H */
