/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * world.c - time, chance, hosts and tasks
 *
 * Tasks are coroutines: started on a stack of their own by ucontext, switched
 * by what asks the kernel for nothing.
 */
#define _GNU_SOURCE
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"

#define EVENTS_MAX 512
#define HOSTS_MAX  (HOLDERS + 2)
#define TASKS_MAX  (2 * HOSTS_MAX)
#define STACK_SIZE (512 * 1024)

/* Its time, and below that what chance has put before or after it. */
#define TIME_SHIFT 40

typedef struct event {
    uint64_t order;
    void (*act)(void *, int64_t);
    void *what;
    int64_t n;
} event;

struct sim_host {
    int64_t offset;  /* of its clock, ms               */
    int64_t drift;   /* millionths that it runs too fast */
    int64_t stopped; /* until then, all of it          */
    int64_t asleep;  /* how long it was suspended, ms  */
};

/* The compiler's own, where it has them, do not look for what to clean up. */
#ifdef __x86_64__
typedef void *place[5];
#define STOPS_AT(p) (__builtin_setjmp(p) == 0)
#define GO_ON_AT(p) __builtin_longjmp(p, 1)
#else
typedef jmp_buf place;
#define STOPS_AT(p) (_setjmp(p) == 0)
#define GO_ON_AT(p) _longjmp(p, 1)
#endif

struct sim_task {
    void (*run)(void *);
    void *what;
    sim_host *host;
    const void *waits_for;
    int ended, waiting;
    int64_t ticket; /* of the current wait: older wake-ups are void */
    place at;
    int started; /* in some world: its stack is in use */
};

#define FAULT_NAME(id, name, most) name,
const char *const sim_fault_names[] = { SIM_FAULTS(FAULT_NAME) };

int odds[SIM_FAULT_KINDS];
int64_t fault_sums[SIM_FAULT_KINDS], sums[SUM_KINDS];
sim_weakness weakness;
int tracing;

static int64_t fault_sums_before[SIM_FAULT_KINDS];
static uint64_t world_seed, state;
static int64_t now;
static event agenda[EVENTS_MAX];
static int events;
static sim_host hosts[HOSTS_MAX];
static int host_count;
static sim_task tasks[TASKS_MAX];
static int task_count;
static sim_task *current;
static place scheduler;
static ucontext_t launch_from;
static char stacks[TASKS_MAX][STACK_SIZE] __attribute__((aligned(16)));

void sim_copy(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);

    if (len >= size)
        sim_fail("simulator: no room for %s", from);
    memcpy(to, from, len + 1);
}

/* strtol() knows more, and takes three times as long. */
int64_t sim_number(const char *text)
{
    int64_t number = 0;

    while (*text >= '0' && *text <= '9')
        number = number * 10 + (*text++ - '0');
    return number;
}

/* ---- Chance --------------------------------------------------------------- */

uint64_t sim_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* By multiplication: a division costs as much as the rest. */
int64_t sim_between(int64_t low, int64_t high)
{
    uint64_t range = (uint64_t)(high - low + 1);

    return low + (int64_t)(((sim_random() >> 32) * range) >> 32);
}

int sim_chance(int of_a_thousand)
{
    return of_a_thousand > 0 && sim_between(0, 999) < of_a_thousand;
}

int sim_strikes(sim_fault fault)
{
    if (!sim_chance(odds[fault]))
        return 0;
    fault_sums[fault]++;
    sim_trace("fault: %s", sim_fault_names[fault]);
    return 1;
}

int sim_met(sim_fault fault)
{
    return fault_sums[fault] != fault_sums_before[fault];
}

/*
 * ---- Events: by time, then by chance, the next one last -----------------------
 *
 * There are some ten, and what is new is mostly due before the others.
 */

int64_t sim_now(void)
{
    return now;
}

void sim_at(int64_t when, void (*act)(void *, int64_t), void *what, int64_t n)
{
    uint64_t at = (uint64_t)(when < now ? now : when);
    event e = { at << TIME_SHIFT | sim_random() >> (64 - TIME_SHIFT), act, what,
                n };
    int i = events++;

    if (events == EVENTS_MAX)
        sim_fail("simulator: too many events");
    for (; i > 0 && agenda[i - 1].order < e.order; i--)
        agenda[i] = agenda[i - 1];
    agenda[i] = e;
}

/* ---- Hosts ------------------------------------------------------------------- */

sim_host *sim_new_host(void)
{
    sim_host *host = &hosts[host_count++];

    if (host_count > HOSTS_MAX)
        sim_fail("simulator: too many hosts");
    host->offset = sim_between(1000, 1000000);
    host->drift = sim_between(-4000, 4000);
    host->stopped = host->asleep = 0;
    return host;
}

int64_t sim_clock(const sim_host *host)
{
    return host->offset + now + now * host->drift / 1000000;
}

int64_t sim_steady_clock(const sim_host *host)
{
    return sim_clock(host) - host->asleep;
}

/* ---- Tasks ------------------------------------------------------------------ */

