/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * threads.c - the client's threads, as tasks of the world
 *
 * What the keeper asks of pthreads.  A thread runs until it waits, looks on a
 * clock or takes a mutex: there another may come in between.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "world.h"

#define THREADS_MAX 16

/* How often a thread is interrupted where it takes a mutex, of a thousand. */
#define INTERRUPTED 60

typedef struct thread {
    void *(*run)(void *);
    void *arg;
} thread;

static thread threads[THREADS_MAX];
static unsigned thread_count;

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *arg);
int __wrap_pthread_join(pthread_t id, void **result);
pthread_t __wrap_pthread_self(void);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attributes);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);

/* ---- Threads ------------------------------------------------------------------ */

static void run_thread(void *what)
{
    thread *t = what;

    t->run(t->arg);
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *arg)
{
    thread *t = &threads[thread_count++ % THREADS_MAX];

    (void)attributes;
    t->run = run;
    t->arg = arg;
    *out = (pthread_t)sim_spawn(run_thread, t, NULL);
    return 0;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
    sim_task *task = (sim_task *)id;

    (void)result;
    while (!sim_ended(task))
        sim_wait_for(task, SIM_FOR_EVER);
    return 0;
}

pthread_t __wrap_pthread_self(void)
{
    return (pthread_t)sim_self();
}

/* There are no signals in here. */
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how, (void)set, (void)old;
    return 0;
}

/* ---- Mutexes: the owner stands in the room that pthreads has for its own ------- */

static sim_task *owner_of(const pthread_mutex_t *mutex)
{
    sim_task *owner;

    memcpy(&owner, mutex, sizeof(owner));
    return owner;
}

static void set_owner(pthread_mutex_t *mutex, sim_task *owner)
{
    memcpy(mutex, &owner, sizeof(owner));
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    set_owner(mutex, NULL);
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (owner_of(mutex) != NULL)
        sim_fail("%s", "a mutex is destroyed while it is held");
    return 0;
}

static void take(pthread_mutex_t *mutex)
{
    if (owner_of(mutex) == sim_self())
        sim_fail("%s", "a thread waits for itself");
    while (owner_of(mutex) != NULL)
        sim_wait_for(mutex, SIM_FOR_EVER);
    set_owner(mutex, sim_self());
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (sim_chance(INTERRUPTED))
        sim_wait(sim_now());
    take(mutex);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (owner_of(mutex) != sim_self())
        sim_fail("%s", "a mutex is given back by one who does not have it");
    set_owner(mutex, NULL);
    sim_wake_all(mutex);
    return 0;
}

/* ---- Conditions ------------------------------------------------------------------ */

int __wrap_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attributes)
{
    (void)cond, (void)attributes;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    sim_wake_all(cond);
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    __wrap_pthread_mutex_unlock(mutex);
    sim_wait_for(cond, SIM_FOR_EVER);
    take(mutex);
    return 0;
}

/* By a clock that stands still while the machine does: that comes on top. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    int64_t end = (int64_t)until->tv_sec * 1000 + until->tv_nsec / 1000000;
    int64_t left, from;

    __wrap_pthread_mutex_unlock(mutex);
    do {
        from = sim_now();
        left = end - sim_steady_clock(sim_here());
        sim_wait_for(cond, from + left);
    } while (sim_now() >= from + left && sim_steady_clock(sim_here()) < end);
    take(mutex);
    return 0;
}
