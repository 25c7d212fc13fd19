/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_redis.c - a Redis that refuses, and a connection that misbehaves
 */
#include "rf_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"
#include "proxy.h"
#include "redis_server.h"
#include "temp_folder.h"

static redis_server *server;
static proxy *fault;
static rf_client *client; /* straight to the server */
static rf_client *far;    /* through the proxy      */

#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"

static int start(void **state)
{
    static const char *const options[] = { "--enable-protected-configs", "yes",
                                           NULL };

    (void)state;
    server = redis_server_start(options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(server);
    return 0;
}

static rf_client *open_with(const char *url, int timeout_ms)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *opened;

    opts.timeout_ms = timeout_ms;
    assert_status(rf_open(url, &opts, &opened), RF_OK);
    return opened;
}

static int open_both(void **state)
{
    (void)state;
    redis_server_command(server, "FLUSHALL");
    fault = proxy_start(redis_server_socket(server));
    client = open_with(redis_server_url(server), 2000);
    far = open_with(proxy_url(fault), 2000);
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    rf_close(client);
    rf_close(far);
    proxy_stop(fault);
    return 0;
}

static rf_status try_on(rf_client *on, const char *resource)
{
    rf_lock *lock;
    rf_status status = rf_acquire(on, resource, NULL, &lock);

    assert_true((lock != NULL) == (status == RF_OK));
    if (lock != NULL)
        assert_status(rf_release(lock), RF_OK);
    return status;
}

static void assert_says(const rf_client *on, const char *what)
{
    if (strstr(rf_message(on), what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", rf_message(on), what);
}

static void config(const char *name, const char *value)
{
    assert_string_equal(
        redis_server_command(server, "CONFIG SET %s %s", name, value), "OK");
}

/* ---- What Redis refuses --------------------------------------------------------- */

static void test_forgotten_script_is_sent_again_on_the_same_connection(
    void **state)
{
    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    for (int i = 0; i < 5; i++) {
        redis_server_command(server, "SCRIPT FLUSH");
        assert_status(try_on(far, "r"), RF_OK);
    }
    assert_int_equal(proxy_connections(fault), 1);
}

static void test_script_is_sent_by_digest_once_it_is_known(void **state)
{
    int before;

    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    before = proxy_requests(fault);
    assert_status(try_on(far, "r"), RF_OK);
    assert_int_equal(proxy_requests(fault) - before, 2);
}

static void test_replica_is_retry_and_writes_nothing(void **state)
{
    (void)state;
    assert_status(try_on(client, "r"), RF_OK);
    redis_server_command(server, "REPLICAOF 127.0.0.1 1");
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_says(client, "READONLY");
    redis_server_command(server, "REPLICAOF NO ONE");
    assert_status(try_on(client, "r"), RF_OK);
}

static void test_stale_replica_that_hides_its_data_is_retry(void **state)
{
    (void)state;
    config("replica-serve-stale-data", "no");
    redis_server_command(server, "REPLICAOF 127.0.0.1 1");
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_says(client, "MASTERDOWN");
    redis_server_command(server, "REPLICAOF NO ONE");
    config("replica-serve-stale-data", "yes");
}

static void test_too_few_replicas_are_refused_by_policy(void **state)
{
    (void)state;
    config("min-replicas-to-write", "1");
    assert_status(try_on(client, "r"), RF_REFUSED);
    assert_says(client, "NOREPLICAS");
    config("min-replicas-to-write", "0");
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    assert_status(try_on(client, "r"), RF_OK);
}

static void test_redis_that_cannot_save_is_retry(void **state)
{
    int64_t begin = test_now_ms();

    (void)state;
    config("save", "3600 1");
    config("dir", "/proc");
    redis_server_command(server, "SET x y");
    redis_server_command(server, "BGSAVE");
    while (strstr(redis_server_command(server, "INFO persistence"),
                  "rdb_last_bgsave_status:err") == NULL)
        assert_at_most_ms(begin, 10000);
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_says(client, "MISCONF");
    config("dir", redis_server_folder(server));
    config("save", "");
    assert_status(try_on(client, "r"), RF_OK);
}

static void test_full_memory_is_retry_and_a_held_lock_lives_on(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "held", NULL, &lock), RF_OK);
    config("maxmemory-policy", "noeviction");
    config("maxmemory", "1");
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_says(client, "OOM");
    assert_status(rf_renew(lock, 60000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    config("maxmemory", "0");
    assert_int_equal(redis_server_number(server, "EXISTS " COUNTER, "r"), 0);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "held"), 0);
}

