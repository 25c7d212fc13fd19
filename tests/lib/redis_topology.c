/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_topology.c - several real Redis servers that belong together
 */
#include "redis_topology.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MS 30000

void redis_topology_nap(int waited_ms, const char *what)
{
    if (waited_ms > LIMIT_MS) {
        fprintf(stderr, "redis_topology: never came true: %s\n", what);
        exit(99);
    }
    poll(NULL, 0, 5);
}

/* How often a word stands in a text. */
static int count(const char *text, const char *word)
{
    int n = 0;

    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        n++;
    }
    return n;
}

int redis_replicas_ready(redis_server *master, int replicas)
{
    return count(redis_server_command(master, "INFO replication"),
                 "state=online") == replicas;
}

/* Its options and those of the caller, NULL at the end. */
static void join(const char *all[32], const char *const *own,
                 const char *const *more)
{
    size_t n = 0;

    while (*own != NULL)
        all[n++] = *own++;
    while (more != NULL && *more != NULL && n < 31)
        all[n++] = *more++;
    all[n] = NULL;
}

/* ---- Sentinels ------------------------------------------------------------ */

static void start_data(redis_sentinels *s, const char *const *more)
{
    static const char *const own[] = { "--requirepass",
                                       "data",
                                       "--masterauth",
                                       "data",
                                       "--repl-diskless-sync",
                                       "yes",
                                       "--repl-diskless-sync-delay",
                                       "0",
                                       NULL };
    const char *options[32];

    join(options, own, more);
    for (int i = 0; i < 3; i++) {
        s->data[i] = redis_server_start(options);
        redis_server_login(s->data[i], "data");
        if (i > 0)
            redis_server_command(s->data[i], "REPLICAOF 127.0.0.1 %d",
                                 redis_server_port(s->data[0]));
    }
    wait_until(redis_replicas_ready(s->data[0], 2));
}

static void start_watch(redis_sentinels *s, const char *const *more)
{
    static const char *const own[] = { "--sentinel", NULL };
    const char *options[32];
    char config[512];

    join(options, own, more);
    snprintf(config, sizeof(config),
             "sentinel monitor main 127.0.0.1 %d 2\n"
             "sentinel auth-pass main data\n"
             "sentinel down-after-milliseconds main 1000\n"
             "sentinel failover-timeout main 4000\n"
             "sentinel parallel-syncs main 2\n"
             "requirepass watch\n"
             "sentinel sentinel-pass watch\n",
             redis_server_port(s->data[0]));
    for (int i = 0; i < 3; i++) {
        s->sentinel[i] = redis_server_start_with(config, options);
        redis_server_login(s->sentinel[i], "watch");
    }
}

/* Each knows both replicas and both of the others. */
static int sentinel_ready(redis_server *sentinel)
{
    const char *text = redis_server_command(sentinel, "SENTINEL MASTER main");

    return strstr(text, "num-slaves 2") != NULL &&
           strstr(text, "num-other-sentinels 2") != NULL;
}

redis_sentinels *redis_sentinels_start(void)
{
    return redis_sentinels_start_with(NULL);
}

redis_sentinels *redis_sentinels_start_with(const char *const *more)
{
    redis_sentinels *s = calloc(1, sizeof(*s));

    if (s == NULL)
        exit(99);
    /* A server that changes its role drops the connections that we ask it on. */
    signal(SIGPIPE, SIG_IGN);
    start_data(s, more);
    start_watch(s, more);
    for (int i = 0; i < 3; i++)
        wait_until(sentinel_ready(s->sentinel[i]));
    snprintf(s->url, sizeof(s->url),
             "redis+sentinel://:data@127.0.0.1:%d,127.0.0.1:%d,"
             "127.0.0.1:%d/main?sentinel=:watch",
             redis_server_port(s->sentinel[0]),
             redis_server_port(s->sentinel[1]),
             redis_server_port(s->sentinel[2]));
    return s;
}

void redis_sentinels_stop(redis_sentinels *s)
{
    for (int i = 0; i < 3; i++)
        redis_server_stop(s->sentinel[i]);
    for (int i = 0; i < 3; i++)
        redis_server_stop(s->data[i]);
    free(s);
}

int redis_sentinels_master(redis_sentinels *s)
{
    int votes[3] = { 0 };

    for (int i = 0; i < 3; i++) {
        const char *text = redis_server_command(
            s->sentinel[i], "SENTINEL GET-MASTER-ADDR-BY-NAME main");
        const char *port = strchr(text, ' ');

        for (int j = 0; j < 3 && port != NULL; j++)
            votes[j] += strtol(port + 1, NULL, 10) ==
                        redis_server_port(s->data[j]);
    }
    for (int j = 0; j < 3; j++) {
        if (votes[j] >= 2)
            return j;
    }
    return -1;
}

/* ---- Cluster -------------------------------------------------------------- */

#define SLOTS 16384

int redis_cluster_owner(int slot)
{
    return slot * 3 / SLOTS;
}

static void start_nodes(redis_cluster *c, const char *const *more)
{
    static const char *const own[] = { "--cluster-enabled",
                                       "yes",
                                       "--cluster-node-timeout",
                                       "1500",
                                       "--repl-diskless-sync-delay",
                                       "0",
                                       NULL };
    const char *options[32];

    join(options, own, more);
    for (int i = 0; i < 6; i++) {
        c->node[i] = redis_server_start(options);
        redis_server_command(c->node[i], "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        snprintf(c->id[i], sizeof(c->id[i]), "%s",
                 redis_server_command(c->node[i], "CLUSTER MYID"));
    }
}

static int cluster_ready(redis_server *node)
{
    const char *text = redis_server_command(node, "CLUSTER INFO");

    return strstr(text, "cluster_state:ok") != NULL &&
           strstr(text, "cluster_known_nodes:6") != NULL;
}

static void give_slots(redis_cluster *c)
{
    int from = 0;

    for (int slot = 0; slot < SLOTS; slot++) {
        int owner = redis_cluster_owner(slot);

        if (slot + 1 < SLOTS && redis_cluster_owner(slot + 1) == owner)
            continue;
        redis_server_command(c->node[owner], "CLUSTER ADDSLOTSRANGE %d %d",
                             from, slot);
        from = slot + 1;
    }
}

redis_cluster *redis_cluster_start(void)
{
    return redis_cluster_start_with(NULL);
}

redis_cluster *redis_cluster_start_with(const char *const *more)
{
    redis_cluster *c = calloc(1, sizeof(*c));

    if (c == NULL)
        exit(99);
    signal(SIGPIPE, SIG_IGN);
    start_nodes(c, more);
    give_slots(c);
    for (int i = 1; i < 6; i++)
        redis_server_command(c->node[0], "CLUSTER MEET 127.0.0.1 %d",
                             redis_server_port(c->node[i]));
    for (int i = 0; i < 6; i++)
        wait_until(cluster_ready(c->node[i]));
    for (int i = 3; i < 6; i++)
        wait_until(strcmp(redis_server_command(
                              c->node[i], "CLUSTER REPLICATE %s", c->id[i - 3]),
                          "OK") == 0);
    for (int i = 0; i < 3; i++)
        wait_until(redis_replicas_ready(c->node[i], 1));
    snprintf(c->url, sizeof(c->url),
             "redis+cluster://127.0.0.1:%d,127.0.0.1:%d",
             redis_server_port(c->node[0]), redis_server_port(c->node[1]));
    return c;
}

void redis_cluster_stop(redis_cluster *c)
{
    for (int i = 0; i < 6; i++)
        redis_server_stop(c->node[i]);
    free(c);
}
