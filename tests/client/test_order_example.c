/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_order_example.c - the example for unknown outcomes meets all of them
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pg_proxy.h"
#include "pg_world.h"

/* The requests of one attempt: connect, claim, begin, three more, commit. */
#define REQUESTS 7

static pg_proxy *proxy;

static void load(const char *name)
{
    char command[512];

    snprintf(command, sizeof(command),
             "psql -X -q -v ON_ERROR_STOP=1 -f %s/examples/%s >%s/psql 2>&1",
             getenv("RF_ROOT"), name, getenv("TMPDIR"));
    assert_int_equal(system(command), 0);
}

static int start(void **state)
{
    (void)state;
    world.redis = redis_server_start(NULL);
    world.admin = database_connect("");
    load("stock.sql");
    load("orders.sql");
    proxy = pg_proxy_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    pg_proxy_stop(proxy);
    PQfinish(world.admin);
    redis_server_stop(world.redis);
    return 0;
}

/* Run the example as a program, through the proxy.  Returns its exit code. */
static int order(const char *number)
{
    char path[512];
    pid_t pid;
    int status;

    snprintf(path, sizeof(path), "%s/examples/order", getenv("RF_BUILD"));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        setenv("PGHOST", pg_proxy_folder(proxy), 1);
        setenv("PGPORT", "5432", 1);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execl(path, path, redis_server_url(world.redis), number, NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_sold(const char *number, int sold)
{
    assert_int_equal(database_number(world.admin,
                                     "SELECT count(*) FROM orders"
                                     " WHERE number = '%s'",
                                     number),
                     1);
    assert_int_equal(
        database_number(world.admin, "SELECT 100 - remaining FROM stock"),
        sold);
}

static void test_order_is_sold_once_wherever_the_connection_breaks(void **state)
{
    static const pg_fault faults[] = { PG_CUT_BEFORE, PG_CUT_AFTER };
    int sold = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        for (int skip = 0; skip < REQUESTS; skip++) {
            char number[32];

            snprintf(number, sizeof(number), "%d-%d", (int)i, skip);
            pg_proxy_set(proxy, faults[i], skip);
            assert_int_equal(order(number), 0);
            assert_sold(number, ++sold);
        }
    }
}

static void test_undisturbed_order_takes_as_many_requests_as_named(void **state)
{
    int before = pg_proxy_requests(proxy);

    (void)state;
    assert_int_equal(order("plain"), 0);
    assert_int_equal(pg_proxy_requests(proxy) - before, REQUESTS);
}

static void test_order_that_is_there_is_not_sold_again(void **state)
{
    long long left = database_number(world.admin,
                                     "SELECT remaining FROM stock");

    (void)state;
    assert_int_equal(order("plain"), 0);
    assert_int_equal(
        database_number(world.admin, "SELECT remaining FROM stock"), left);
}

static void test_nothing_is_sold_when_nothing_is_left(void **state)
{
    (void)state;
    database_run(world.admin,
                 "SELECT ringfence.guard('stock:apple', ringfence.high_water("
                 "'stock:apple') + 1, 'test');");
    database_run(world.admin,
                 "BEGIN; SELECT ringfence.guard('stock:apple', "
                 "ringfence.high_water('stock:apple'), 'test');"
                 "UPDATE stock SET remaining = 0, fence = ringfence.fence("
                 "'stock:apple'); COMMIT");
    assert_int_equal(order("late"), 1);
    assert_int_equal(database_number(world.admin, "SELECT count(*) FROM orders"
                                                  " WHERE number = 'late'"),
                     0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_order_is_sold_once_wherever_the_connection_breaks),
        cmocka_unit_test(
            test_undisturbed_order_takes_as_many_requests_as_named),
        cmocka_unit_test(test_order_that_is_there_is_not_sold_again),
        cmocka_unit_test(test_nothing_is_sold_when_nothing_is_left),
    };

    return run_group(tests, start, stop);
}
