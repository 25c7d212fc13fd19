/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.c - whole sections and single fenced writes, and the usual ways
 *
 *   section [rounds]
 *
 * In a database of the environment, whose commits wait for the disk, and a
 * Redis of its own.  Contestants take turns.  Round trips are counted, and
 * flushes of the log; a proxy that delays each way by a millisecond shows the
 * round trips as time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "die.h"
#include "pg_proxy.h"
#include "redis_server.h"
#include "ringfence.h"
#include "ringfence_pg.h"
#include "sample.h"
#include "stopwatch.h"

enum { ROUNDS_MAX = 1000, PER_ROUND = 20, DELAY_MS = 1 };

#define UPDATE "UPDATE account SET n = n + 1 WHERE id = 1"

typedef void work(PGconn *conn);

typedef struct contestant {
    const char *name;
    work *once;
    double us[ROUNDS_MAX];     /* median of a round                        */
    double cpu_us[ROUNDS_MAX]; /* of the server's process, for each of them */
} contestant;

static redis_server *redis;
static rf_client *client;
static rf_lock *held;

static void run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die(sql, PQerrorMessage(conn));
    PQclear(result);
}

static void must(rf_status status)
{
    if (status != RF_OK)
        die(rf_status_name(status), rf_message(client));
}

static void write_under(PGconn *conn, rf_lock *lock)
{
    rf_pg_statement statement = { .sql = UPDATE };

    must(rf_pg_exec(conn, lock, &statement, NULL));
}

/* ---- What is compared ------------------------------------------------------ */

static void fenced_write(PGconn *conn)
{
    write_under(conn, held);
}

static void plain_write(PGconn *conn)
{
    run(conn, UPDATE);
}

static void fenced_section(PGconn *conn)
{
    rf_lock *lock;

    must(rf_pg_acquire(client, conn, "section", NULL, &lock));
    run(conn, "SELECT n FROM account WHERE id = 1");
    write_under(conn, lock);
    must(rf_release(lock));
}

static void for_update_section(PGconn *conn)
{
    run(conn, "BEGIN");
    run(conn, "SELECT n FROM account WHERE id = 1 FOR UPDATE");
    run(conn, UPDATE);
    run(conn, "COMMIT");
}

static void advisory_section(PGconn *conn)
{
    run(conn, "BEGIN");
    run(conn, "SELECT pg_advisory_xact_lock(42)");
    run(conn, "SELECT n FROM account WHERE id = 1");
    run(conn, UPDATE);
    run(conn, "COMMIT");
}

/* ---- Time ------------------------------------------------------------------ */

static double round_us(PGconn *conn, const contestant *c)
{
    double us[PER_ROUND];

    for (size_t i = 0; i < PER_ROUND; i++) {
        double begin = stopwatch_us();

        c->once(conn);
        us[i] = stopwatch_us() - begin;
    }
    return sample_median(us, PER_ROUND);
}

/* The server's process tells by itself. */
static double server_cpu_us(PGconn *conn)
{
    unsigned long long ns;
    char name[64];
    FILE *file;

    snprintf(name, sizeof(name), "/proc/%d/schedstat", PQbackendPID(conn));
    file = fopen(name, "r");
    if (file == NULL || fscanf(file, "%llu", &ns) != 1)
        die("cannot read", name);
    fclose(file);
    return (double)ns / 1e3;
}

static void play(PGconn *conn, contestant *all, size_t n, size_t rounds)
{
    for (size_t i = 0; i < n; i++)
        round_us(conn, &all[i]);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < n; i++) {
            contestant *c = &all[(i + round) % n];
            double cpu = server_cpu_us(conn);

            c->us[round] = round_us(conn, c);
            c->cpu_us[round] = (server_cpu_us(conn) - cpu) / PER_ROUND;
        }
}

static void tell_alone(const contestant *c, size_t rounds)
{
    printf("section.%s\t%.0f\tper s\t\t\t\t\n", c->name,
           1e6 / sample_median(c->us, rounds));
    printf("section.%s.cpu\t%.1f\tus of the server\t\t\t\t\n", c->name,
           sample_median(c->cpu_us, rounds));
}