/* The stack stays: in the next world another task starts on it, from here. */
static void launch(void)
{
    for (;;) {
        sim_task *task = current;

        task->run(task->what);
        task->ended = 1;
        sim_wake_all(task);
        if (STOPS_AT(task->at))
            GO_ON_AT(scheduler);
    }
}

static void start(sim_task *task)
{
    /* Not all at one place in the processor's cache. */
    size_t apart = (size_t)(task - tasks) * 17 * 64;
    ucontext_t context;

    task->started = 1;
    /* cppcheck-suppress getcontextCalled */
    getcontext(&context);
    context.uc_stack.ss_sp = stacks[task - tasks];
    context.uc_stack.ss_size = STACK_SIZE - apart;
    context.uc_link = NULL;
    /* cppcheck-suppress makecontextCalled */
    makecontext(&context, launch, 0);
    /* cppcheck-suppress swapcontextCalled */
    swapcontext(&launch_from, &context);
}

static void resume(sim_task *task)
{
    current = task;
    if (STOPS_AT(scheduler)) {
        if (task->started)
            GO_ON_AT(task->at);
        start(task);
    }
    current = NULL;
}

/* A host that is stopped takes it up when it goes on. */
static void wake_up(void *what, int64_t ticket)
{
    sim_task *task = what;

    if (!task->waiting || task->ticket != ticket)
        return;
    if (task->host->stopped > now) {
        sim_at(task->host->stopped, wake_up, task, ticket);
        return;
    }
    task->waiting = 0;
    resume(task);
}

sim_task *sim_spawn(void (*run)(void *), void *what, sim_host *host)
{
    sim_task *task = &tasks[task_count++];

    if (task_count > TASKS_MAX)
        sim_fail("simulator: too many tasks");
    task->run = run;
    task->what = what;
    task->host = host != NULL ? host : current->host;
    task->waits_for = NULL;
    task->ended = 0;
    task->waiting = 1;
    task->ticket++;
    sim_at(now + (host != NULL ? sim_between(0, 30) : 0), wake_up, task,
           task->ticket);
    return task;
}

sim_task *sim_self(void)
{
    return current;
}

sim_host *sim_here(void)
{
    return current->host;
}

int sim_ended(const sim_task *task)
{
    return task->ended;
}

void sim_wait_for(const void *what, int64_t until)
{
    sim_task *task = current;

    task->waiting = 1;
    task->waits_for = what;
    task->ticket++;
    if (until != SIM_FOR_EVER)
        sim_at(until, wake_up, task, task->ticket);
    if (STOPS_AT(task->at))
        GO_ON_AT(scheduler);
    task->waits_for = NULL;
}

void sim_wait(int64_t until)
{
    sim_wait_for(NULL, until);
}

void sim_wake(sim_task *task)
{
    if (task != NULL && task->waiting)
        sim_at(now, wake_up, task, task->ticket);
}

void sim_wake_all(const void *what)
{
    for (int i = 0; i < task_count; i++) {
        if (tasks[i].waiting && tasks[i].waits_for == what)
            sim_wake(&tasks[i]);
    }
}

void sim_sleep(int64_t ms)
{
    int64_t until = now + ms;

    while (now < until)
        sim_wait(until);
}

/* A page fault, the collector of some language; SIGSTOP; a laptop's lid. */
static void stop(sim_fault how)
{
    static const char *const what[] = { [SIM_PAUSE] = "thread",
                                        [SIM_STOP] = "process",
                                        [SIM_SUSPEND] = "machine" };
    int64_t ms = sim_between(1, sim_chance(300) ? 400 : 40);

    fault_sums[how]++;
    sim_trace("the %s stops", what[how]);
    if (how != SIM_PAUSE)
        current->host->stopped = now + ms;
    if (how == SIM_SUSPEND)
        current->host->asleep += ms;
    sim_sleep(ms);
    sim_trace("the %s goes on", what[how]);
}

void sim_maybe_pause(void)
{
    int all = odds[SIM_PAUSE] + odds[SIM_STOP] + odds[SIM_SUSPEND];
    int at;

    if (all == 0 || current == NULL)
        return;
    at = (int)sim_between(0, 999);
    if (at >= all)
        return;
    if (at < odds[SIM_PAUSE])
        stop(SIM_PAUSE);
    else
        stop(at < all - odds[SIM_SUSPEND] ? SIM_STOP : SIM_SUSPEND);
}

/* ---- A world ----------------------------------------------------------------- */

void sim_begin(uint64_t seed)
{
    world_seed = seed;
    state = seed * 0x2545f4914f6cdd1du + 0x1234567;
    now = 0;
    events = 0;
    host_count = 0;
    task_count = 0;
    memcpy(fault_sums_before, fault_sums, sizeof(fault_sums));
    sums[SUM_WORLDS]++;
}

void sim_run(void)
{
    while (events > 0) {
        event e = agenda[--events];

        now = (int64_t)(e.order >> TIME_SHIFT);
        if (now > 100000)
            sim_fail("%s", "I11: it takes for ever");
        e.act(e.what, e.n);
        check_step();
    }
    for (int i = 0; i < task_count; i++) {
        if (!tasks[i].ended)
            sim_fail("I11: task %d waits for ever", i);
    }
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
