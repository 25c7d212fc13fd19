/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * growth.c - what more clients add, until something is used up
 *
 * One to 64 processes, each with a client and a resource of its own, take and
 * give back as fast as they can.  Who used how much processor time tells what
 * stands in the way of more.
 *
 *   growth [rounds]
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "die.h"
#include "redis_server.h"
#include "ringfence.h"
#include "sample.h"
#include "shared_memory.h"
#include "stopwatch.h"

enum { CLIENTS_MAX = 64, ROUNDS_MAX = 100, RUN_MS = 500 };

/* What all processes share. */
typedef struct board {
    atomic_int ready, go, stop;
    struct {
        double pairs, user, system;
    } done[CLIENTS_MAX];
} board;

/* Of one run: pairs a second, and cores that were busy. */
typedef enum { RATE, REDIS, CLIENTS, KERNEL, IDLE, FIGURES } figure;
typedef double figures[FIGURES][ROUNDS_MAX];

static const int sizes[] = { 1, 2, 4, 8, 16, 32, 64 };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static board *shared;
static redis_server *redis;
static char url[64];

static void work(int me)
{
    stopwatch_cpu begin, end;
    char resource[32];
    rf_client *client;
    rf_lock *lock;

    snprintf(resource, sizeof(resource), "growth:%d", me);
    if (rf_open(url, NULL, &client) != RF_OK)
        die(url, rf_message(NULL));
    shared->ready++;
    while (!shared->go)
        usleep(1000);
    begin = stopwatch_cpu_now();
    while (!shared->stop) {
        if (rf_acquire(client, resource, NULL, &lock) != RF_OK ||
            rf_release(lock) != RF_OK)
            die("growth", rf_message(client));
        shared->done[me].pairs++;
    }
    end = stopwatch_cpu_now();
    shared->done[me].user = end.user - begin.user;
    shared->done[me].system = end.system - begin.system;
    rf_close(client);
    _exit(0);
}

static stopwatch_cpu redis_cpu(void)
{
    const char *info = redis_server_command(redis, "INFO cpu");
    const char *user = strstr(info, "used_cpu_user:");
    const char *system = strstr(info, "used_cpu_sys:");

    if (user == NULL || system == NULL)
        die("Redis does not tell its time", NULL);
    return (stopwatch_cpu){ 1e6 * strtod(strchr(user, ':') + 1, NULL),
                            1e6 * strtod(strchr(system, ':') + 1, NULL) };
}

/* Core-microseconds in which this machine had nothing to do, since its start. */
static double idle_us(void)
{
    FILE *file = fopen("/proc/stat", "r");
    unsigned long long idle;

    if (file == NULL || fscanf(file, "cpu %*u %*u %*u %llu", &idle) != 1)
        die("cannot read", "/proc/stat");
    fclose(file);
    return (double)idle * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static void run(int clients, size_t round, figures into)
{
    stopwatch_cpu before, after;
    double begin, us, idle, redis_us, user = 0, system = 0, pairs = 0;
    pid_t people[CLIENTS_MAX];

    memset(shared, 0, sizeof(*shared));
    for (int i = 0; i < clients; i++)
        if ((people[i] = fork()) == 0)
            work(i);
    while (shared->ready < clients)
        usleep(1000);
    before = redis_cpu();
    idle = idle_us();
    begin = stopwatch_us();
    shared->go = 1;
    stopwatch_wait_until(begin + RUN_MS * 1e3);
    shared->stop = 1;
    us = stopwatch_us() - begin;
    after = redis_cpu();
    idle = idle_us() - idle;
    for (int i = 0; i < clients; i++) {
        int ended;

        if (waitpid(people[i], &ended, 0) < 0 || ended != 0)
            die("a client failed", NULL);
        pairs += shared->done[i].pairs;
        user += shared->done[i].user;
        system += shared->done[i].system;
    }
    redis_us = after.user - before.user + after.system - before.system;
    into[RATE][round] = pairs / us * 1e6;
    into[REDIS][round] = redis_us / us;
    into[CLIENTS][round] = (user + system) / us;
    into[KERNEL][round] = (system + after.system - before.system) /
                          (redis_us + user + system);
    into[IDLE][round] = idle / us;
}

/* What there is no more of at the greatest rate. */
static const char *used_up(const double busy[FIGURES])
{
    if (busy[REDIS] >= 0.9)
        return "the one core that Redis can use";
    if (busy[IDLE] <= 0.1)
        return "all cores";
    return "nothing";
}

static void tell(figures *all, size_t rounds)
{
    double best[FIGURES] = { 0 };
    int best_size = 0;

    for (size_t i = 0; i < SIZES; i++) {
        sample_ratio r = sample_compare(all[i][RATE], all[0][RATE], rounds);
        double now[FIGURES];

        for (figure f = RATE; f < FIGURES; f++)
            now[f] = sample_median(all[i][f], rounds);
        printf("growth.%d\t%.0f\tpairs/s\t1\t%.2f\t%.2f\t%.2f\n", sizes[i],
               now[RATE], r.ratio, r.low, r.high);
        printf("growth.%d.redis\t%.2f\tcores\t\t\t\t\n", sizes[i], now[REDIS]);
        printf("growth.%d.clients\t%.2f\tcores\t\t\t\t\n", sizes[i],
               now[CLIENTS]);
        printf("growth.%d.idle\t%.2f\tcores\t\t\t\t\n", sizes[i], now[IDLE]);
        printf("growth.%d.in_kernel\t%.0f\t%%\t\t\t\t\n", sizes[i],
               100 * now[KERNEL]);
        if (now[RATE] > best[RATE]) {
            memcpy(best, now, sizeof(best));
            best_size = sizes[i];
        }
    }
    printf("growth.greatest\t%.0f\tpairs/s\t\t\t\t\n", best[RATE]);
    printf("growth.greatest.at\t%d\tclients\t\t\t\t\n", best_size);
    printf("growth.greatest.used_up\t%s\t\t\t\t\t\n", used_up(best));
}

int main(int argc, char **argv)
{
    static figures all[SIZES];
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("rounds: 1 to 100", NULL);
    shared = shared_memory(sizeof(*shared));
    redis = redis_server_start(NULL);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d",
             redis_server_port(redis));
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < SIZES; i++)
            run(sizes[(i + round) % SIZES], round, all[(i + round) % SIZES]);
    tell(all, rounds);
    redis_server_stop(redis);
    return 0;
}
