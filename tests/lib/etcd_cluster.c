/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_cluster.c - a throwaway etcd of one or three members
 */
#include "etcd_cluster.h"
#include "free_port.h"
#include "temp_folder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMBERS_MAX 3
#define LIMIT_MS    60000
#define STEP_MS     20

typedef struct member {
    pid_t pid;
    int client_port;
    int peer_port;
    int kept; /* its client port, while it is down; -1: it is not */
} member;

struct etcd_cluster {
    int n;
    member member[MEMBERS_MAX];
    char folder[TEMP_FOLDER_MAX];
    char url[128];
    char peers[256];   /* m0=http://...,m1=... */
    char text[262144]; /* its metrics are 150 kB */
};

static void die(const char *what)
{
    fprintf(stderr, "etcd_cluster: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* ---- A member ----------------------------------------------------------------- */

static void run_member(const etcd_cluster *c, int i)
{
    char name[8], data[96], log[96], client[48], peer[48];
    const char *argv[] = { "etcd",   "--name",
                           name,     "--data-dir",
                           data,     "--listen-client-urls",
                           client,   "--advertise-client-urls",
                           client,   "--listen-peer-urls",
                           peer,     "--initial-advertise-peer-urls",
                           peer,     "--initial-cluster",
                           c->peers, "--log-level",
                           "error",  NULL };
    int fd;

    snprintf(name, sizeof(name), "m%d", i);
    snprintf(data, sizeof(data), "%s/m%d", c->folder, i);
    snprintf(log, sizeof(log), "%s/m%d.log", c->folder, i);
    snprintf(client, sizeof(client), "http://127.0.0.1:%d",
             c->member[i].client_port);
    snprintf(peer, sizeof(peer), "http://127.0.0.1:%d", c->member[i].peer_port);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[0], (char *const *)argv);
    die("cannot run etcd");
}

static void give_port(member *m)
{
    if (m->kept >= 0)
        close(m->kept);
    m->kept = -1;
}

static void launch(etcd_cluster *c, int i)
{
    pid_t pid;

    give_port(&c->member[i]);
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        run_member(c, i);
    c->member[i].pid = pid;
}

/* 1 when it has ended by itself: a port was taken. */
static int has_ended(etcd_cluster *c, int i)
{
    if (c->member[i].pid == 0 ||
        waitpid(c->member[i].pid, NULL, WNOHANG) != c->member[i].pid)
        return 0;
    c->member[i].pid = 0;
    return 1;
}

void etcd_cluster_kill(etcd_cluster *c, int i)
{
    if (c->member[i].pid == 0)
        return;
    kill(c->member[i].pid, SIGKILL);
    while (waitpid(c->member[i].pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    c->member[i].pid = 0;
    c->member[i].kept = keep_port(c->member[i].client_port);
}

void etcd_cluster_freeze(etcd_cluster *c, int i)
{
    kill(c->member[i].pid, SIGSTOP);
}

void etcd_cluster_thaw(etcd_cluster *c, int i)
{
    kill(c->member[i].pid, SIGCONT);
}

/* ---- Asking it ------------------------------------------------------------------ */

static int connect_to(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval limit = { .tv_sec = 10 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* HTTP 1.0: the answer ends with the connection. */
static void exchange(etcd_cluster *c, int fd, const char *request)
{
    size_t used = 0;
    ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);

    while (n > 0 && used + 1 < sizeof(c->text)) {
        n = recv(fd, c->text + used, sizeof(c->text) - 1 - used, 0);
        used += n > 0 ? (size_t)n : 0;
    }
    c->text[used] = '\0';
}

const char *etcd_cluster_post(etcd_cluster *c, int i, const char *path,
                              const char *body)
{
    int fd = connect_to(c->member[i].client_port);
    char request[8192];
    const char *content;

    if (fd < 0)
        return "";
    snprintf(request, sizeof(request),
             "POST %s HTTP/1.0\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             path, strlen(body), body);
    exchange(c, fd, request);
    close(fd);
    content = strstr(c->text, "\r\n\r\n");
    return content != NULL ? content + 4 : "";
}

/* The text value behind "key":" in a flat look; "" when there is none. */
static void value_of(const char *json, const char *key, char out[32])
{
    char label[32];
    const char *at;

    out[0] = '\0';
    snprintf(label, sizeof(label), "\"%s\":\"", key);
    at = strstr(json, label);
    if (at != NULL)
        snprintf(out, 32, "%.*s", (int)strcspn(at + strlen(label), "\""),
                 at + strlen(label));
}

/* A member that knows a leader tells both numbers. */
static int leads(etcd_cluster *c, int i)
{
    char self[32], leader[32];
    const char *said;

    if (c->member[i].pid == 0)
        return 0;
    said = etcd_cluster_post(c, i, "/v3/maintenance/status", "{}");
    value_of(said, "member_id", self);
    value_of(said, "leader", leader);
    return leader[0] != '\0' && strcmp(self, leader) == 0;
}

int etcd_cluster_leader(etcd_cluster *c)
{
    for (int waited = 0; waited < LIMIT_MS; waited += STEP_MS) {
        for (int i = 0; i < c->n; i++) {
            if (leads(c, i))
                return i;
        }
        poll(NULL, 0, STEP_MS);
    }
    die("etcd has no leader");
    return -1;
}

/* ---- All of them ------------------------------------------------------------------ */

static void choose_ports(etcd_cluster *c)
{
    int peers = 0, url = snprintf(c->url, sizeof(c->url), "etcd://");

    for (int i = 0; i < c->n; i++) {
        c->member[i].client_port = free_port();
        c->member[i].peer_port = free_port();
        peers += snprintf(c->peers + peers, sizeof(c->peers) - (size_t)peers,
                          "%sm%d=http://127.0.0.1:%d", i > 0 ? "," : "", i,
                          c->member[i].peer_port);
        url += snprintf(c->url + url, sizeof(c->url) - (size_t)url,
                        "%s127.0.0.1:%d", i > 0 ? "," : "",
                        c->member[i].client_port);
    }
}

/* It answers reads that a majority has agreed on. */
static int answers(etcd_cluster *c, int i)
{
    return strstr(etcd_cluster_post(c, i, "/v3/kv/range", "{\"key\":\"eA==\"}"),
                  "revision") != NULL;
}

/* 0: one of them did not start. */
static int await_all(etcd_cluster *c)
{
    for (int waited = 0; waited < LIMIT_MS; waited += STEP_MS) {
        int ready = 0;

        for (int i = 0; i < c->n; i++) {
            if (has_ended(c, i))
                return 0;
            ready += answers(c, i);
        }
        if (ready == c->n)
            return 1;
        poll(NULL, 0, STEP_MS);
    }
    die("etcd does not answer");
    return 0;
}

etcd_cluster *etcd_cluster_start(int members)
{
    etcd_cluster *c = calloc(1, sizeof(*c));

    if (c == NULL)
        die("out of memory");
    c->n = members;
    temp_folder(c->folder);
    for (int i = 0; i < c->n; i++)
        c->member[i].kept = -1;
    for (int tries = 0; tries < 5; tries++) {
        choose_ports(c);
        for (int i = 0; i < c->n; i++)
            launch(c, i);
        if (await_all(c))
            return c;
        for (int i = 0; i < c->n; i++)
            etcd_cluster_kill(c, i);
    }
    die("etcd does not start");
    return NULL;
}

void etcd_cluster_restart(etcd_cluster *c, int i)
{
    launch(c, i);
    for (int waited = 0; !answers(c, i); waited += STEP_MS) {
        if (waited > LIMIT_MS)
            die("a member does not come back");
        poll(NULL, 0, STEP_MS);
    }
}

void etcd_cluster_stop(etcd_cluster *c)
{
    char command[96];

    for (int i = 0; i < c->n; i++) {
        etcd_cluster_kill(c, i);
        give_port(&c->member[i]);
    }
    snprintf(command, sizeof(command), "rm -rf %s", c->folder);
    if (system(command) != 0)
        fprintf(stderr, "etcd_cluster: %s stays\n", c->folder);
    free(c);
}

const char *etcd_cluster_url(const etcd_cluster *c)
{
    return c->url;
}

int etcd_cluster_port(const etcd_cluster *c, int i)
{
    return c->member[i].client_port;
}
