/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_zookeeper_source.c - locks from ZooKeeper, and what gets in their way
 *
 * Three servers.  What every source must do stands in test_every_source.c.
 */
#include "left_out.h"
#include "rf_test.h"

#ifdef RF_ZOOKEEPER

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"
#include "pg_world.h"
#include "told.h"
#include "wire.h"
#include "zookeeper_ensemble.h"
#include "zookeeper_line.h"
#include "zookeeper_proxy.h"

static const char *program;
static zookeeper_ensemble *zookeeper;

/* Somebody with a shell of ZooKeeper's own. */
static rf__zoo *operator_;
static rf__error failure;

static rf__zoo *connect_as(const char *url)
{
    rf__service service;
    rf__zoo *z;

    assert_status(rf__service_parse(url, &service, &failure), RF_OK);
    z = rf__zoo_new(&service);
    assert_non_null(z);
    return z;
}

static int start(void **state)
{
    world_start(state);
    zookeeper = zookeeper_ensemble_start(3);
    operator_ = connect_as(zookeeper_ensemble_url(zookeeper));
    return 0;
}

static int stop(void **state)
{
    rf__zoo_free(operator_);
    zookeeper_ensemble_stop(zookeeper);
    return world_stop(state);
}

static rf_client *open_at(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    opts.timeout_ms = timeout_ms;
    if (rf_open(url, &opts, &client) != RF_OK)
        fail_msg("%s", rf_message(NULL));
    return client;
}

static rf_client *open_zookeeper(int timeout_ms)
{
    return open_at(zookeeper_ensemble_url(zookeeper), timeout_ms);
}

static rf_status take_for(rf_client *client, const char *resource,
                          int64_t ttl_ms, int64_t wait_ms, rf_lock **lock)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;

    opts.ttl_ms = ttl_ms;
    opts.wait_ms = wait_ms;
    return rf_acquire(client, resource, &opts, lock);
}

static rf_status take(rf_client *client, const char *resource, int64_t wait_ms,
                      rf_lock **lock)
{
    return take_for(client, resource, 30000, wait_ms, lock);
}