static void test_full_memory_does_not_keep_a_release_from_waking(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    redis_server_command(server, "SET {lock:v1:r}:waiters 1 PX 60000");
    config("maxmemory", "1");
    assert_status(rf_release(lock), RF_OK);
    config("maxmemory", "0");
    assert_int_equal(redis_server_number(server, "LLEN {lock:v1:r}:wake"), 1);
}

static void test_busy_redis_is_retry(void **state)
{
    int64_t begin = test_now_ms();

    (void)state;
    assert_status(try_on(client, "r"), RF_OK);
    config("busy-reply-threshold", "50");
    redis_server_make_busy(server);
    assert_status(try_on(client, "r"), RF_RETRY);
    assert_says(client, "BUSY");
    redis_server_command(server, "SCRIPT KILL");
    while (try_on(client, "r") == RF_RETRY && test_now_ms() - begin < 10000)
        continue;
    assert_status(try_on(client, "r"), RF_OK);
    config("busy-reply-threshold", "5000");
}

static void test_loading_redis_is_retry(void **state)
{
    static const char *const slowly[] = {
        "--key-load-delay", "50", "--loading-process-events-interval-bytes",
        "1024", NULL
    };
    redis_server *slow = redis_server_start(slowly);
    rf_client *early = open_with(redis_server_url(slow), 2000);

    (void)state;
    redis_server_command(slow, "EVAL %s 0",
                         "for i = 1, 100000 do "
                         "redis.call('SET', 'k' .. i, i) end");
    assert_string_equal(redis_server_command(slow, "SAVE"), "OK");
    redis_server_restart_with_data(slow);
    assert_status(try_on(early, "r"), RF_RETRY);
    assert_says(early, "LOADING");
    rf_close(early);
    redis_server_stop(slow);
}

static void test_missing_permission_is_misuse(void **state)
{
    rf_client *poor;
    char url[256];

    (void)state;
    assert_string_equal(redis_server_command(
                            server, "ACL SETUSER poor on >pw ~{lock:v1:* +@all "
                                    "-evalsha -eval"),
                        "OK");
    snprintf(url, sizeof(url), "redis://poor:pw@127.0.0.1:%d",
             redis_server_port(server));
    poor = open_with(url, 2000);
    assert_status(try_on(poor, "r"), RF_MISUSE);
    assert_says(poor, "NOPERM");
    redis_server_command(server, "ACL SETUSER poor +@all -incr");
    assert_status(try_on(poor, "r"), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "EXISTS " LOCK, "r"), 0);
    redis_server_command(server, "ACL SETUSER poor +@all resetkeys ~x");
    assert_status(try_on(poor, "r"), RF_MISUSE);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    rf_close(poor);
}

/* ---- Login ------------------------------------------------------------------------ */

static rf_client *client_as(const char *login, int db)
{
    char url[256];

    snprintf(url, sizeof(url), "redis://%s127.0.0.1:%d/%d", login,
             redis_server_port(server), db);
    return open_with(url, 2000);
}

static void test_wrong_password_is_misuse_and_never_shown(void **state)
{
    rf_client *wrong;

    (void)state;
    redis_server_command(server, "ACL SETUSER app on >s3cret ~* +@all");
    wrong = client_as("app:hunter2@", 0);
    assert_status(try_on(wrong, "r"), RF_MISUSE);
    assert_says(wrong, "WRONGPASS");
    assert_null(strstr(rf_message(wrong), "hunter2"));
    rf_close(wrong);
    /* Without a password for the default user Redis says ERR. */
    wrong = client_as(":hunter2@", 0);
    assert_status(try_on(wrong, "r"), RF_MISUSE);
    assert_null(strstr(rf_message(wrong), "hunter2"));
    rf_close(wrong);
}

