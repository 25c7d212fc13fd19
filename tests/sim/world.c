/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * world.c - time, chance and tasks
 *
 * Tasks are coroutines: started on a stack of their own by ucontext, switched
 * by _setjmp and _longjmp, which ask the kernel for nothing.  Also the clock, the
 * sleep and the random source that the client's files are linked with.
 */
#define _GNU_SOURCE
#include "world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <ucontext.h>

#define EVENTS_MAX 512
#define TASKS_MAX  (HOLDERS + 2)
#define STACK_SIZE (256 * 1024)

typedef struct event {
    int64_t when;
    uint64_t tie;
    void (*act)(void *, int64_t);
    void *what;
    int64_t n;
} event;

struct sim_task {
    void (*run)(void *);
    void *what;
    char *stack;
    jmp_buf at;
    int started, ended, waiting;
    int64_t ticket; /* of the current wait: older wake-ups are void */
    int64_t offset; /* of its clock, ms                             */
    int64_t drift;  /* millionths that it runs too fast             */
};

sim_odds odds;
sim_weakness weakness;
sim_sums sums;
int tracing;

static uint64_t world_seed, state;
static int64_t now;
static int honest;
static event heap[EVENTS_MAX];
static int events;
static sim_task tasks[TASKS_MAX];
static int task_count;
static sim_task *current;
static jmp_buf scheduler;
static ucontext_t launch_from;

void sim_copy(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);

    if (len >= size)
        sim_fail("simulator: no room for %s", from);
    memcpy(to, from, len + 1);
}

int sim_number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

/* ---- Chance --------------------------------------------------------------- */

uint64_t sim_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t sim_between(int64_t low, int64_t high)
{
    return low + (int64_t)(sim_random() % (uint64_t)(high - low + 1));
}

int sim_chance(int of_a_thousand)
{
    return of_a_thousand > 0 && sim_between(0, 999) < of_a_thousand;
}

/* ---- Events: a heap by time, then by chance -------------------------------- */

int64_t sim_now(void)
{
    return now;
}

static int before(const event *a, const event *b)
{
    return a->when < b->when || (a->when == b->when && a->tie < b->tie);
}

