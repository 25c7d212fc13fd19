/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_world.h - what tests of fenced writes have around them
 *
 * A Redis, a client of it, the connection under test, and a second one that
 * sets things up and looks at what was committed.  Every test begins with an
 * empty Redis, an empty registry, and one row of stock: sku a, quantity 10.
 */
#ifndef PG_WORLD_H
#define PG_WORLD_H

#include <libpq-fe.h>

#include "database.h"
#include "redis_server.h"
#include "rf_test.h"
#include "ringfence_pg.h"

typedef struct pg_world {
    redis_server *redis;
    rf_client *client;
    PGconn *conn;
    PGconn *admin;
} pg_world;

extern pg_world world;

/* For the group, and for each test. */
int world_start(void **state);
int world_stop(void **state);
int world_open(void **state);
int world_close(void **state);

#define world_test(f) \
    cmocka_unit_test_setup_teardown(f, world_open, world_close)

/* An outcome by name, told with the message when it is another. */
#define assert_outcome(expression, expected) \
    world_assert((expression), (expected), #expression, __FILE__, __LINE__)
void world_assert(rf_status got, rf_status expected, const char *what,
                  const char *file, int line);

/* Take and claim the lock; what must not fail. */
rf_lock *world_acquire(const char *resource, int64_t ttl_ms);

/* Run a statement without parameters. */
rf_status world_exec(rf_lock *lock, const char *sql);

/* Claim in the database with a newer fence, as another holder would. */
void world_overtake(const rf_lock *lock);

/* Wait until the lock's deadline is over. */
void world_await_deadline(const rf_lock *lock);

/* The quantity that is committed. */
long long world_quantity(void);

/* Is the lock's key still in Redis? */
int world_held(const char *resource);

/* The connection is as a caller left it: connected, idle, no pipeline. */
void world_assert_idle(void);

#endif /* PG_WORLD_H */