static void assert_works(rf_client *client, const char *resource)
{
    rf_lock *lock;

    if (take(client, resource, 30000, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
}

/* ---- What the operator does ------------------------------------------------------ */

static rf_status try_by_hand(rf__zoo *z, rf__zoo_op op, const char *path,
                             int64_t deadline_ms, rf__zoo_reply *reply)
{
    rf_status status = rf__zoo_ready(z, 30000, deadline_ms, &failure);

    if (status != RF_OK)
        return status;
    if (op == RF__ZOO_LIST)
        rf__zoo_forget(z, rf__zoo_send(z, rf__zoo_session(z).number,
                                       RF__ZOO_SYNC, path, NULL));
    return rf__zoo_answer(
        z, rf__zoo_send(z, rf__zoo_session(z).number, op, path, "by hand"),
        deadline_ms, reply, &failure);
}

/* A server that is busy may end the connection: who only reads asks again. */
static rf__zoo_reply operate(rf__zoo *z, rf__zoo_op op, const char *path)
{
    int64_t deadline_ms = test_now_ms() + 20000;
    int reads = op == RF__ZOO_LIST || op == RF__ZOO_GET;
    rf__zoo_reply reply;
    rf_status status;

    do
        status = try_by_hand(z, op, path, deadline_ms, &reply);
    while (status != RF_OK && reads && test_now_ms() < deadline_ms);
    if (status != RF_OK)
        fail_msg("%s", failure.text);
    return reply;
}

/* How many stand in the line of the resource; the first one's name. */
static int lined_up(const char *resource, char first[RF__ZOO_NAME_MAX])
{
    rf__zoo_path folder;
    rf__zoo_reply list;

    rf__zoo_folder(&folder, "lock:v1:", resource);
    list = operate(operator_, RF__ZOO_LIST, folder.text);
    if (first != NULL && list.n > 0)
        snprintf(first, RF__ZOO_NAME_MAX, "%s",
                 rf__zoo_line_up(&list, "", "").first);
    free(list.names);
    return (int)list.n;
}

static void await_line(const char *resource, int n)
{
    int64_t begin_ms = test_now_ms();

    while (lined_up(resource, NULL) != n) {
        if (test_now_ms() - begin_ms > 30000)
            fail_msg("%d stand in line, not %d", lined_up(resource, NULL), n);
        usleep(2000);
    }
}

/* The operator may ask a server that has not heard of it yet. */
static rf__zoo_reply at_first(rf__zoo_op op, const char *resource)
{
    int64_t begin_ms = test_now_ms();
    char first[RF__ZOO_NAME_MAX];
    rf__zoo_path path;

    while (lined_up(resource, first) == 0) {
        assert_at_most_ms(begin_ms, 30000);
        usleep(2000);
    }
    rf__zoo_in_folder(&path, "lock:v1:", resource, first);
    return operate(operator_, op, path.text);
}

/* ---- Servers that fail ----------------------------------------------------------- */

static void test_lock_outlives_the_leader(void **state)
{
    rf_client *client = open_zookeeper(20000);
    int leader = zookeeper_ensemble_leader(zookeeper);
    rf_lock *lock, *next;
    rf_fence before;

    (void)state;
    assert_status(take(client, "leader", 0, &lock), RF_OK);
    before = rf_lock_fence(lock);
    zookeeper_ensemble_kill(zookeeper, leader);
    assert_status(rf_renew(lock, 40000), RF_OK);
    assert_status(take(client, "leader", 0, &next), RF_BUSY);
    assert_status(rf_release(lock), RF_OK);
    assert_status(take(client, "leader", 30000, &next), RF_OK);
    assert_true(rf_lock_fence(next) > before);
    assert_status(rf_release(next), RF_OK);
    zookeeper_ensemble_restart(zookeeper, leader);
    rf_close(client);
}

/* A client goes to whichever it likes first: until one has met it. */
static void test_server_that_hangs_is_passed_over(void **state)
{
    int hangs = (zookeeper_ensemble_leader(zookeeper) + 1) % 3;
    int64_t took_ms = 0;
    rf_lock *lock;

    (void)state;
    zookeeper_ensemble_freeze(zookeeper, hangs);
    for (int i = 0; i < 40 && took_ms < 300; i++) {
        rf_client *client = open_zookeeper(20000);
        int64_t begin_ms = test_now_ms();

        if (take_for(client, "hang", 1500, 0, &lock) != RF_OK)
            fail_msg("%s", rf_message(client));
        took_ms = test_now_ms() - begin_ms;
        rf_release(lock);
        rf_close(client);
    }
    assert_in_range(took_ms, 300, 19000);
    zookeeper_ensemble_thaw(zookeeper, hangs);
}

static void test_minority_grants_nothing(void **state)
{
    rf_client *client = open_zookeeper(1500);
    int64_t begin_ms;
    rf_status status;
    rf_lock *lock;

    (void)state;
    assert_works(client, "minority");
    zookeeper_ensemble_kill(zookeeper, 0);
    zookeeper_ensemble_kill(zookeeper, 1);
    begin_ms = test_now_ms();
    status = take(client, "minority", 0, &lock);
    assert_true(status == RF_RETRY || status == RF_UNKNOWN);
    assert_null(lock);
    assert_at_most_ms(begin_ms, 3000);
    zookeeper_ensemble_restart(zookeeper, 0);
    zookeeper_ensemble_restart(zookeeper, 1);
    assert_works(client, "minority");
    rf_close(client);
}

/* ---- The order of waiting ---------------------------------------------------------- */

#define WAITERS 4

typedef struct waiter {
    pthread_t thread;
    const char *url;
    rf_status status;
    int place; /* in which it was served */
} waiter;

static atomic_int served;

static void *wait_in_thread(void *arg)
{
    waiter *w = arg;
    rf_client *client = open_at(w->url, 10000);
    rf_lock *lock;

    w->status = take_for(client, "line", 1500, 60000, &lock);
    if (w->status == RF_OK) {
        w->place = ++served;
        rf_release(lock);
    }
    rf_close(client);
    return NULL;
}

static void begin_wait(waiter *w, const char *url, int behind)
{
    w->url = url;
    pthread_create(&w->thread, NULL, wait_in_thread, w);
    await_line("line", behind + 1);
}

/* In how many lines of all servers' answers does the word stand? */
static int watches_of(const char *word)
{
    int n = 0;

    for (int i = 0; i < 3; i++) {
        const char *said = zookeeper_ensemble_ask(zookeeper, i, "wchp");

        while ((said = strstr(said, word)) != NULL) {
            /* A path, and below it a line for each session that watches. */
            for (said = strchr(said, '\n'); strncmp(said, "\n\t", 2) == 0;
                 said = strchr(said + 1, '\n'))
                n++;
        }
    }
    return n;
}

static void test_who_came_first_is_served_first(void **state)
{
    rf_client *client = open_zookeeper(10000);
    waiter w[WAITERS] = { 0 };
    char first[RF__ZOO_NAME_MAX];
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "line", 0, &lock), RF_OK);
    for (int i = 0; i < WAITERS; i++)
        begin_wait(&w[i], zookeeper_ensemble_url(zookeeper), i + 1);
    while (watches_of("/lock:v1:/line/") < WAITERS)
        usleep(2000);
    lined_up("line", first);
    assert_int_equal(watches_of(first), 1);
    assert_status(rf_release(lock), RF_OK);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].place, i + 1);
    }
    assert_int_equal(lined_up("line", NULL), 0);
    rf_close(client);
}