static void test_user_password_and_database_are_used(void **state)
{
    rf_client *app;

    (void)state;
    redis_server_command(server, "ACL SETUSER app on >s3cret ~* +@all");
    app = client_as("app:s3cret@", 3);
    assert_status(try_on(app, "r"), RF_OK);
    rf_close(app);
    assert_int_equal(redis_server_number(server, "DBSIZE"), 0);
    redis_server_command(server, "SELECT 3");
    assert_int_equal(redis_server_number(server, "EXISTS " COUNTER, "r"), 1);
    redis_server_command(server, "SELECT 0");
}

static void test_missing_password_is_misuse(void **state)
{
    rf_client *without;

    (void)state;
    config("requirepass", "s3cret");
    without = client_as("", 0);
    assert_status(try_on(without, "r"), RF_MISUSE);
    assert_says(without, "NOAUTH");
    rf_close(without);
    without = client_as(":s3cret@", 0);
    assert_status(try_on(without, "r"), RF_OK);
    rf_close(without);
    config("requirepass", "");
}

static void test_database_that_is_not_there_is_misuse(void **state)
{
    rf_client *wrong = client_as("", 999);

    (void)state;
    assert_status(try_on(wrong, "r"), RF_MISUSE);
    assert_says(wrong, "database");
    rf_close(wrong);
}

static void test_login_that_is_not_answered_is_retry(void **state)
{
    rf_client *app;
    char url[256];

    (void)state;
    redis_server_command(server, "ACL SETUSER app on >s3cret ~* +@all");
    snprintf(url, sizeof(url), "redis://app:s3cret@127.0.0.1:%d/0",
             proxy_port(fault));
    app = open_with(url, 200);
    proxy_set(fault, PROXY_MUTE, 0, 1);
    assert_status(try_on(app, "r"), RF_RETRY);
    proxy_set(fault, PROXY_CUT_AFTER, 0, 1);
    assert_status(try_on(app, "r"), RF_RETRY);
    proxy_set(fault, PROXY_PASS, 0, 0);
    assert_status(try_on(app, "r"), RF_OK);
    rf_close(app);
}

/* ---- Nobody there ------------------------------------------------------------------- */

static void test_nobody_listening_is_retry(void **state)
{
    rf_client *lonely;
    int64_t begin = test_now_ms();

    (void)state;
    lonely = open_with("redis+unix:///nonexistent/redis.sock", 2000);
    assert_status(try_on(lonely, "r"), RF_RETRY);
    assert_says(lonely, "/nonexistent/redis.sock");
    rf_close(lonely);
    lonely = open_with("redis://127.0.0.1:1", 2000);
    assert_status(try_on(lonely, "r"), RF_RETRY);
    rf_close(lonely);
    lonely = open_with("redis://no-such-host.invalid", 2000);
    assert_status(try_on(lonely, "r"), RF_RETRY);
    assert_says(lonely, "no-such-host.invalid");
    rf_close(lonely);
    assert_at_most_ms(begin, 30000);
}

/* A full backlog: the kernel lets a connect hang there. */
static void test_connect_that_hangs_ends_with_the_deadline(void **state)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    rf_client *stuck;
    char folder[TEMP_FOLDER_MAX], url[128];
    int64_t begin;

    (void)state;
    temp_folder(folder);
    snprintf(to.sun_path, sizeof(to.sun_path), "%s/s", folder);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(listen(fd, 1), 0);
    snprintf(url, sizeof(url), "redis+unix://%s", to.sun_path);
    /* Accepted by the kernel only: it is silent, then full. */
    for (int i = 0; i < 4; i++) {
        stuck = open_with(url, 150);
        begin = test_now_ms();
        assert_true(try_on(stuck, "r") != RF_OK);
        assert_at_most_ms(begin, 1000);
        if (i < 3)
            rf_close(stuck);
    }
    assert_status(try_on(stuck, "r"), RF_RETRY);
    rf_close(stuck);
    close(fd);
    unlink(to.sun_path);
    rmdir(folder);
}