/* Ours is the first; throughput is the inverse of its time. */
static void tell_times(const contestant *all, size_t n, size_t rounds)
{
    const contestant *us = &all[0];

    for (size_t i = 1; i < n; i++) {
        sample_ratio r = sample_compare(all[i].us, us->us, rounds);
        sample_ratio c = sample_compare(us->cpu_us, all[i].cpu_us, rounds);

        printf("section.%s\t%.0f\tper s\t%s\t%.3f\t%.3f\t%.3f\n", us->name,
               1e6 / sample_median(us->us, rounds), all[i].name, r.ratio, r.low,
               r.high);
        printf("section.%s.cpu\t%.1f\tus of the server\t%s\t%.3f\t%.3f\t%.3f\n",
               us->name, sample_median(us->cpu_us, rounds), all[i].name,
               c.ratio, c.low, c.high);
        tell_alone(&all[i], rounds);
    }
}

/* ---- Round trips and flushes ----------------------------------------------- */

static long long redis_calls(void)
{
    const char *info = redis_server_command(redis, "INFO commandstats");
    const char *found = strstr(info, "cmdstat_evalsha:calls=");

    return found ? strtoll(strchr(found, '=') + 1, NULL, 10) : 0;
}

static long long flushes(PGconn *conn)
{
    run(conn, "SELECT pg_stat_force_next_flush()");
    return database_number(conn, "SELECT wal_sync FROM pg_stat_wal");
}

static void tell_flushes(PGconn *conn, const contestant *c)
{
    enum { TIMES = 100 };
    long long before = flushes(conn);

    for (size_t i = 0; i < TIMES; i++)
        c->once(conn);
    printf("section.%s.flushes\t%.2f\tper call\t\t\t\t\n", c->name,
           (double)(flushes(conn) - before) / TIMES);
}

/* Through a proxy, which counts what it waits for. */
static void tell_round_trips(const contestant *all, size_t n)
{
    pg_proxy *proxy = pg_proxy_start();
    PGconn *conn;

    pg_proxy_set_delay(proxy, DELAY_MS);
    conn = database_connect(pg_proxy_options(proxy));
    for (size_t i = 0; i < n; i++) {
        int asked = pg_proxy_requests(proxy);
        long long called = redis_calls();
        double us = round_us(conn, &all[i]);

        printf("section.%s.round_trips\t%.2f\tPostgreSQL\t\t\t\t\n",
               all[i].name,
               (double)(pg_proxy_requests(proxy) - asked) / PER_ROUND);
        printf("section.%s.redis_calls\t%.2f\tRedis\t\t\t\t\n", all[i].name,
               (double)(redis_calls() - called) / PER_ROUND);
        printf("section.%s.delayed\t%.2f\tms\t\t\t\t\n", all[i].name, us / 1e3);
    }
    PQfinish(conn);
    pg_proxy_stop(proxy);
}

static void compare(PGconn *conn, contestant *all, size_t n, size_t rounds)
{
    play(conn, all, n, rounds);
    tell_times(all, n, rounds);
    for (size_t i = 0; i < n; i++)
        tell_flushes(conn, &all[i]);
    tell_round_trips(all, n);
}

/* Without the disk, what the server and the client do is all there is. */
static void compare_unflushed(PGconn *conn, size_t rounds)
{
    static contestant writes[] = {
        { .name = "fenced_write_unflushed", .once = fenced_write },
        { .name = "plain_write_unflushed", .once = plain_write }
    };

    run(conn, "SET synchronous_commit = off");
    play(conn, writes, 2, rounds);
    tell_times(writes, 2, rounds);
    run(conn, "RESET synchronous_commit");
}

int main(int argc, char **argv)
{
    static contestant writes[] = {
        { .name = "fenced_write", .once = fenced_write },
        { .name = "plain_write", .once = plain_write }
    };
    static contestant sections[] = {
        { .name = "fenced", .once = fenced_section },
        { .name = "for_update", .once = for_update_section },
        { .name = "advisory", .once = advisory_section }
    };
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 15;
    rf_acquire_options options = RF_ACQUIRE_INIT;
    PGconn *conn = database_connect("");

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("rounds: 1 to 1000", NULL);
    redis = redis_server_start(NULL);
    if (rf_open(redis_server_url(redis), NULL, &client) != RF_OK)
        die("cannot connect", redis_server_url(redis));
    database_run(conn, "CREATE TABLE account (id int PRIMARY KEY, n bigint)"
                       " WITH (fillfactor = 10);"
                       "INSERT INTO account VALUES (1, 0)");
    options.ttl_ms = 600000;
    must(rf_pg_acquire(client, conn, "writes", &options, &held));
    compare(conn, writes, 2, rounds);
    compare_unflushed(conn, rounds);
    compare(conn, sections, 3, rounds);
    must(rf_release(held));
    rf_close(client);
    PQfinish(conn);
    redis_server_stop(redis);
    return 0;
}