/* Not from when its place in the line was made. */
static void test_lock_that_was_waited_for_begins_when_it_is_granted(
    void **state)
{
    rf_client *holder = open_zookeeper(10000), *client = open_zookeeper(10000);
    rf_lock *lock, *next;
    rf_info info;

    (void)state;
    assert_status(take_for(holder, "begins", 1000, 0, &lock), RF_OK);
    assert_status(take_for(client, "begins", 1500, 30000, &next), RF_OK);
    assert_true(rf_lock_left_ms(next) > 1000);
    assert_status(rf_inspect(holder, "begins", &info), RF_OK);
    assert_true(info.left_ms > 1000);
    assert_status(rf_release(next), RF_OK);
    assert_status(rf_release(lock), RF_LOST);
    rf_close(holder);
    rf_close(client);
}

static void test_who_gives_up_leaves_the_line(void **state)
{
    rf_client *holder = open_zookeeper(10000), *client = open_zookeeper(10000);
    rf_lock *lock, *none;

    (void)state;
    assert_status(take(holder, "leave", 0, &lock), RF_OK);
    assert_status(take(client, "leave", 0, &none), RF_BUSY);
    assert_int_equal(lined_up("leave", NULL), 1);
    assert_status(take(client, "leave", 300, &none), RF_TIMEOUT);
    await_line("leave", 1);
    rf_cancel(client);
    assert_status(take(client, "leave", 30000, &none), RF_TIMEOUT);
    assert_int_equal(lined_up("leave", NULL), 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(holder);
    rf_close(client);
}

static void test_waiter_whose_session_ends_waits_on_in_another(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_zookeeper(10000);
    waiter w = { 0 };
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "line", 0, &lock), RF_OK);
    begin_wait(&w, zookeeper_proxy_url(proxy), 1);
    zookeeper_proxy_set(proxy, ZOOKEEPER_SILENT, ZOOKEEPER_ANY);
    await_line("line", 1);
    zookeeper_proxy_set(proxy, ZOOKEEPER_PASS, ZOOKEEPER_ANY);
    await_line("line", 2);
    assert_status(rf_release(lock), RF_OK);
    pthread_join(w.thread, NULL);
    assert_status(w.status, RF_OK);
    rf_close(client);
    zookeeper_proxy_stop(proxy);
}

/* ---- Locks that end -------------------------------------------------------------------- */

static atomic_int lost_reason;

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    (void)lock;
    (void)arg;
    lost_reason = reason;
}

static void keep(rf_lock *lock)
{
    rf_keep_options opts = RF_KEEP_INIT;

    opts.on_lost = on_lost;
    lost_reason = 0;
    assert_status(rf_keep(lock, &opts), RF_OK);
}

static int await_lost(void)
{
    while (lost_reason == 0)
        usleep(1000);
    return lost_reason;
}

static void test_node_that_an_operator_deletes_is_a_lock_lost(void **state)
{
    rf_client *client = open_zookeeper(10000), *other = open_zookeeper(10000);
    rf_lock *lock, *next;

    (void)state;
    assert_status(take_for(client, "deleted", 900, 0, &lock), RF_OK);
    keep(lock);
    at_first(RF__ZOO_DELETE, "deleted");
    assert_int_equal(await_lost(), RF_LOST_EXPIRED);
    assert_true(rf_lock_fence(lock) == 0);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(take_for(client, "deleted", 6000, 0, &lock), RF_OK);
    at_first(RF__ZOO_DELETE, "deleted");
    assert_status(take(other, "deleted", 0, &next), RF_OK);
    keep(lock);
    assert_int_equal(await_lost(), RF_LOST_TAKEN);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(next), RF_OK);
    rf_close(client);
    rf_close(other);
}

static int count_one(const char *resource, const rf_info *info, void *arg)
{
    (void)resource, (void)info;
    ++*(int *)arg;
    return 0;
}

