/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * test_acl.c - the permissions in docs/connections.md: enough, and none too many
 *
 * The rules are read from the page.  What a user does with them must work, and
 * must not work any more when a single word is left out.
 */
#include "rf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_topology.h"

#define WORDS_MAX 32

static redis_server *server, *replica;

/* What is between backticks in the row of the page that begins with this. */
static void read_rule(const char *row, char *out, size_t size)
{
    const char *root = getenv("RF_ROOT");
    char path[512], line[1024];
    FILE *page;
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/docs/connections.md",
             root != NULL ? root : ".");
    page = fopen(path, "r");
    assert_non_null(page);
    out[0] = '\0';
    while (out[0] == '\0' && fgets(line, sizeof(line), page) != NULL) {
        const char *at = strrchr(line, '+');

        if (strncmp(line, "| ", 2) != 0 ||
            strncmp(line + 2, row, strlen(row)) != 0 || at == NULL)
            continue;
        for (at = strstr(line, "`+") + 1; *at != '`' && n + 1 < size; at++) {
            /* In a table a bar is written with a backslash. */
            if (*at != '\\')
                out[n++] = *at;
        }
        out[n] = '\0';
    }
    fclose(page);
    if (out[0] == '\0')
        fail_msg("no row begins with \"%s\"", row);
}

static size_t split(char *rule, char *words[WORDS_MAX])
{
    size_t n = 0;

    char *rest = NULL;

    for (char *at = strtok_r(rule, " ", &rest); at != NULL && n < WORDS_MAX;
         at = strtok_r(NULL, " ", &rest))
        words[n++] = at;
    return n;
}

/* The user "least" of a server may do this, but not the one left out. */
static void allow(redis_server *on, const char *keys, char *const *words,
                  size_t n, size_t without)
{
    assert_string_equal(redis_server_command(on,
                                             "ACL SETUSER least reset on >pw "
                                             "%s",
                                             keys),
                        "OK");
    for (size_t i = 0; i < n; i++) {
        if (i != without &&
            strcmp(redis_server_command(on, "ACL SETUSER least %s", words[i]),
                   "OK") != 0)
            fail_msg("%s", words[i]);
    }
}

/* A part: what is done with the words of a row, and which of them it must have. */
typedef struct role {
    const char *base; /* another row, whose words it needs too; or NULL */
    const char *row;
    const char *keys;
    redis_server *const *servers;
    size_t n;
    int (*works)(void); /* 1: all that is promised does */
} role;

static void check(const role *r)
{
    char base[512] = "", own[512];
    char *words[2 * WORDS_MAX];
    size_t before = 0, n;

    if (r->base != NULL) {
        read_rule(r->base, base, sizeof(base));
        before = split(base, words);
    }
    read_rule(r->row, own, sizeof(own));
    n = before + split(own, words + before);
    for (size_t i = 0; i < r->n; i++)
        allow(r->servers[i], r->keys, words, n, n);
    if (!r->works())
        fail_msg("not enough: %s", r->row);
    for (size_t without = before; without < n; without++) {
        for (size_t i = 0; i < r->n; i++)
            allow(r->servers[i], r->keys, words, n, without);
        if (r->works())
            fail_msg("not needed: %s", words[without]);
    }
}

static const char locks_row[] = "take locks";
static const char keys[] = "~{lock:v1:*";

/* ---- One Redis ---------------------------------------------------------------------- */

static rf_client *open_least(int port, int min_replicas)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    char url[128];

    opts.min_replicas = min_replicas;
    snprintf(url, sizeof(url), "redis://least:pw@127.0.0.1:%d", port);
    assert_status(rf_open(url, &opts, &client), RF_OK);
    return client;
}

static void start_afresh(void)
{
    redis_server_command(server, "FLUSHALL");
    redis_server_command(server, "SCRIPT FLUSH");
    redis_server_command(server, "CONFIG RESETSTAT");
}

/* Who may not sleep in Redis still gets the lock, but by asking again. */
static int somebody_slept(void)
{
    const char *stats = redis_server_command(server, "INFO commandstats");

    return strstr(stats, "cmdstat_blpop:calls=") != NULL &&
           strstr(stats, "cmdstat_blpop:calls=0") == NULL;
}

static void somebody_waits(void)
{
    redis_server_command(server, "SET {lock:v1:r}:waiters 1 PX 60000");
}

