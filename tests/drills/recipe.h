/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * recipe.h - the lock as it is usually written
 *
 * SET NX PX with a number from INCR beside it, nothing echoed, nothing resent
 * under the same name, a late reply read as the next one.  The drills run it to
 * see that their faults do harm.
 */
#ifndef RECIPE_H
#define RECIPE_H

#include <stddef.h>

typedef struct recipe recipe;

/*
 * style: recipe; cached (scripts are loaded now, and called by their digest for
 * ever after); steps (SETNX, then PEXPIRE, then INCR, as long ago); wall (judges
 * by its own wall clock whether the lock still holds).  NULL for any other.
 * redis: path of a Unix socket, or host:port.  timeout_ms 0: none.  Ends the
 * program when it can't connect.
 */
recipe *recipe_open(const char *style, const char *redis, long timeout_ms);
void recipe_close(recipe *r); /* NULL is fine */

/* 1 with the number as text, 0 when it is held, or nobody knows. */
int recipe_acquire(recipe *r, const char *resource, long ttl_ms, char *fence,
                   size_t size);
int recipe_renew(recipe *r, const char *resource, long ttl_ms);
void recipe_release(recipe *r, const char *resource);

/* 0 when it knows by itself that the lock is over. */
int recipe_trusted(const recipe *r);
const char *recipe_holder(const recipe *r);

#endif /* RECIPE_H */