/* Everything that could be tried; a child that hangs ends by the alarm. */
static int child_is_sent_away(rf_client *client, rf_lock *lock)
{
    rf_keep_options keep_it = RF_KEEP_INIT;
    rf_lock *own;
    rf_info info;
    told t = { 0 };
    int n = 0;

    alarm(30);
    return rf_renew(lock, 1000) == RF_MISUSE &&
           rf_keep(lock, &keep_it) == RF_MISUSE && rf_lock_fence(lock) == 0 &&
           take(client, "child", 0, &own) == RF_MISUSE &&
           strstr(rf_message(client), "forked child") != NULL &&
           take(client, "child", 1000, &own) == RF_MISUSE &&
           rf_inspect(client, "fork", &info) == RF_MISUSE &&
           rf_list(client, count_one, &n) == RF_MISUSE &&
           rf_force_release(client, "fork", 1, "test") == RF_MISUSE &&
           rf_examine(client, told_note, &t) == RF_MISUSE &&
           rf_release(lock) == RF_MISUSE;
}

/* The lock is kept, so that all threads there can be are running. */
static void test_forked_child_is_told_to_open_its_own(void **state)
{
    rf_client *client = open_zookeeper(10000);
    int64_t begin_ms = test_now_ms();
    rf_lock *lock;
    pid_t child;
    int result;

    (void)state;
    assert_status(take_for(client, "fork", 2000, 0, &lock), RF_OK);
    keep(lock);
    child = fork();
    if (child == 0) {
        int fine = child_is_sent_away(client, lock);

        rf_close(client);
        forked_end(fine);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    /* The session has not ended with the child, nor anything in it. */
    while (test_now_ms() - begin_ms < 3000) {
        assert_true(rf_lock_fence(lock) > 0);
        usleep(10000);
    }
    assert_int_equal(lined_up("fork", NULL), 1);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_kept_lock_that_is_cut_off_ends_before_its_session(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 5000);
    rf_client *other = open_zookeeper(10000);
    rf_lock *lock, *next;
    rf_fence before;

    (void)state;
    assert_status(take_for(client, "cut off", 1000, 0, &lock), RF_OK);
    before = rf_lock_fence(lock);
    keep(lock);
    zookeeper_proxy_set(proxy, ZOOKEEPER_SILENT, ZOOKEEPER_ANY);
    assert_status(take(other, "cut off", 30000, &next), RF_OK);
    assert_true(rf_lock_fence(lock) == 0);
    assert_int_equal(await_lost(), RF_LOST_UNREACHABLE);
    assert_true(rf_lock_fence(next) > before);
    zookeeper_proxy_set(proxy, ZOOKEEPER_PASS, ZOOKEEPER_ANY);
    rf_release(lock);
    assert_status(rf_release(next), RF_OK);
    assert_works(client, "cut off");
    rf_close(client);
    rf_close(other);
    zookeeper_proxy_stop(proxy);
}

/* Renewed for a minute in a session of a second. */
static void test_long_lock_stands_while_its_session_is_sure_to(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 5000);
    rf_client *other = open_zookeeper(10000);
    int64_t begin_ms;
    rf_lock *lock, *next;

    (void)state;
    assert_status(take_for(client, "long", 1000, 0, &lock), RF_OK);
    assert_status(rf_renew(lock, 60000), RF_OK);
    begin_ms = test_now_ms();
    while (test_now_ms() - begin_ms < 2500) {
        assert_true(rf_lock_fence(lock) > 0);
        usleep(10000);
    }
    zookeeper_proxy_set(proxy, ZOOKEEPER_SILENT, ZOOKEEPER_ANY);
    assert_status(take(other, "long", 30000, &next), RF_OK);
    assert_true(rf_lock_fence(lock) == 0);
    zookeeper_proxy_set(proxy, ZOOKEEPER_PASS, ZOOKEEPER_ANY);
    assert_status(rf_renew(lock, 60000), RF_LOST);
    assert_status(rf_release(lock), RF_LOST);
    assert_status(rf_release(next), RF_OK);
    rf_close(client);
    rf_close(other);
    zookeeper_proxy_stop(proxy);
}