static void test_killed_redis_is_retry_and_its_successor_is_used(void **state)
{
    (void)state;
    assert_status(try_on(client, "r"), RF_OK);
    redis_server_kill(server);
    assert_true(try_on(client, "r") != RF_OK);
    assert_status(try_on(client, "r"), RF_RETRY);
    redis_server_restart(server);
    assert_status(try_on(client, "r"), RF_OK);
}

static void test_idle_connection_that_redis_closed_is_made_again(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(rf_acquire(client, "r", NULL, &lock), RF_OK);
    redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_status(rf_renew(lock, 30000), RF_OK);
    redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_status(rf_release(lock), RF_OK);
    redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_status(try_on(client, "r"), RF_OK);
}

static void test_too_many_clients_are_retry(void **state)
{
    rf_client *one_more;

    (void)state;
    redis_server_command(server, "PING");
    config("maxclients", "1");
    one_more = client_as("", 0);
    assert_true(try_on(one_more, "r") == RF_RETRY);
    config("maxclients", "1000");
    assert_status(try_on(one_more, "r"), RF_OK);
    rf_close(one_more);
}

/* ---- No answer, late, or somebody else's -------------------------------------------- */

static void test_silent_redis_is_unknown_at_the_deadline(void **state)
{
    rf_client *hasty = open_with(redis_server_url(server), 200);
    int64_t begin;

    (void)state;
    assert_status(try_on(hasty, "r"), RF_OK);
    redis_server_freeze(server);
    begin = test_now_ms();
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_at_least_ms(begin, 190);
    assert_at_most_ms(begin, 1000);
    redis_server_thaw(server);
    rf_close(hasty);
}

static void test_shortest_timeout_ends_as_well(void **state)
{
    rf_client *hasty;
    int64_t begin = test_now_ms();

    (void)state;
    assert_status(try_on(client, "r"), RF_OK);
    redis_server_freeze(server);
    for (int ms = 1; ms <= 6; ms++) {
        hasty = open_with(redis_server_url(server), ms);
        assert_true(try_on(hasty, "r") != RF_OK);
        rf_close(hasty);
    }
    redis_server_thaw(server);
    assert_at_most_ms(begin, 3000);
}

static void test_late_reply_is_never_read_as_the_next_one(void **state)
{
    rf_client *hasty = open_with(proxy_url(fault), 200);
    rf_lock *lock;

    (void)state;
    assert_status(try_on(hasty, "a"), RF_OK);
    proxy_set_delay(fault, 0, 1, 400);
    assert_status(try_on(hasty, "a"), RF_UNKNOWN);
    assert_status(rf_acquire(hasty, "b", NULL, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 1);
    rf__sleep_until_ms(rf__now_ms() + 400);
    assert_status(rf_renew(lock, 30000), RF_OK);
    assert_status(rf_release(lock), RF_OK);
    rf_close(hasty);
}

static void on_alarm(int number)
{
    (void)number;
}

static void test_signals_do_not_stretch_the_deadline(void **state)
{
    struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
    struct itimerval off = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm };
    rf_client *hasty = open_with(redis_server_url(server), 300);
    int64_t begin;

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    assert_status(try_on(hasty, "r"), RF_OK);
    redis_server_freeze(server);
    setitimer(ITIMER_REAL, &every, NULL);
    begin = test_now_ms();
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_at_least_ms(begin, 290);
    assert_at_most_ms(begin, 1200);
    setitimer(ITIMER_REAL, &off, NULL);
    redis_server_thaw(server);
    rf_close(hasty);
}

static void test_signals_do_not_end_a_request(void **state)
{
    struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
    struct itimerval off = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm };

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    assert_status(try_on(far, "r"), RF_OK);
    setitimer(ITIMER_REAL, &every, NULL);
    proxy_set_delay(fault, 0, 6, 50);
    for (int i = 0; i < 3; i++)
        assert_status(try_on(far, "r"), RF_OK);
    setitimer(ITIMER_REAL, &off, NULL);
    assert_int_equal(proxy_connections(fault), 1);
}

