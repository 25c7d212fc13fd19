/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_world.c - what tests of fenced writes have around them
 */
#include "pg_world.h"

#include <poll.h>
#include <string.h>

pg_world world;

int world_start(void **state)
{
    (void)state;
    world.redis = redis_server_start(NULL);
    world.admin = database_connect("");
    database_run(world.admin,
                 "CREATE TABLE stock (sku text PRIMARY KEY,"
                 " quantity int CHECK (quantity >= 0), note text);"
                 "CREATE TABLE once_only (n int, UNIQUE (n) DEFERRABLE"
                 " INITIALLY DEFERRED); INSERT INTO once_only VALUES (1)");
    return 0;
}

int world_stop(void **state)
{
    (void)state;
    PQfinish(world.admin);
    redis_server_stop(world.redis);
    return 0;
}

int world_open(void **state)
{
    (void)state;
    redis_server_command(world.redis, "FLUSHALL");
    database_run(world.admin, "DELETE FROM ringfence.registry;"
                              "TRUNCATE stock;"
                              "INSERT INTO stock VALUES ('a', 10)");
    world.conn = database_connect("");
    return rf_open(redis_server_url(world.redis), NULL, &world.client) != RF_OK;
}

int world_close(void **state)
{
    (void)state;
    PQfinish(world.conn);
    rf_close(world.client);
    return 0;
}

void world_assert(rf_status got, rf_status expected, const char *what,
                  const char *file, int line)
{
    if (got != expected)
        print_error("%s is %s: %s\n", what, rf_status_name(got),
                    rf_message(world.client));
    _assert_string_equal(rf_status_name(got), rf_status_name(expected), file,
                         line);
}

rf_lock *world_acquire(const char *resource, int64_t ttl_ms)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    opts.ttl_ms = ttl_ms;
    assert_outcome(
        rf_pg_acquire(world.client, world.conn, resource, &opts, &lock), RF_OK);
    assert_non_null(lock);
    return lock;
}

rf_status world_exec(rf_lock *lock, const char *sql)
{
    rf_pg_statement statement = { sql, 0, NULL };

    return rf_pg_exec(world.conn, lock, &statement, NULL);
}

void world_overtake(const rf_lock *lock)
{
    const char *resource = rf_lock_resource(lock);
    long long newest = database_number(
        world.admin, "SELECT ringfence.high_water('%s')", resource);

    database_run(world.admin, "SELECT ringfence.guard('%s', %lld, 'another')",
                 resource, newest + 1);
}

void world_await_deadline(const rf_lock *lock)
{
    while (rf_lock_left_ms(lock) > 0)
        poll(NULL, 0, (int)rf_lock_left_ms(lock));
}

long long world_quantity(void)
{
    return database_number(world.admin,
                           "SELECT quantity FROM stock WHERE sku = 'a'");
}

int world_held(const char *resource)
{
    return redis_server_number(world.redis, "EXISTS {lock:v1:%s}", resource) ==
           1;
}

void world_assert_idle(void)
{
    assert_int_equal(PQstatus(world.conn), CONNECTION_OK);
    assert_int_equal(PQpipelineStatus(world.conn), PQ_PIPELINE_OFF);
    assert_int_equal(PQtransactionStatus(world.conn), PQTRANS_IDLE);
}