static void test_nothing_is_promised_beyond_the_longest_session(void **state)
{
    rf_client *client = open_zookeeper(10000);
    rf_lock *lock;

    (void)state;
    assert_status(take_for(client, "longest", 600000, 0, &lock), RF_OK);
    assert_in_range(rf_lock_left_ms(lock), 20000, ZOOKEEPER_SESSION_MAX_MS);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* What this program does as "test_zookeeper_source URL RESOURCE". */
static int hold(const char *url, const char *resource)
{
    rf_client *client = open_at(url, 10000);
    rf_lock *lock;

    if (take_for(client, resource, 800, 0, &lock) != RF_OK ||
        rf_keep(lock, NULL) != RF_OK || write(STDOUT_FILENO, "!", 1) != 1)
        return 1;
    pause();
    return 0;
}

/* A process that takes the lock, to be stopped or killed. */
static pid_t hold_in_a_process(const char *resource)
{
    int ready[2];
    pid_t child;
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        dup2(ready[1], STDOUT_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(program, program, zookeeper_ensemble_url(zookeeper), resource,
              NULL);
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void test_session_of_a_stopped_process_frees_its_lock(void **state)
{
    static const int signals[] = { SIGSTOP, SIGKILL };
    rf_client *client = open_zookeeper(10000);
    rf_lock *lock;

    (void)state;
    for (int i = 0; i < 2; i++) {
        pid_t holder = hold_in_a_process("stopped");

        assert_status(take(client, "stopped", 1500, &lock), RF_TIMEOUT);
        kill(holder, signals[i]);
        assert_status(take(client, "stopped", 30000, &lock), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        kill(holder, SIGKILL);
        waitpid(holder, NULL, 0);
    }
    rf_close(client);
}

static void test_closing_gives_back_what_is_held(void **state)
{
    rf_client *client = open_zookeeper(10000), *other = open_zookeeper(10000);
    rf_lock *lock, *next;

    (void)state;
    assert_status(take(client, "closed", 0, &lock), RF_OK);
    rf_close(client);
    assert_true(rf_lock_fence(lock) == 0);
    assert_status(take(other, "closed", 1000, &next), RF_OK);
    assert_status(rf_release(lock), RF_MISUSE);
    assert_status(rf_release(next), RF_OK);
    rf_close(other);
}

/* ---- Answers that are lost -------------------------------------------------------------- */

static void meet(zookeeper_proxy *proxy, zookeeper_fault fault,
                 zookeeper_request request, rf_client *client)
{
    rf_lock *lock;

    zookeeper_proxy_set(proxy, fault, request);
    if (take(client, "answer", 0, &lock) != RF_OK)
        fail_msg("%s", rf_message(client));
    assert_int_equal(lined_up("answer", NULL), 1);
    assert_true(at_first(RF__ZOO_GET, "answer").czxid == rf_lock_fence(lock));
    assert_status(rf_renew(lock, 31000), RF_OK);
    rf_release(lock);
    assert_true(zookeeper_proxy_is_met(proxy));
    assert_int_equal(lined_up("answer", NULL), 0);
}

static void test_node_whose_making_was_not_answered_is_found(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 10000);

    (void)state;
    assert_works(client, "answer");
    meet(proxy, ZOOKEEPER_CUT_AFTER, ZOOKEEPER_CREATE, client);
    meet(proxy, ZOOKEEPER_CUT_BEFORE, ZOOKEEPER_CREATE, client);
    meet(proxy, ZOOKEEPER_CUT_AFTER, ZOOKEEPER_SET, client);
    meet(proxy, ZOOKEEPER_CUT_BEFORE, ZOOKEEPER_SET, client);
    meet(proxy, ZOOKEEPER_CUT_AFTER, ZOOKEEPER_DELETE, client);
    meet(proxy, ZOOKEEPER_CUT_BEFORE, ZOOKEEPER_DELETE, client);
    rf_close(client);
    zookeeper_proxy_stop(proxy);
}

static void test_release_tells_whether_its_answer_was_lost(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 10000);
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "told", 0, &lock), RF_OK);
    zookeeper_proxy_set(proxy, ZOOKEEPER_CUT_AFTER, ZOOKEEPER_DELETE);
    assert_status(rf_release(lock), RF_UNKNOWN);
    rf_close(client);
    zookeeper_proxy_stop(proxy);
}

static void take_folder_away(void)
{
    rf__zoo_path folder;

    rf__zoo_folder(&folder, "lock:v1:", "folder");
    (void)operate(operator_, RF__ZOO_DELETE, folder.text);
}

/* As servers do with one that has long been empty. */
static void test_folder_that_goes_away_is_made_again(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 10000);
    rf_lock *lock;

    (void)state;
    assert_works(client, "folder");
    zookeeper_proxy_before(proxy, ZOOKEEPER_CREATE, 1, take_folder_away);
    assert_status(take(client, "folder", 0, &lock), RF_OK);
    assert_int_equal(lined_up("folder", NULL), 1);
    assert_status(rf_release(lock), RF_OK);

    zookeeper_proxy_before(proxy, ZOOKEEPER_CREATE, 2, take_folder_away);
    assert_status(take(client, "folder", 0, &lock), RF_RETRY);
    assert_null(lock);
    assert_non_null(strstr(rf_message(client), "took the folder away"));
    assert_works(client, "folder");
    rf_close(client);
    zookeeper_proxy_stop(proxy);
}