static void test_connection_that_breaks_raises_no_signal(void **state)
{
    struct sigaction action = { .sa_handler = SIG_DFL };

    (void)state;
    sigaction(SIGPIPE, &action, NULL);
    for (int i = 0; i < 3; i++) {
        assert_status(try_on(client, "r"), RF_OK);
        redis_server_command(server, "CLIENT KILL TYPE normal SKIPME yes");
        assert_status(try_on(client, "r"), RF_OK);
    }
    redis_server_kill(server);
    assert_true(try_on(client, "r") != RF_OK);
    assert_true(try_on(client, "r") != RF_OK);
    redis_server_restart(server);
}

static void test_sockets_are_not_inherited_by_other_programs(void **state)
{
    int was_open[64], sockets = 0;

    (void)state;
    for (int fd = 0; fd < 64; fd++)
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
    assert_status(try_on(client, "r"), RF_OK);
    for (int fd = 0; fd < 64; fd++) {
        int flags = fcntl(fd, F_GETFD);

        if (flags < 0 || was_open[fd])
            continue;
        assert_true(flags & FD_CLOEXEC);
        sockets++;
    }
    assert_int_equal(sockets, 1);
}

static void test_broken_reply_is_unknown_and_a_new_connection_is_made(
    void **state)
{
    static const char *const bad[] = {
        "hello\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "$5\r\nhello\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*1\r\n$7\r\nacquire\r\n",
        "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n",
        "*2\r\n$7\r\nacquire\r\n*1\r\n:1\r\n",
        "$abc\r\n",
        "$-5\r\n",
        "$99999999999999999999\r\n",
        "$9223372036854775807\r\n",
        "$536870912\r\nxxxx",
        "*2147483647\r\n",
        "*1000000000\r\n:1\r\n",
        "*-2\r\n",
        ":12x\r\n",
        ":99999999999999999999\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
        "\r\n",
        "\n",
        ",1.5\r\n",
        "#t\r\n",
        "_\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "~1\r\n+a\r\n",
        ">1\r\n+a\r\n",
        "(123\r\n",
        "=5\r\ntxt:x\r\n",
    };
    rf_client *hasty = open_with(proxy_url(fault), 150);

    (void)state;
    assert_status(try_on(hasty, "r"), RF_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        proxy_say(fault, 2, bad[i], strlen(bad[i]));
        assert_status(try_on(hasty, "r"), RF_UNKNOWN);
        proxy_set(fault, PROXY_PASS, 0, 0);
        assert_status(try_on(hasty, "r"), RF_OK);
    }
    rf_close(hasty);
}

static void test_first_words_of_another_server_are_misuse(void **state)
{
    static const char *const strangers[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n", /* web */
        "220 mail.example ESMTP\r\n",       /* mail */
        "SSH-2.0-OpenSSH_9.2\r\n",          /* shell */
    };
    rf_info info;

    (void)state;
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        const char *words = strangers[i];
        rf_client *fresh = open_with(proxy_url(fault), 500);

        proxy_say(fault, 2, words, strlen(words));
        assert_status(try_on(fresh, "r"), RF_MISUSE);
        assert_says(fresh, "does not speak the Redis protocol");
        assert_status(rf_inspect(fresh, "r", &info), RF_MISUSE);
        /* Once it is a Redis, it is asked like one. */
        proxy_set(fault, PROXY_PASS, 0, 0);
        assert_status(try_on(fresh, "r"), RF_OK);
        /* What it said before makes the same words a broken reply. */
        proxy_say(fault, 1, words, strlen(words));
        assert_status(rf_inspect(fresh, "r", &info), RF_RETRY);
        rf_close(fresh);
    }
}