/* Everything a holder does, and everything that a second one meets. */
static int holding_works(rf_client *one)
{
    static const char *const names[] = { "a", "b" };
    rf_acquire_options wait = RF_ACQUIRE_INIT;
    rf_lock *lock = NULL, *other, *both[2] = { NULL };
    rf_info info;
    int fine;

    wait.wait_ms = 30;
    fine = rf_acquire(one, "r", NULL, &lock) == RF_OK &&
           rf_renew(lock, 60000) == RF_OK && rf_reissue(lock, 10) == RF_OK &&
           rf_inspect(one, "r", &info) == RF_OK && info.fence == 11 &&
           rf_acquire(one, "r", &wait, &other) == RF_TIMEOUT;
    /* For all that Redis knows somebody still waits, who is woken. */
    somebody_waits();
    fine = rf_release(lock) == RF_OK && fine;
    fine = fine && rf_acquire(one, "r", NULL, &lock) == RF_OK;
    if (fine)
        fine = rf_release(lock) == RF_OK;
    fine = fine && rf_acquire_all(one, names, 2, NULL, both) == RF_OK;
    if (fine)
        fine = rf_release(both[0]) == RF_OK && rf_release(both[1]) == RF_OK;
    return fine;
}

static int locks_work(void)
{
    rf_client *client = open_least(redis_server_port(server), 0);
    int fine;

    start_afresh();
    fine = holding_works(client) && somebody_slept();
    rf_close(client);
    return fine;
}

static int sharing_works(void)
{
    rf_client *client = open_least(redis_server_port(server), 0);
    rf_acquire_options shared = RF_ACQUIRE_INIT;
    rf_lock *first = NULL, *second = NULL;
    rf_info info;
    int fine;

    start_afresh();
    shared.shared = 1;
    fine = rf_acquire(client, "r", &shared, &first) == RF_OK &&
           rf_acquire(client, "r", &shared, &second) == RF_OK &&
           rf_renew(first, 60000) == RF_OK &&
           rf_inspect(client, "r", &info) == RF_OK && info.readers == 2;
    fine = rf_release(first) == RF_OK && fine;
    fine = rf_release(second) == RF_OK && fine;
    rf_close(client);
    return fine;
}

static int replicas_work(void)
{
    rf_client *client = open_least(redis_server_port(server), 1);
    rf_lock *lock;
    int fine;

    start_afresh();
    fine = rf_acquire(client, "r", NULL, &lock) == RF_OK;
    rf_release(lock);
    rf_close(client);
    return fine;
}

static int count_one(const char *resource, const rf_info *info, void *arg)
{
    (void)resource;
    *(int *)arg += info->held;
    return 0;
}

static int listing_works(void)
{
    rf_client *client = open_least(redis_server_port(server), 0);
    rf_lock *lock;
    int fine, seen = 0;

    start_afresh();
    fine = rf_acquire(client, "r", NULL, &lock) == RF_OK &&
           rf_list(client, count_one, &seen) == RF_OK && seen == 1;
    rf_release(lock);
    rf_close(client);
    return fine;
}

/* Somebody else's lock, with a waiter; the administrator has no other rights. */
static int taking_away_works(void)
{
    rf_client *admin = open_least(redis_server_port(server), 0), *owner;
    rf_lock *lock;
    int fine;

    start_afresh();
    assert_status(rf_open(redis_server_url(server), NULL, &owner), RF_OK);
    assert_status(rf_acquire(owner, "r", NULL, &lock), RF_OK);
    somebody_waits();
    /* The holder's scripts are not the administrator's. */
    redis_server_command(server, "SCRIPT FLUSH");
    fine = rf_force_release(admin, "r", 1, "tried") == RF_OK;
    rf_release(lock);
    rf_close(owner);
    rf_close(admin);
    return fine;
}

static void test_locks_need_no_more_and_no_less(void **state)
{
    role r = { NULL, locks_row, keys, &server, 1, locks_work };

    (void)state;
    check(&r);
}

static void test_shared_locks_need_no_more_and_no_less(void **state)
{
    role r = { locks_row, "share locks", keys, &server, 1, sharing_works };

    (void)state;
    check(&r);
}

static void test_replicas_need_no_more_and_no_less(void **state)
{
    role r = { locks_row, "have replicas", keys, &server, 1, replicas_work };

    (void)state;
    check(&r);
}

static void test_listing_needs_no_more_and_no_less(void **state)
{
    role r = { locks_row, "list what", keys, &server, 1, listing_works };

    (void)state;
    check(&r);
}

static void test_administrator_needs_no_more_and_no_less(void **state)
{
    role r = { NULL, "an administrator", keys, &server, 1, taking_away_works };

    (void)state;
    check(&r);
}

