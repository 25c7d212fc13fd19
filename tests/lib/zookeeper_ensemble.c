/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_ensemble.c - a throwaway ZooKeeper of one or three servers
 */
#include "zookeeper_ensemble.h"
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
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVERS_MAX 3
#define LIMIT_MS    60000
#define STEP_MS     20
#define CLASSES     "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

typedef struct server {
    pid_t pid;
    int port, peer_port, vote_port;
    int kept; /* its port, while it is down; -1: it is not */
} server;

struct zookeeper_ensemble {
    int n;
    int flushes;     /* its logs, before it answers            */
    int reads_alone; /* those who only read are answered, then */
    server server[SERVERS_MAX];
    char folder[TEMP_FOLDER_MAX];
    char url[128];
    char text[65536];
};

static void die(const char *what)
{
    fprintf(stderr, "zookeeper_ensemble: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* ---- A server ------------------------------------------------------------------ */

static FILE *create(const zookeeper_ensemble *e, int i, const char *name)
{
    char path[TEMP_FOLDER_MAX + 32];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%d/%s", e->folder, i, name);
    file = fopen(path, "w");
    if (file == NULL)
        die(path);
    return file;
}

/* A tick is short, so that tests of what takes some ticks are, too. */
static void configure(const zookeeper_ensemble *e, int i)
{
    char folder[TEMP_FOLDER_MAX + 16];
    FILE *file;

    snprintf(folder, sizeof(folder), "%s/%d", e->folder, i);
    mkdir(folder, 0755);
    file = create(e, i, "zoo.cfg");
    fprintf(file,
            "tickTime=200\ninitLimit=100\nsyncLimit=25\n"
            "minSessionTimeout=%d\nmaxSessionTimeout=%d\n"
            "dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\n"
            "4lw.commands.whitelist=srvr, wchp, mntr\n",
            ZOOKEEPER_SESSION_MIN_MS, ZOOKEEPER_SESSION_MAX_MS, folder,
            e->server[i].port);
    for (int k = 0; e->n > 1 && k < e->n; k++)
        fprintf(file, "server.%d=127.0.0.1:%d:%d\n", k + 1,
                e->server[k].peer_port, e->server[k].vote_port);
    fclose(file);
    file = create(e, i, "myid");
    fprintf(file, "%d\n", i + 1);
    fclose(file);
}

static void run_server(const zookeeper_ensemble *e, int i)
{
    char config[TEMP_FOLDER_MAX + 32], log[TEMP_FOLDER_MAX + 32];
    int fd;

    snprintf(config, sizeof(config), "%s/%d/zoo.cfg", e->folder, i);
    snprintf(log, sizeof(log), "%s/%d/log", e->folder, i);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("java", "java", "-Xmx64m", "-XX:+UseSerialGC",
           "-XX:TieredStopAtLevel=1",
           e->flushes ? "-Dzookeeper.forceSync=yes"
                      : "-Dzookeeper.forceSync=no",
           e->reads_alone ? "-Dreadonlymode.enabled=true"
                          : "-Dreadonlymode.enabled=false",
           "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", CLASSES,
           "org.apache.zookeeper.server.quorum.QuorumPeerMain", config, NULL);
    die("cannot run java");
}

static void give_port(server *s)
{
    if (s->kept >= 0)
        close(s->kept);
    s->kept = -1;
}

static void launch(zookeeper_ensemble *e, int i)
{
    pid_t pid;

    give_port(&e->server[i]);
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        run_server(e, i);
    e->server[i].pid = pid;
}

/* 1 when it has ended by itself: a port was taken. */
static int has_ended(zookeeper_ensemble *e, int i)
{
    pid_t pid = e->server[i].pid;

    if (pid != 0 && waitpid(pid, NULL, WNOHANG) != pid)
        return 0;
    e->server[i].pid = 0;
    return 1;
}

void zookeeper_ensemble_kill(zookeeper_ensemble *e, int i)
{
    if (e->server[i].pid == 0)
        return;
    kill(e->server[i].pid, SIGKILL);
    while (waitpid(e->server[i].pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    e->server[i].pid = 0;
    e->server[i].kept = keep_port(e->server[i].port);
}

void zookeeper_ensemble_freeze(zookeeper_ensemble *e, int i)
{
    kill(e->server[i].pid, SIGSTOP);
}

void zookeeper_ensemble_thaw(zookeeper_ensemble *e, int i)
{
    kill(e->server[i].pid, SIGCONT);
}

/* ---- Asking it ------------------------------------------------------------------ */

static int connect_to(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    /* One that is just starting takes the question and never answers. */
    struct timeval limit = { .tv_usec = 500000 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
        return fd;
    close(fd);
    return -1;
}

const char *zookeeper_ensemble_ask(zookeeper_ensemble *e, int i,
                                   const char *word)
{
    size_t used = 0;
    ssize_t n = 1;
    int fd = connect_to(e->server[i].port);

    e->text[0] = '\0';
    if (fd < 0)
        return e->text;
    if (send(fd, word, 4, MSG_NOSIGNAL) != 4)
        n = 0;
    while (n > 0 && used + 1 < sizeof(e->text)) {
        n = recv(fd, e->text + used, sizeof(e->text) - 1 - used, 0);
        used += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    e->text[used] = '\0';
    return e->text;
}

/* "Mode: leader" and more. */
static const char *state_of(zookeeper_ensemble *e, int i)
{
    return zookeeper_ensemble_ask(e, i, "srvr");
}

static int serves(zookeeper_ensemble *e, int i)
{
    return strstr(state_of(e, i), "Mode: ") != NULL;
}

int zookeeper_ensemble_leader(zookeeper_ensemble *e)
{
    for (int waited = 0; waited < LIMIT_MS; waited += STEP_MS) {
        for (int i = 0; i < e->n; i++) {
            if (e->server[i].pid != 0 &&
                strstr(state_of(e, i), "Mode: leader") != NULL)
                return i;
        }
        poll(NULL, 0, STEP_MS);
    }
    die("ZooKeeper has no leader");
    return -1;
}

/* ---- All of them ------------------------------------------------------------------ */

static void choose_ports(zookeeper_ensemble *e)
{
    int url = snprintf(e->url, sizeof(e->url), "zookeeper://");

    for (int i = 0; i < e->n; i++) {
        e->server[i].port = free_port();
        e->server[i].peer_port = free_port();
        e->server[i].vote_port = free_port();
        url += snprintf(e->url + url, sizeof(e->url) - (size_t)url,
                        "%s127.0.0.1:%d", i > 0 ? "," : "", e->server[i].port);
    }
}

/* 0: one of them did not start. */
static int await_all(zookeeper_ensemble *e)
{
    for (int waited = 0; waited < LIMIT_MS; waited += STEP_MS) {
        int ready = 0;

        for (int i = 0; i < e->n; i++) {
            if (has_ended(e, i))
                return 0;
            ready += serves(e, i);
        }
        if (ready == e->n)
            return 1;
        poll(NULL, 0, STEP_MS);
    }
    die("ZooKeeper does not answer");
    return 0;
}

static zookeeper_ensemble *start(int servers, int flushes)
{
    zookeeper_ensemble *e = calloc(1, sizeof(*e));

    if (e == NULL)
        die("out of memory");
    e->n = servers;
    e->flushes = flushes;
    temp_folder(e->folder);
    for (int i = 0; i < e->n; i++)
        e->server[i].kept = -1;
    for (int tries = 0; tries < 5; tries++) {
        choose_ports(e);
        for (int i = 0; i < e->n; i++) {
            configure(e, i);
            launch(e, i);
        }
        if (await_all(e))
            return e;
        for (int i = 0; i < e->n; i++)
            zookeeper_ensemble_kill(e, i);
    }
    die("ZooKeeper does not start");
    return NULL;
}

zookeeper_ensemble *zookeeper_ensemble_start(int servers)
{
    return start(servers, 0);
}

zookeeper_ensemble *zookeeper_ensemble_start_flushing(int servers)
{
    return start(servers, 1);
}

void zookeeper_ensemble_restart(zookeeper_ensemble *e, int i)
{
    launch(e, i);
    for (int waited = 0; !serves(e, i); waited += STEP_MS) {
        if (waited > LIMIT_MS)
            die("a server does not come back");
        poll(NULL, 0, STEP_MS);
    }
}

void zookeeper_ensemble_restart_read_only(zookeeper_ensemble *e, int i)
{
    e->reads_alone = 1;
    zookeeper_ensemble_restart(e, i);
}

void zookeeper_ensemble_stop(zookeeper_ensemble *e)
{
    char command[96];

    for (int i = 0; i < e->n; i++) {
        zookeeper_ensemble_kill(e, i);
        give_port(&e->server[i]);
    }
    snprintf(command, sizeof(command), "rm -rf %s", e->folder);
    if (system(command) != 0)
        fprintf(stderr, "zookeeper_ensemble: %s stays\n", e->folder);
    free(e);
}

const char *zookeeper_ensemble_url(const zookeeper_ensemble *e)
{
    return e->url;
}

int zookeeper_ensemble_port(const zookeeper_ensemble *e, int i)
{
    return e->server[i].port;
}

/* ---- ThreadSanitizer ---------------------------------------------------------------- */

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_suppressions(void);

/*
 * The client writes the address of a server into one buffer for all of its
 * threads, for messages that nobody here reads.
 */
const char *__tsan_default_suppressions(void)
{
    return "race:__sprintf_chk\n";
}
#endif