void sim_at(int64_t when, void (*act)(void *, int64_t), void *what, int64_t n)
{
    event e = { when < now ? now : when, sim_random(), act, what, n };
    int i = events++;

    if (events == EVENTS_MAX)
        sim_fail("simulator: too many events");
    for (; i > 0 && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static event next_event(void)
{
    event first = heap[0], last = heap[--events];
    int i = 0;

    for (;;) {
        int child = 2 * i + 1;

        if (child >= events)
            break;
        if (child + 1 < events && before(&heap[child + 1], &heap[child]))
            child++;
        if (before(&last, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

/* ---- Tasks ------------------------------------------------------------------ */

static void launch(void)
{
    sim_task *task = current;

    task->run(task->what);
    task->ended = 1;
    _longjmp(scheduler, 1);
}

static void resume(sim_task *task)
{
    ucontext_t context;

    current = task;
    if (_setjmp(scheduler) == 0) {
        if (task->started)
            _longjmp(task->at, 1);
        task->started = 1;
        /* cppcheck-suppress getcontextCalled */
        getcontext(&context);
        context.uc_stack.ss_sp = task->stack;
        context.uc_stack.ss_size = STACK_SIZE;
        context.uc_link = NULL;
        /* cppcheck-suppress makecontextCalled */
        makecontext(&context, launch, 0);
        /* cppcheck-suppress swapcontextCalled */
        swapcontext(&launch_from, &context);
    }
    current = NULL;
}

static void wake_up(void *what, int64_t ticket)
{
    sim_task *task = what;

    if (task->waiting && task->ticket == ticket) {
        task->waiting = 0;
        resume(task);
    }
}

sim_task *sim_spawn(void (*run)(void *), void *what)
{
    sim_task *task = &tasks[task_count++];
    char *stack = task->stack;

    if (stack == NULL && (stack = malloc(STACK_SIZE)) == NULL)
        abort();
    memset(task, 0, sizeof(*task));
    task->stack = stack;
    task->run = run;
    task->what = what;
    task->waiting = 1;
    task->offset = sim_between(1000, 1000000);
    task->drift = sim_between(-4000, 4000);
    sim_at(now + sim_between(0, 30), wake_up, task, task->ticket);
    return task;
}

sim_task *sim_self(void)
{
    return current;
}

void sim_wait(int64_t until)
{
    sim_task *task = current;

    task->waiting = 1;
    task->ticket++;
    sim_at(until, wake_up, task, task->ticket);
    if (_setjmp(task->at) == 0)
        _longjmp(scheduler, 1);
}

void sim_wake(sim_task *task)
{
    if (task != NULL && task->waiting)
        sim_at(now, wake_up, task, task->ticket);
}

void sim_sleep(int64_t ms)
{
    int64_t until = now + ms;

    while (now < until)
        sim_wait(until);
}

/* SIGSTOP, a page fault, the collector of some language, a lost host. */
void sim_maybe_pause(void)
{
    if (current == NULL || !sim_chance(odds.pause))
        return;
    sums.faults++;
    sim_trace("%s", "stops");
    sim_sleep(sim_between(1, sim_chance(300) ? 400 : 40));
    sim_trace("%s", "goes on");
}

int64_t sim_task_clock(void)
{
    return current->offset + now + now * current->drift / 1000000;
}

int64_t sim_task_to_true(int64_t clock_ms)
{
    int64_t guess = (clock_ms - current->offset) * 1000000 /
                    (1000000 + current->drift);

    while (current->offset + guess + guess * current->drift / 1000000 <
           clock_ms)
        guess++;
    return guess;
}

/* ---- What the client's files are linked with -------------------------------- */

pid_t __wrap_getpid(void);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest);
ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags);

/* Nobody forks in here, and the kernel need not be asked a million times. */
pid_t __wrap_getpid(void)
{
    return 4711;
}

/* Every look on the clock may be the moment at which a holder stops. */
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    int64_t ms;

    if (id != CLOCK_BOOTTIME)
        sim_fail("the client asked for clock %d", (int)id);
    if (current == NULL)
        sim_fail("%s", "simulator: no task looks on the clock");
    sim_maybe_pause();
    ms = sim_task_clock();
    out->tv_sec = (time_t)(ms / 1000);
    out->tv_nsec = (long)(ms % 1000) * 1000000;
    return 0;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest)
{
    int64_t until = (int64_t)t->tv_sec * 1000 + (t->tv_nsec + 999999) / 1000000;

    (void)rest;
    if (id != CLOCK_BOOTTIME || flags != TIMER_ABSTIME)
        sim_fail("%s", "the client sleeps by another clock");
    until = sim_task_to_true(until);
    while (now < until)
        sim_wait(until);
    return 0;
}

ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags)
{
    unsigned char *to = out;

    (void)flags;
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)sim_random();
    return (ssize_t)size;
}

/* ---- A world ----------------------------------------------------------------- */

void sim_begin(uint64_t seed)
{
    world_seed = seed;
    state = seed * 0x2545f4914f6cdd1du + 0x1234567;
    now = 0;
    honest = 1;
    events = 0;
    task_count = 0;
    sums.worlds++;
}

void sim_run(void)
{
    while (events > 0) {
        event e = next_event();

        now = e.when;
        if (now > 100000)
            sim_fail("%s", "I11: it takes for ever");
        e.act(e.what, e.n);
    }
    for (int i = 0; i < task_count; i++) {
        if (!tasks[i].ended)
            sim_fail("I11: task %d waits for ever", i);
    }
}

int sim_honest(void)
{
    return honest;
}

void sim_dishonest(void)
{
    honest = 0;
}

static void say(FILE *out, const char *format, va_list args)
{
    fprintf(out, "%6lld ms ", (long long)now);
    if (current != NULL)
        fprintf(out, "[%d] ", (int)(current - tasks));
    else
        fputs("    ", out);
    vfprintf(out, format, args);
    fputc('\n', out);
}

void sim_trace(const char *format, ...)
{
    va_list args;

    if (!tracing)
        return;
    va_start(args, format);
    say(stdout, format, args);
    va_end(args);
}

void sim_fail(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    printf("seed %llu violates ", (unsigned long long)world_seed);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf(" (at %lld ms)\n", (long long)now);
    fflush(stdout);
    _Exit(1);
}