static void test_endless_reply_is_cut_off(void **state)
{
    rf_client *hasty = open_with(proxy_url(fault), 5000);
    size_t size = 3 << 20;
    char *flood = malloc(size);
    int64_t begin = test_now_ms();

    (void)state;
    assert_non_null(flood);
    memset(flood, 'x', size);
    memcpy(flood, "$2000000\r\n", 10);
    assert_status(try_on(hasty, "r"), RF_OK);
    proxy_say(fault, 2, flood, size);
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_says(hasty, "too large");
    memset(flood, 'x', 12);
    flood[0] = '+';
    proxy_say(fault, 2, flood, size);
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_says(hasty, "too large");
    assert_at_most_ms(begin, 4000);
    rf_close(hasty);

    /* Nor do very first words of that kind tell that it is no Redis. */
    hasty = open_with(proxy_url(fault), 5000);
    memcpy(flood, "$2000000\r\n", 10);
    proxy_say(fault, 2, flood, size);
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_says(hasty, "too large");
    free(flood);
    rf_close(hasty);
}

static void test_reply_of_an_earlier_request_is_not_taken(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    assert_status(rf_acquire(far, "r", NULL, &lock), RF_OK);
    proxy_set(fault, PROXY_STALE, 0, 1);
    /* Noticed, and sent again on another connection. */
    assert_status(rf_renew(lock, 60000), RF_OK);
    assert_int_equal(proxy_connections(fault), 2);
    assert_status(rf_release(lock), RF_OK);
}