/* What the rule keeps a user from: other keys, and taking stock of them. */
static void test_user_reaches_nothing_but_locks(void **state)
{
    static const char *const tries[] = { "GET secret", "SET secret x",
                                         "KEYS *",     "FLUSHALL",
                                         "SCAN 0",     "CONFIG GET *" };
    char rule[512], line[1024];

    (void)state;
    read_rule(locks_row, rule, sizeof(rule));
    snprintf(line, sizeof(line), "ACL SETUSER least reset on >pw %s %s", keys,
             rule);
    assert_string_equal(redis_server_command(server, line), "OK");
    redis_server_command(server, "AUTH least pw");
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        const char *said = redis_server_command(server, tries[i]);

        if (strncmp(said, "NOPERM", 6) != 0)
            fail_msg("%s: %s", tries[i], said);
    }
    redis_server_command(server, "AUTH default %s", "any");
}

/* ---- Several -------------------------------------------------------------------------- */

static redis_server *sentinel;

static int found_through_sentinel(void)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;
    char url[256];
    int fine;

    opts.timeout_ms = 1000;
    snprintf(url, sizeof(url),
             "redis+sentinel://least:pw@127.0.0.1:%d/main?sentinel=least:pw",
             redis_server_port(sentinel));
    assert_status(rf_open(url, &opts, &client), RF_OK);
    fine = rf_acquire(client, "r", NULL, &lock) == RF_OK;
    if (fine)
        fine = rf_release(lock) == RF_OK;
    rf_close(client);
    return fine;
}

static void test_sentinels_need_no_more_and_no_less(void **state)
{
    static const char *const options[] = { "--sentinel", NULL };
    role master = { locks_row, "find the master",     keys, &server,
                    1,         found_through_sentinel };
    role watch = { NULL, "a client at the sentinels", "resetkeys", &sentinel,
                   1,    found_through_sentinel };
    char config[128], rule[512];
    char *words[WORDS_MAX];
    size_t n;

    (void)state;
    snprintf(config, sizeof(config), "sentinel monitor main 127.0.0.1 %d 1\n",
             redis_server_port(server));
    sentinel = redis_server_start_with(config, options);
    read_rule(watch.row, rule, sizeof(rule));
    n = split(rule, words);
    allow(sentinel, watch.keys, words, n, n);
    check(&master);
    read_rule(locks_row, rule, sizeof(rule));
    n = split(rule, words);
    words[n++] = "+role";
    allow(server, keys, words, n, n);
    check(&watch);
    redis_server_stop(sentinel);
}

static redis_server *node[2];
static char node_id[2][48];
static int tries_on_cluster;

/* The slot of a lock begins to move, and its keys are moved. */
static void move_keys(const char *name)
{
    int slot = (int)redis_server_number(node[0], "CLUSTER KEYSLOT {lock:v1:%s}",
                                        name);

    redis_server_command(node[1], "CLUSTER SETSLOT %d IMPORTING %s", slot,
                         node_id[0]);
    redis_server_command(node[0], "CLUSTER SETSLOT %d MIGRATING %s", slot,
                         node_id[1]);
    assert_string_equal(
        redis_server_command(node[0],
                             "MIGRATE 127.0.0.1 %d %s 0 5000 KEYS "
                             "{lock:v1:%s} {lock:v1:%s}:fence",
                             redis_server_port(node[1]), "", name, name),
        "OK");
}

/* A lock is taken, and renewed where it has gone. */
static int found_in_cluster(void)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;
    char url[128], name[16];
    int fine;

    opts.timeout_ms = 500;
    snprintf(url, sizeof(url), "redis+cluster://least:pw@127.0.0.1:%d",
             redis_server_port(node[0]));
    snprintf(name, sizeof(name), "r%d", tries_on_cluster++);
    assert_status(rf_open(url, &opts, &client), RF_OK);
    fine = rf_acquire(client, name, NULL, &lock) == RF_OK;
    if (fine) {
        move_keys(name);
        fine = rf_renew(lock, 60000) == RF_OK;
    }
    rf_release(lock);
    rf_close(client);
    return fine;
}

static int knows(redis_server *one, const char *id)
{
    return strstr(redis_server_command(one, "CLUSTER NODES"), id) != NULL;
}

static void start_cluster(void)
{
    static const char *const options[] = { "--cluster-enabled", "yes",
                                           "--cluster-require-full-coverage",
                                           "no", NULL };
    for (int i = 0; i < 2; i++) {
        node[i] = redis_server_start(options);
        snprintf(node_id[i], sizeof(node_id[i]), "%s",
                 redis_server_command(node[i], "CLUSTER MYID"));
    }
    redis_server_command(node[0], "CLUSTER ADDSLOTSRANGE 0 16383");
    redis_server_command(node[0], "CLUSTER MEET 127.0.0.1 %d",
                         redis_server_port(node[1]));
    for (int i = 0; i < 2; i++) {
        wait_until(knows(node[i], node_id[1 - i]));
        wait_until(strstr(redis_server_command(node[i], "CLUSTER INFO"),
                          "cluster_state:ok") != NULL);
        wait_until(strstr(redis_server_command(node[i], "CLUSTER NODES"),
                          "0-16383") != NULL);
    }
}

