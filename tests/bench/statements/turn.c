/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * turn.c - one contestant's turn in a round
 *
 * As many executions as fit into the turn's time, by one client or by several
 * at once.  The clock of processor time counts the backends only: what the
 * server did, whoever else wanted the machine.
 */
#include "turn.h"

#include <pthread.h>

#include "die.h"
#include "stopwatch.h"

typedef struct worker {
    pthread_t thread;
    session *s;
    size_t contestant;
    double until_us; /* 0: execute once */
    size_t count;
} worker;

static void *work(void *argument)
{
    worker *w = argument;

    do {
        session_execute(w->s, w->contestant);
        w->count++;
    } while (stopwatch_us() < w->until_us);
    return NULL;
}

/* All clients at once; one needs no thread. */
static double work_together(worker *workers, size_t n)
{
    double begin = stopwatch_us();

    if (n == 1)
        work(&workers[0]);
    else {
        for (size_t i = 0; i < n; i++)
            if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
                die("no thread", NULL);
        for (size_t i = 0; i < n; i++)
            pthread_join(workers[i].thread, NULL);
    }
    return stopwatch_us() - begin;
}

static double all_cpu_us(const plan *p, session **sessions)
{
    double sum = 0;

    for (size_t i = 0; i < p->clients; i++)
        sum += session_cpu_us(sessions[i]);
    return sum;
}

turn turn_take(const plan *p, session **sessions, size_t contestant)
{
    worker workers[PLAN_CLIENTS];
    double cpu, wal, us;
    size_t count = 0;

    session_before(sessions[0], contestant);
    wal = session_wal(sessions[0]);
    cpu = all_cpu_us(p, sessions);
    for (size_t i = 0; i < p->clients; i++)
        workers[i] = (worker){ .s = sessions[i],
                               .contestant = contestant,
                               .until_us = p->batch_ms
                                               ? stopwatch_us() +
                                                     (double)p->batch_ms * 1e3
                                               : 0 };
    us = work_together(workers, p->clients);
    cpu = all_cpu_us(p, sessions) - cpu;
    wal = session_wal(sessions[0]) - wal;
    for (size_t i = 0; i < p->clients; i++)
        count += workers[i].count;
    return (turn){ us / (double)count, cpu / (double)count,
                   wal / (double)count };
}
