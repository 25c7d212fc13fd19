/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * handover.c - how fast and how fairly a lock goes from hand to hand
 *
 * Many processes want one lock all the time.  Each grant is timed from the
 * moment before the release that made it possible; Redis counts the commands.
 *
 *   handover [processes] [seconds]
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
#include "shared_memory.h"
#include "stopwatch.h"

#define PROCESSES_MAX 256
#define SAMPLES_MAX   1000000

typedef struct board {
    _Atomic double released_us; /* when the last holder began to let go */
    atomic_int stop;
    atomic_int n;
    atomic_int served[PROCESSES_MAX];
    double latency_us[SAMPLES_MAX];
} board;

static board *shared;

static void hold_and_pass_on(rf_client *client, int me)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    double released_us, granted_us;
    rf_lock *lock;

    opts.wait_ms = 60000;
    if (rf_acquire(client, "hot", &opts, &lock) != RF_OK)
        die("handover", rf_message(client));
    granted_us = stopwatch_us();
    released_us = shared->released_us;
    if (released_us != 0 && shared->n < SAMPLES_MAX)
        shared->latency_us[shared->n++] = granted_us - released_us;
    shared->served[me]++;
    shared->released_us = stopwatch_us();
    if (rf_release(lock) != RF_OK)
        die("handover", rf_message(client));
}

static void work(const char *url, int me)
{
    rf_client *client;

    if (rf_open(url, NULL, &client) != RF_OK)
        die("handover", rf_message(NULL));
    while (!shared->stop)
        hold_and_pass_on(client, me);
    rf_close(client);
    _exit(0);
}

static long long calls_of(redis_server *server, const char *command)
{
    char head[64];
    const char *found;

    snprintf(head, sizeof(head), "cmdstat_%s:calls=", command);
    found = strstr(redis_server_command(server, "INFO commandstats"), head);
    return found != NULL ? strtoll(found + strlen(head), NULL, 10) : 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(redis_server *server, int processes, double seconds)
{
    int n = shared->n, least = shared->served[0], most = least, grants = 0;
    long long calls = calls_of(server, "evalsha") + calls_of(server, "eval") +
                      calls_of(server, "blpop");

    for (int i = 0; i < processes; i++) {
        int served = shared->served[i];

        grants += served;
        least = served < least ? served : least;
        most = served > most ? served : most;
    }
    if (n == 0 || grants == 0)
        die("nothing happened", NULL);
    qsort(shared->latency_us, (size_t)n, sizeof(double), ascending);
    printf("handover.rate\t%.0f\tper s\t\t\t\t\n", grants / seconds);
    printf("handover.commands\t%.2f\teach\t\t\t\t\n", (double)calls / grants);
    printf("handover.p50\t%.0f\tus\t\t\t\t\n", shared->latency_us[n / 2]);
    printf("handover.p99\t%.0f\tus\t\t\t\t\n",
           shared->latency_us[(int)(0.99 * (n - 1))]);
    printf("handover.fairness\t%.2f\tmost/least\t\t\t\t\n",
           (double)most / (least > 0 ? least : 1));
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 64;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 5;
    redis_server *server = redis_server_start(NULL);
    pid_t people[PROCESSES_MAX];

    if (processes < 2 || processes > PROCESSES_MAX || seconds < 1)
        die("2 to 256 processes, 1 second or more", NULL);
    shared = shared_memory(sizeof(*shared));
    for (int i = 0; i < processes; i++) {
        people[i] = fork();
        if (people[i] == 0)
            work(redis_server_url(server), i);
    }
    stopwatch_wait_until(stopwatch_us() + seconds * 1e6);
    shared->stop = 1;
    for (int i = 0; i < processes; i++)
        waitpid(people[i], NULL, 0);
    report(server, processes, seconds);
    redis_server_stop(server);
    return 0;
}