static void test_cluster_needs_no_more_and_no_less(void **state)
{
    role r = { locks_row, "find the nodes", keys, node, 2, found_in_cluster };

    (void)state;
    start_cluster();
    check(&r);
    for (int i = 0; i < 2; i++)
        redis_server_stop(node[i]);
}

/* ---- Logins in every kind of URL --------------------------------------------------------- */

/* 0: the right one, 1: the wrong one. */
static void login_is_told(const char *format, int wrong, int port)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client;
    rf_lock *lock;
    char url[512];

    opts.timeout_ms = 2000;
    snprintf(url, sizeof(url), format, wrong ? "hunter2" : "s3cret", port);
    assert_status(rf_open(url, &opts, &client), RF_OK);
    if (!wrong) {
        if (rf_acquire(client, "r", NULL, &lock) != RF_OK)
            fail_msg("%s: %s", url, rf_message(client));
        assert_status(rf_release(lock), RF_OK);
    } else {
        assert_status(rf_acquire(client, "r", NULL, &lock), RF_MISUSE);
        if (strstr(rf_message(client), "WRONGPASS") == NULL)
            fail_msg("%s: %s", format, rf_message(client));
        assert_null(strstr(rf_message(client), "hunter2"));
    }
    rf_close(client);
}

static void test_wrong_password_is_told_in_every_kind_of_service(void **state)
{
    static const char *const clustered[] = { "--cluster-enabled", "yes", NULL };
    static const char *const watching[] = { "--sentinel", NULL };
    redis_server *three[3], *one, *watch;
    char config[128], quorum[256];

    (void)state;
    for (int i = 0; i < 3; i++) {
        three[i] = redis_server_start(NULL);
        redis_server_command(three[i], "ACL SETUSER app on >s3cret ~* +@all");
    }
    one = redis_server_start(clustered);
    redis_server_command(one, "CLUSTER ADDSLOTSRANGE 0 16383");
    redis_server_command(one, "ACL SETUSER app on >s3cret ~* +@all");
    snprintf(config, sizeof(config), "sentinel monitor main 127.0.0.1 %d 1\n",
             redis_server_port(three[0]));
    watch = redis_server_start_with(config, watching);
    redis_server_command(watch, "ACL SETUSER watch on >s3cret +@all");
    wait_until(strstr(redis_server_command(one, "CLUSTER INFO"),
                      "cluster_state:ok") != NULL);
    snprintf(quorum, sizeof(quorum),
             "redlock://app:%%s@127.0.0.1:%%d,127.0.0.1:%d,127.0.0.1:%d",
             redis_server_port(three[1]), redis_server_port(three[2]));
    for (int wrong = 0; wrong < 2; wrong++) {
        login_is_told("redis://app:%s@127.0.0.1:%d", wrong,
                      redis_server_port(three[0]));
        login_is_told(quorum, wrong, redis_server_port(three[0]));
        login_is_told("redis+cluster://app:%s@127.0.0.1:%d", wrong,
                      redis_server_port(one));
        login_is_told("redis+sentinel://app:%s@127.0.0.1:%d/main"
                      "?sentinel=watch:s3cret",
                      wrong, redis_server_port(watch));
    }
    for (int i = 0; i < 3; i++)
        redis_server_stop(three[i]);
    redis_server_stop(one);
    redis_server_stop(watch);
}

static int start(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    replica = redis_server_start(NULL);
    redis_server_command(replica, "REPLICAOF 127.0.0.1 %d",
                         redis_server_port(server));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(replica);
    redis_server_stop(server);
    return 0;
}

static int has_replica(void **state)
{
    (void)state;
    wait_until(redis_replicas_ready(server, 1));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locks_need_no_more_and_no_less),
        cmocka_unit_test(test_shared_locks_need_no_more_and_no_less),
        cmocka_unit_test(test_listing_needs_no_more_and_no_less),
        cmocka_unit_test(test_administrator_needs_no_more_and_no_less),
        cmocka_unit_test(test_user_reaches_nothing_but_locks),
        cmocka_unit_test(test_sentinels_need_no_more_and_no_less),
        cmocka_unit_test(test_cluster_needs_no_more_and_no_less),
        cmocka_unit_test(test_wrong_password_is_told_in_every_kind_of_service),
        cmocka_unit_test_setup(test_replicas_need_no_more_and_no_less,
                               has_replica),
    };

    return run_group(tests, start, stop);
}