static void test_doubled_request_issues_one_fence_and_shifts_nothing(
    void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    proxy_set(fault, PROXY_DUPLICATE, 0, 1);
    assert_status(rf_acquire(far, "r", NULL, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_string_equal(redis_server_command(server, "GET " COUNTER, "r"), "2");
    /* The second copy of the reply still waits to be misread. */
    assert_status(rf_renew(lock, 60000), RF_OK);
    assert_in_range(redis_server_number(server, "PTTL " LOCK, "r"), 50000,
                    60000);
    assert_status(rf_release(lock), RF_OK);
}

typedef struct attempt {
    const char *resource;
    rf_status status;
    rf_fence fence;
    char holder[RF_HOLDER_LEN + 1];
} attempt;

static void *attempt_one(void *arg)
{
    attempt *a = arg;
    rf_client *own = open_with(proxy_url(fault), 2000);
    rf_lock *lock;

    a->status = rf_acquire(own, a->resource, NULL, &lock);
    if (a->status == RF_OK) {
        a->fence = rf_lock_fence(lock);
        memcpy(a->holder, rf_lock_holder(lock), sizeof(a->holder));
    }
    rf_release(lock);
    rf_close(own);
    return NULL;
}

static void test_swapped_replies_never_hand_out_another_ones_fence(void **state)
{
    attempt a = { .resource = "a" }, b = { .resource = "b" };
    pthread_t first, second;

    (void)state;
    redis_server_command(server, "SET " COUNTER " 10", "a");
    redis_server_command(server, "SET " COUNTER " 20", "b");
    assert_status(try_on(far, "x"), RF_OK);
    proxy_set(fault, PROXY_SWAP, 0, 2);
    pthread_create(&first, NULL, attempt_one, &a);
    pthread_create(&second, NULL, attempt_one, &b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    /* Each noticed, asked again with its own holder, and got its own. */
    assert_status(a.status, RF_OK);
    assert_status(b.status, RF_OK);
    assert_int_equal(a.fence, 11);
    assert_int_equal(b.fence, 21);
}

static void test_dribbled_reply_is_put_together(void **state)
{
    rf_lock *lock;

    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    proxy_set(fault, PROXY_DRIBBLE, 0, 2);
    assert_status(rf_acquire(far, "r", NULL, &lock), RF_OK);
    assert_int_equal(rf_lock_fence(lock), 2);
    assert_status(rf_release(lock), RF_OK);
    assert_int_equal(proxy_connections(fault), 1);
}

static void test_half_a_reply_is_unknown(void **state)
{
    (void)state;
    assert_status(try_on(far, "r"), RF_OK);
    proxy_set(fault, PROXY_CUT_INSIDE, 0, 2);
    assert_status(try_on(far, "r"), RF_UNKNOWN);
    proxy_set(fault, PROXY_HALF_CLOSE, 0, 2);
    assert_status(try_on(far, "r2"), RF_UNKNOWN);
}

static void test_request_that_vanishes_is_unknown(void **state)
{
    rf_client *hasty = open_with(proxy_url(fault), 200);

    (void)state;
    assert_status(try_on(hasty, "r"), RF_OK);
    proxy_set(fault, PROXY_SWALLOW, 0, 1);
    assert_status(try_on(hasty, "r"), RF_UNKNOWN);
    assert_status(try_on(hasty, "r"), RF_OK);
    rf_close(hasty);
}

static void test_every_fault_at_every_request_leaves_one_holder_at_most(
    void **state)
{
    static const proxy_fault faults[] = { PROXY_CUT_BEFORE, PROXY_CUT_AFTER,
                                          PROXY_CUT_INSIDE, PROXY_DUPLICATE,
                                          PROXY_STALE,      PROXY_HALF_CLOSE };
    rf_fence last = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        for (int skip = 0; skip < 4; skip++) {
            rf_lock *lock;

            redis_server_command(server, "DEL " LOCK, "r");
            proxy_set(fault, faults[i], skip, 1);
            if (rf_acquire(far, "r", NULL, &lock) == RF_OK) {
                assert_true(rf_lock_fence(lock) > last);
                last = rf_lock_fence(lock);
                assert_status(try_on(client, "r"), RF_BUSY);
                rf_renew(lock, 30000);
                rf_release(lock);
            }
            proxy_set(fault, PROXY_PASS, 0, 0);
        }
    }
    assert_true(last >= 20);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)
    const struct CMUnitTest tests[] = {
        CASE(test_forgotten_script_is_sent_again_on_the_same_connection),
        CASE(test_script_is_sent_by_digest_once_it_is_known),
        CASE(test_replica_is_retry_and_writes_nothing),
        CASE(test_stale_replica_that_hides_its_data_is_retry),
        CASE(test_too_few_replicas_are_refused_by_policy),
        CASE(test_redis_that_cannot_save_is_retry),
        CASE(test_full_memory_is_retry_and_a_held_lock_lives_on),
        CASE(test_full_memory_does_not_keep_a_release_from_waking),
        CASE(test_busy_redis_is_retry),
        CASE(test_loading_redis_is_retry),
        CASE(test_missing_permission_is_misuse),
        CASE(test_wrong_password_is_misuse_and_never_shown),
        CASE(test_user_password_and_database_are_used),
        CASE(test_missing_password_is_misuse),
        CASE(test_database_that_is_not_there_is_misuse),
        CASE(test_login_that_is_not_answered_is_retry),
        CASE(test_nobody_listening_is_retry),
        CASE(test_connect_that_hangs_ends_with_the_deadline),
        CASE(test_killed_redis_is_retry_and_its_successor_is_used),
        CASE(test_idle_connection_that_redis_closed_is_made_again),
        CASE(test_too_many_clients_are_retry),
        CASE(test_silent_redis_is_unknown_at_the_deadline),
        CASE(test_shortest_timeout_ends_as_well),
        CASE(test_late_reply_is_never_read_as_the_next_one),
        CASE(test_signals_do_not_stretch_the_deadline),
        CASE(test_signals_do_not_end_a_request),
        CASE(test_connection_that_breaks_raises_no_signal),
        CASE(test_sockets_are_not_inherited_by_other_programs),
        CASE(test_broken_reply_is_unknown_and_a_new_connection_is_made),
        CASE(test_first_words_of_another_server_are_misuse),
        CASE(test_endless_reply_is_cut_off),
        CASE(test_reply_of_an_earlier_request_is_not_taken),
        CASE(test_doubled_request_issues_one_fence_and_shifts_nothing),
        CASE(test_swapped_replies_never_hand_out_another_ones_fence),
        CASE(test_dribbled_reply_is_put_together),
        CASE(test_half_a_reply_is_unknown),
        CASE(test_request_that_vanishes_is_unknown),
        CASE(test_every_fault_at_every_request_leaves_one_holder_at_most),
    };

    return run_group(tests, start, stop);
}