/* The caller has given up: what was made all the same does not stay. */
static void test_node_that_nobody_asks_for_is_taken_away(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 300);
    rf_lock *lock;

    (void)state;
    assert_status(take_for(client, "orphan", 20000, 0, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    zookeeper_proxy_set(proxy, ZOOKEEPER_SILENT, ZOOKEEPER_ANY);
    assert_status(take_for(client, "orphan", 1500, 0, &lock), RF_UNKNOWN);
    assert_null(lock);
    zookeeper_proxy_set(proxy, ZOOKEEPER_PASS, ZOOKEEPER_ANY);
    await_line("orphan", 1);
    await_line("orphan", 0);
    rf_close(client);
    zookeeper_proxy_stop(proxy);
}

/* What was made, and never answered, is looked for by its holder. */
static void test_node_of_another_client_of_the_same_holder_stays(void **state)
{
    zookeeper_proxy *proxy = zookeeper_proxy_start(
        zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_at(zookeeper_proxy_url(proxy), 300);
    rf_client *other = open_zookeeper(10000);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock, *none;

    (void)state;
    opts.holder = "00000000000000000000000000005a3e";
    assert_status(take_for(client, "same", 20000, 0, &lock), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    zookeeper_proxy_set(proxy, ZOOKEEPER_SILENT, ZOOKEEPER_ANY);
    opts.ttl_ms = 1500;
    assert_status(rf_acquire(client, "same", &opts, &none), RF_UNKNOWN);
    opts.ttl_ms = 30000;
    assert_status(rf_acquire(other, "same", &opts, &lock), RF_OK);
    zookeeper_proxy_set(proxy, ZOOKEEPER_PASS, ZOOKEEPER_ANY);
    await_line("same", 2);
    await_line("same", 1);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(lined_up("same", NULL), 0);
    rf_close(client);
    rf_close(other);
    zookeeper_proxy_stop(proxy);
}

/* ---- Requests that come late ------------------------------------------------------------- */

static void await_held(wire *line)
{
    int64_t begin_ms = test_now_ms();

    while (!wire_is_holding(line)) {
        assert_at_most_ms(begin_ms, 30000);
        usleep(1000);
    }
}

#define WRITER_MS   7777
#define WRITER_TEXT "7777 " /* so a node of its begins */

typedef struct writer {
    pthread_t thread;
    char url[128];
    atomic_llong fence;
    atomic_int may_go;
} writer;

static void *wait_to_write(void *arg)
{
    writer *w = arg;
    rf_client *client = open_at(w->url, 20000);
    rf_lock *lock;

    if (take_for(client, "write", WRITER_MS, 60000, &lock) != RF_OK) {
        w->fence = -1;
    } else {
        w->fence = rf_lock_fence(lock);
        while (!w->may_go)
            usleep(1000);
        rf_release(lock);
    }
    rf_close(client);
    return NULL;
}

static int64_t await_fence(writer *w)
{
    while (w->fence == 0)
        usleep(1000);
    return w->fence;
}

/*
 * It was told that it is the first; and between that and its write to the node
 * the node goes.  What a server has told is no proof, only a write is.
 */
static void test_who_has_waited_takes_no_lock_that_is_gone(void **state)
{
    wire *line = wire_start(zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_zookeeper(10000);
    writer w = { .fence = 0 };
    rf_lock *lock;

    (void)state;
    assert_status(take(client, "write", 0, &lock), RF_OK);
    snprintf(w.url, sizeof(w.url), "zookeeper://127.0.0.1:%d", wire_port(line));
    pthread_create(&w.thread, NULL, wait_to_write, &w);
    await_line("write", 2);
    wire_hold(line, WRITER_TEXT);
    assert_status(rf_release(lock), RF_OK);
    await_held(line);
    at_first(RF__ZOO_DELETE, "write");
    wire_let_go(line);
    assert_true(await_fence(&w) > 0);
    assert_true(at_first(RF__ZOO_GET, "write").czxid == w.fence);
    assert_int_equal(lined_up("write", NULL), 1);
    w.may_go = 1;
    pthread_join(w.thread, NULL);
    rf_close(client);
    wire_stop(line);
}

/* Through the line, and when that hangs to another server: where it is first. */
static rf_client *open_through(wire *line)
{
    char url[128];

    snprintf(url, sizeof(url), "zookeeper://127.0.0.1:%d,127.0.0.1:%d",
             wire_port(line), zookeeper_ensemble_port(zookeeper, 1));
    for (;;) {
        int before = wire_connections(line);
        rf_client *client = open_at(url, 30000);
        rf_lock *lock;

        assert_status(take_for(client, "route", 4000, 0, &lock), RF_OK);
        assert_status(rf_release(lock), RF_OK);
        if (wire_connections(line) > before)
            return client;
        rf_close(client);
    }
}

/*
 * The session has moved to another server; the node has been asked for once more
 * there, and the first request arrives where the session was before.
 */
static void test_request_of_a_session_that_has_moved_on_lands_nowhere(
    void **state)
{
    wire *line = wire_start(zookeeper_ensemble_port(zookeeper, 0));
    rf_client *client = open_through(line);
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;

    (void)state;
    opts.holder = "00000000000000000000000000005e55";
    wire_hold(line, opts.holder);
    assert_status(rf_acquire(client, "moved", &opts, &lock), RF_OK);
    assert_true(wire_is_holding(line));
    wire_let_go(line);
    assert_int_equal(lined_up("moved", NULL), 1);
    assert_true(at_first(RF__ZOO_GET, "moved").czxid == rf_lock_fence(lock));
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(lined_up("moved", NULL), 0);
    rf_close(client);
    wire_stop(line);
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static void test_fence_is_no_number_of_a_name(void **state)
{
    rf_client *client = open_zookeeper(10000);
    char first[RF__ZOO_NAME_MAX];
    rf__zoo_path folder;
    rf_fence before = 0;
    rf_lock *lock;

    (void)state;
    rf__zoo_folder(&folder, "lock:v1:", "number");
    for (int i = 0; i < 3; i++) {
        int32_t number = -1;

        assert_status(take(client, "number", 0, &lock), RF_OK);
        lined_up("number", first);
        assert_true(rf__zoo_number(first, &number));
        assert_int_equal(number, 0);
        assert_true(rf_lock_fence(lock) > before);
        before = rf_lock_fence(lock);
        assert_true(at_first(RF__ZOO_GET, "number").czxid == before);
        assert_status(rf_release(lock), RF_OK);
        operate(operator_, RF__ZOO_DELETE, folder.text);
    }
    rf_close(client);
}

static void test_base_is_added_to_every_number(void **state)
{
    char url[256];
    rf_client *client;
    rf_lock *lock;

    (void)state;
    snprintf(url, sizeof(url), "%s?base=1000000",
             zookeeper_ensemble_url(zookeeper));
    client = open_at(url, 10000);
    assert_status(take(client, "base", 0, &lock), RF_OK);
    assert_true(rf_lock_fence(lock) ==
                at_first(RF__ZOO_GET, "base").czxid + 1000000);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

/* As after a rebuild: the database has seen greater numbers. */
static void test_rebuilt_ensemble_is_told_and_what_to_do(void **state)
{
    rf_client *client = open_zookeeper(10000);
    rf_lock *lock;

    (void)state;
    database_run(world.admin, "SELECT ringfence.guard('rebuilt', "
                              "9000000000000000, 'x')");
    assert_status(rf_pg_acquire(client, world.conn, "rebuilt", NULL, &lock),
                  RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "base=9000000000000000"));
    assert_int_equal(lined_up("rebuilt", NULL), 0);
    rf_close(client);
}

/* ---- Who may ------------------------------------------------------------------------------- */

static rf_status ask_as(const char *user, const char *node)
{
    char url[256];
    rf_client *client;
    rf_lock *lock = NULL;
    rf_status status;

    snprintf(url, sizeof(url), "zookeeper://%s%s%s", user,
             zookeeper_ensemble_url(zookeeper) + 12, node);
    client = open_at(url, 10000);
    status = take(client, "who", 0, &lock);
    assert_null(strstr(rf_message(client), "secret"));
    if (status == RF_OK)
        assert_status(rf_release(lock), RF_OK);
    rf_close(client);
    return status;
}

static void test_only_the_same_user_may(void **state)
{
    (void)state;
    operate(operator_, RF__ZOO_FOLDER, "/of-app");
    assert_status(ask_as("app:secret@", "/of-app"), RF_OK);
    assert_status(ask_as("app:wrong-secret@", "/of-app"), RF_MISUSE);
    assert_status(ask_as("no:secret@", "/of-app"), RF_MISUSE);
    assert_status(ask_as("", "/of-app"), RF_MISUSE);
    assert_status(ask_as("app:secret@", "/of-app"), RF_OK);
}

static void test_node_that_is_not_there_is_told(void **state)
{
    (void)state;
    assert_status(ask_as("", "/nowhere"), RF_MISUSE);
}

/* ---- What can't be had ------------------------------------------------------------------------ */

static void test_lock_is_not_passed_on(void **state)
{
    rf_client *client = open_zookeeper(10000);
    rf_lock *lock, *none;

    (void)state;
    assert_status(take(client, "pass", 0, &lock), RF_OK);
    assert_status(rf_detach(lock), RF_MISUSE);
    assert_status(rf_attach(client, "pass", rf_lock_fence(lock),
                            rf_lock_holder(lock), &none),
                  RF_MISUSE);
    assert_non_null(strstr(rf_message(client), "passed on"));
    assert_true(rf_lock_fence(lock) > 0);
    assert_status(rf_release(lock), RF_OK);
    rf_close(client);
}

static void test_replicas_are_not_counted(void **state)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;

    (void)state;
    opts.min_replicas = 1;
    assert_status(rf_open("zookeeper://127.0.0.1", &opts, &client), RF_MISUSE);
    assert_non_null(strstr(rf_message(NULL), "majority"));
}

static void test_server_that_is_no_zookeeper_is_told(void **state)
{
    char url[64];
    rf_client *client;
    rf_lock *lock;

    (void)state;
    snprintf(url, sizeof(url), "zookeeper://127.0.0.1:%d",
             redis_server_port(world.redis));
    client = open_at(url, 500);
    assert_status(take(client, "r", 0, &lock), RF_RETRY);
    assert_null(lock);
    rf_close(client);
    client = open_at("zookeeper://127.0.0.1:1", 500);
    assert_status(take(client, "r", 0, &lock), RF_RETRY);
    rf_close(client);
    client = open_at("zookeeper://no.such.host.invalid", 500);
    assert_status(take(client, "r", 0, &lock), RF_RETRY);
    rf_close(client);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_is_no_number_of_a_name),
        cmocka_unit_test(test_base_is_added_to_every_number),
        world_test(test_rebuilt_ensemble_is_told_and_what_to_do),
        cmocka_unit_test(test_who_came_first_is_served_first),
        cmocka_unit_test(
            test_lock_that_was_waited_for_begins_when_it_is_granted),
        cmocka_unit_test(test_who_gives_up_leaves_the_line),
        cmocka_unit_test(test_waiter_whose_session_ends_waits_on_in_another),
        cmocka_unit_test(test_node_that_an_operator_deletes_is_a_lock_lost),
        cmocka_unit_test(test_forked_child_is_told_to_open_its_own),
        cmocka_unit_test(
            test_kept_lock_that_is_cut_off_ends_before_its_session),
        cmocka_unit_test(test_long_lock_stands_while_its_session_is_sure_to),
        cmocka_unit_test(test_nothing_is_promised_beyond_the_longest_session),
        cmocka_unit_test(test_session_of_a_stopped_process_frees_its_lock),
        cmocka_unit_test(test_closing_gives_back_what_is_held),
        cmocka_unit_test(test_node_whose_making_was_not_answered_is_found),
        cmocka_unit_test(test_release_tells_whether_its_answer_was_lost),
        cmocka_unit_test(test_folder_that_goes_away_is_made_again),
        cmocka_unit_test(test_node_that_nobody_asks_for_is_taken_away),
        cmocka_unit_test(test_node_of_another_client_of_the_same_holder_stays),
        cmocka_unit_test(test_who_has_waited_takes_no_lock_that_is_gone),
        cmocka_unit_test(
            test_request_of_a_session_that_has_moved_on_lands_nowhere),
        cmocka_unit_test(test_only_the_same_user_may),
        cmocka_unit_test(test_node_that_is_not_there_is_told),
        cmocka_unit_test(test_lock_is_not_passed_on),
        cmocka_unit_test(test_replicas_are_not_counted),
        world_test(test_server_that_is_no_zookeeper_is_told),
        cmocka_unit_test(test_lock_outlives_the_leader),
        cmocka_unit_test(test_server_that_hangs_is_passed_over),
        cmocka_unit_test(test_minority_grants_nothing),
    };

    program = argv[0];
    if (argc == 3)
        return hold(argv[1], argv[2]);
    return run_group(tests, start, stop);
}

#else /* RF_ZOOKEEPER */

int main(void)
{
    return run_left_out("zookeeper://127.0.0.1");
}

#endif
