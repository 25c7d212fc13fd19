/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keeper.c - what it costs to keep many locks
 *
 * A hundred, a thousand and ten thousand locks in the keeper of one client, each
 * renewed every second: processor time for each renewal, here and in Redis, and
 * memory for each lock, here and in Redis.
 *
 *   keeper [seconds]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "redis_server.h"
#include "ringfence.h"
#include "stopwatch.h"

enum { LOCKS_MAX = 10000, AT_ONCE = 100, TTL_MS = 3000 };

typedef struct reading {
    double us, cpu_us, redis_cpu_us;
    uint64_t renewals;
} reading;

static redis_server *redis;
static rf_client *client;
static rf_lock *locks[LOCKS_MAX];

static void must(rf_status status)
{
    if (status != RF_OK)
        die(rf_status_name(status), rf_message(client));
}

/* ---- What is read off ---------------------------------------------------------- */

static double redis_info(const char *section, const char *name)
{
    const char *info = redis_server_command(redis, "INFO %s", section);
    const char *found = strstr(info, name);

    if (found == NULL)
        die("Redis does not tell", name);
    return strtod(found + strlen(name), NULL);
}

static double allocated(void)
{
    return (double)mallinfo2().uordblks;
}

static uint64_t lost(void)
{
    rf_stats stats;
    uint64_t sum = 0;

    rf_get_stats(client, &stats);
    for (int i = 0; i < RF_REASONS; i++)
        sum += stats.lost[i];
    return sum;
}

static reading read_all(void)
{
    rf_stats stats;

    rf_get_stats(client, &stats);
    return (reading){ .us = stopwatch_us(),
                      .cpu_us = stopwatch_cpu_us(),
                      .redis_cpu_us = 1e6 *
                                      (redis_info("cpu", "used_cpu_user:") +
                                       redis_info("cpu", "used_cpu_sys:")),
                      .renewals = stats.calls[RF_CALL_RENEW][RF_OK] };
}

/* ---- Keeping ------------------------------------------------------------------- */

static void take(size_t first)
{
    static const rf_acquire_options base = RF_ACQUIRE_INIT;
    rf_acquire_options options = base;
    const char *resources[AT_ONCE];
    char names[AT_ONCE][24];

    options.ttl_ms = TTL_MS;
    for (size_t i = 0; i < AT_ONCE; i++) {
        snprintf(names[i], sizeof(names[i]), "inventory:sku-%zu", first + i);
        resources[i] = names[i];
    }
    must(rf_acquire_all(client, resources, AT_ONCE, &options, locks + first));
    for (size_t i = 0; i < AT_ONCE; i++)
        must(rf_keep(locks[first + i], NULL));
}

static void tell(size_t n, const char *what, double value, const char *unit)
{
    printf("keeper.%zu.%s\t%.4g\t%s\t\t\t\t\n", n, what, value, unit);
}

static void measure(size_t n, double seconds)
{
    double bytes, redis_bytes, renewals;
    reading before, after;

    must(rf_open(redis_server_url(redis), NULL, &client));
    redis_server_command(redis, "FLUSHALL");
    bytes = allocated();
    redis_bytes = redis_info("memory", "used_memory:");
    for (size_t i = 0; i < n; i += AT_ONCE)
        take(i);
    /* The first renewals make the connection and the lists' room. */
    stopwatch_wait_until(stopwatch_us() + TTL_MS / 2 * 1e3);
    bytes = allocated() - bytes;
    redis_bytes = redis_info("memory", "used_memory:") - redis_bytes;
    before = read_all();
    stopwatch_wait_until(before.us + seconds * 1e6);
    after = read_all();
    renewals = (double)(after.renewals - before.renewals);
    tell(n, "renewals", renewals / (after.us - before.us) * 1e6, "per s");
    tell(n, "cpu", (after.cpu_us - before.cpu_us) / renewals, "us");
    tell(n, "redis_cpu", (after.redis_cpu_us - before.redis_cpu_us) / renewals,
         "us");
    tell(n, "bytes", bytes / (double)n, "bytes per lock");
    tell(n, "redis_bytes", redis_bytes / (double)n, "bytes per lock");
    tell(n, "lost", (double)lost(), "locks");
    for (size_t i = 0; i < n; i += AT_ONCE)
        (void)rf_release_all(locks + i, AT_ONCE);
    rf_close(client);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;

    if (!(seconds >= 1))
        die("1 second or more", NULL);
    redis = redis_server_start(NULL);
    for (size_t n = 100; n <= LOCKS_MAX; n *= 10)
        measure(n, seconds);
    redis_server_stop(redis);
    return 0;
}
