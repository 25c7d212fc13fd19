/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_system.c - the system refuses: random bytes, descriptors, threads
 *
 * The linker puts the functions below in the place of those that fail on hardly
 * any machine; descriptors run out by the process's own limit.
 */
#include "redis_world.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

static int random_failure; /* an errno value; 0: none */
static int interruptions;  /* of the next requests for random bytes */
static int threads_refused;

ssize_t __real_getrandom(void *out, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);

ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags)
{
    errno = random_failure;
    if (random_failure != 0)
        return -1;
    if (interruptions-- <= 0)
        return __real_getrandom(out, size, flags);
    errno = EINTR;
    return -1;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg)
{
    return threads_refused ? EAGAIN
                           : __real_pthread_create(thread, attr, start, arg);
}

static int open_client(void **state)
{
    (void)state;
    return redis_world_open(2000);
}

static void test_no_random_bytes_no_grant(void **state)
{
    char holder[RF_HOLDER_LEN + 1] = "left from before";
    rf_lock *lock;

    (void)state;
    random_failure = ENOSYS;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_RETRY);
    assert_null(lock);
    assert_non_null(strstr(rf_message(client), "random"));
    assert_status(rf_holder_new(holder), RF_RETRY);
    assert_string_equal(holder, "");
    random_failure = 0;
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

static void test_random_bytes_are_asked_for_again_after_a_signal(void **state)
{
    char holder[RF_HOLDER_LEN + 1];

    (void)state;
    interruptions = 3;
    assert_status(rf_holder_new(holder), RF_OK);
    assert_int_equal(strlen(holder), RF_HOLDER_LEN);
    assert_true(interruptions <= 0);
}

/* ---- Forks -------------------------------------------------------------------- */

/* Older kernels know no page that a child finds wiped. */
int __wrap_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice)
{
    (void)at;
    (void)size;
    (void)advice;
    errno = EINVAL;
    return -1;
}

static void test_fork_is_noticed_without_the_kernels_help(void **state)
{
    rf_lock *lock;
    int status;
    pid_t child;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    child = fork();
    if (child == 0)
        _exit(rf_renew(lock, 30000) == RF_MISUSE ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- Descriptors ------------------------------------------------------------ */

static struct rlimit usual;

/* From now on every new descriptor is one too many. */
static void no_descriptors(void)
{
    struct rlimit none;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = usual;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void descriptors(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static void test_no_descriptor_no_client(void **state)
{
    rf_client *another = client;

    (void)state;
    no_descriptors();
    assert_status(rf_open(redis_server_url(server), NULL, &another), RF_RETRY);
    descriptors();
    assert_null(another);
    assert_non_null(strstr(rf_message(NULL), "descriptor"));
}

static void test_no_descriptor_for_a_connection_is_retry(void **state)
{
    char tcp[64];
    rf_client *over_tcp;
    rf_lock *lock;

    (void)state;
    snprintf(tcp, sizeof(tcp), "redis://127.0.0.1:%d",
             redis_server_port(server));
    assert_status(rf_open(tcp, NULL, &over_tcp), RF_OK);
    no_descriptors();
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_RETRY);
    assert_null(lock);
    assert_status(rf_acquire(over_tcp, "r", NULL, &lock), RF_RETRY);
    descriptors();
    assert_null(lock);
    assert_non_null(strstr(rf_message(over_tcp), "cannot connect"));
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    assert_status(rf_acquire(over_tcp, "r", NULL, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(over_tcp);
}

/* ---- Threads ------------------------------------------------------------------ */

static void test_no_thread_is_retry_and_the_lock_stays(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    threads_refused = 1;
    assert_status(rf_keep(lock, NULL), RF_RETRY);
    threads_refused = 0;
    assert_non_null(strstr(rf_message(client), "thread"));
    assert_int_equal(rf_lock_fence(lock), 1);
    assert_status(rf_keep(lock, NULL), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, open_client, redis_world_close)
    const struct CMUnitTest tests[] = {
        CASE(test_no_random_bytes_no_grant),
        CASE(test_random_bytes_are_asked_for_again_after_a_signal),
        CASE(test_fork_is_noticed_without_the_kernels_help),
        CASE(test_no_descriptor_no_client),
        CASE(test_no_descriptor_for_a_connection_is_retry),
        CASE(test_no_thread_is_retry_and_the_lock_stays),
    };

    return run_group(tests, redis_world_start, redis_world_stop);
}
