/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_proxy.c - a fault between a client and its PostgreSQL
 *
 * A process of its own with one loop; the test steers it through a page of
 * shared memory, which is read whenever bytes arrive.
 */
#include "pg_proxy.h"
#include "temp_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINKS_MAX 16
#define PORT      "5432"

/* Shared with the process of the proxy. */
typedef struct control {
    atomic_int fault;
    atomic_int skip; /* requests before the one that meets it */
    atomic_int delay_ms;
    atomic_int requests;
    atomic_int parsed;
} control;

struct pg_proxy {
    pid_t pid;
    control *control;
    char folder[TEMP_FOLDER_MAX];
    char options[128];
};

/* One connection: the client's end and the server's. */
typedef struct link {
    int client;
    int server;
    int asked;      /* the last bytes came from the client */
    pg_fault fault; /* what its request in hand has met    */
} link_t;

static void die(const char *what)
{
    printf("Bail out! proxy: ");
    fflush(stdout);
    perror(what);
    exit(1);
}

/* ---- The process ----------------------------------------------------------- */

static int server_path(struct sockaddr_un *address)
{
    const char *host = getenv("PGHOST");
    const char *port = getenv("PGPORT");

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    return snprintf(address->sun_path, sizeof(address->sun_path),
                    "%s/.s.PGSQL.%s", host ? host : "/var/run/postgresql",
                    port && *port ? port : PORT) <
           (int)sizeof(address->sun_path);
}

static int connect_server(void)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (fd < 0 || !server_path(&address) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("connect");
    return fd;
}

static void hang_up(link_t *link)
{
    if (link->client >= 0)
        close(link->client);
    if (link->server >= 0)
        close(link->server);
    link->client = link->server = -1;
}

static int send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0)
            return 0;
        bytes += n;
        len -= (size_t)n;
    }
    return 1;
}

/* A goodbye is no request: nobody answers it, or waits until it is heard. */
static int asks(const link_t *link)
{
    char first;

    return recv(link->client, &first, 1, MSG_PEEK) == 1 && first != 'X';
}

/* The client speaks: a new request, or more of the one in hand. */
static void pass_request(link_t *link, control *c)
{
    static char bytes[65536];
    int begins = !link->asked && asks(link);
    ssize_t n;

    if (begins) {
        link->asked = 1;
        atomic_fetch_add(&c->requests, 1);
        link->fault = PG_PASS;
        if (atomic_fetch_sub(&c->skip, 1) == 0)
            link->fault = (pg_fault)atomic_load(&c->fault);
    }
    if (link->fault == PG_DEAF)
        return;
    n = recv(link->client, bytes, sizeof(bytes), 0);
    if (n <= 0 || link->fault == PG_CUT_BEFORE) {
        hang_up(link);
        return;
    }
    atomic_fetch_add(&c->parsed, begins && bytes[0] == 'P');
    if (link->fault == PG_SWALLOW)
        return;
    poll(NULL, 0, atomic_load(&c->delay_ms));
    if (!send_all(link->server, bytes, (size_t)n))
        hang_up(link);
}

/* "Ready for query" is the last message of an answer. */
static int is_whole(const char *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes + n - 6, "Z\0\0\0\5", 5) == 0;
}

/* How much of these bytes arrives, when the answer meets a fault. */
static size_t part_of(const char *bytes, size_t n, pg_fault fault)
{
    if (fault == PG_CUT_INSIDE)
        return n / 2;
    return fault == PG_CUT_LAST && is_whole(bytes, n) ? n - 6 : n;
}

/* The server speaks: the request in hand is answered. */
static void pass_answer(link_t *link, control *c)
{
    static char bytes[65536];
    ssize_t n = recv(link->server, bytes, sizeof(bytes), 0);
    size_t part;

    if (n <= 0 || link->fault == PG_CUT_AFTER) {
        hang_up(link);
        return;
    }
    if (link->fault == PG_SWALLOW || link->fault == PG_DEAF ||
        link->fault == PG_MUTE)
        return;
    link->asked = 0;
    poll(NULL, 0, atomic_load(&c->delay_ms));
    part = part_of(bytes, (size_t)n, link->fault);
    if (!send_all(link->client, bytes, part) || part < (size_t)n)
        hang_up(link);
}

static void accept_client(int listener, link_t *links)
{
    int fd = accept(listener, NULL, NULL);
    int i;

    for (i = 0; i < LINKS_MAX && links[i].client >= 0; i++)
        continue;
    if (fd < 0 || i == LINKS_MAX)
        die("accept");
    links[i] = (link_t){ fd, connect_server(), 0, PG_PASS };
}

/* A deaf proxy must not spin on what it doesn't read. */
static struct pollfd client_side(const link_t *link)
{
    int deaf = link->asked && link->fault == PG_DEAF;

    return (struct pollfd){ deaf ? -1 : link->client, POLLIN, 0 };
}

static void serve(int listener, control *c)
{
    link_t links[LINKS_MAX];
    struct pollfd fds[2 * LINKS_MAX + 1];
    int i;

    for (i = 0; i < LINKS_MAX; i++)
        links[i] = (link_t){ -1, -1, 0, PG_PASS };
    for (;;) {
        fds[2 * LINKS_MAX] = (struct pollfd){ listener, POLLIN, 0 };
        for (i = 0; i < LINKS_MAX; i++) {
            fds[2 * i] = client_side(&links[i]);
            fds[2 * i + 1] = (struct pollfd){ links[i].server, POLLIN, 0 };
        }
        if (poll(fds, 2 * LINKS_MAX + 1, -1) < 0)
            continue;
        for (i = 0; i < LINKS_MAX; i++) {
            if (links[i].client >= 0 && fds[2 * i].revents)
                pass_request(&links[i], c);
            if (links[i].server >= 0 && fds[2 * i + 1].revents)
                pass_answer(&links[i], c);
        }
        if (fds[2 * LINKS_MAX].revents)
            accept_client(listener, links);
    }
}

/* ---- The test's side ------------------------------------------------------- */

static int listen_in(const char *folder)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL." PORT,
             folder);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, LINKS_MAX) != 0)
        die("listen");
    return fd;
}

/* A page that stays shared after fork(). */
static control *shared_page(void)
{
    int fd = open("/dev/zero", O_RDWR);
    void *page = mmap(NULL, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd, 0);

    if (fd < 0 || page == MAP_FAILED)
        die("mmap");
    close(fd);
    return page;
}

pg_proxy *pg_proxy_start(void)
{
    pg_proxy *p = calloc(1, sizeof(*p));
    int listener;

    if (p == NULL)
        die("calloc");
    p->control = shared_page();
    p->control->skip = -1;
    temp_folder(p->folder);
    snprintf(p->options, sizeof(p->options), " host=%s port=" PORT, p->folder);
    listener = listen_in(p->folder);
    fflush(stdout);
    p->pid = fork();
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, p->control);
    }
    if (p->pid < 0)
        die("fork");
    close(listener);
    return p;
}

void pg_proxy_stop(pg_proxy *p)
{
    char path[128];

    if (p == NULL)
        return;
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    snprintf(path, sizeof(path), "%s/.s.PGSQL." PORT, p->folder);
    unlink(path);
    rmdir(p->folder);
    munmap(p->control, sizeof(control));
    free(p);
}

const char *pg_proxy_options(const pg_proxy *p)
{
    return p->options;
}

const char *pg_proxy_folder(const pg_proxy *p)
{
    return p->folder;
}

void pg_proxy_set_delay(pg_proxy *p, int ms)
{
    atomic_store(&p->control->delay_ms, ms);
}

void pg_proxy_set(pg_proxy *p, pg_fault fault, int skip)
{
    atomic_store(&p->control->fault, fault);
    atomic_store(&p->control->skip, skip);
}

int pg_proxy_requests(const pg_proxy *p)
{
    return atomic_load(&p->control->requests);
}

int pg_proxy_parsed(const pg_proxy *p)
{
    return atomic_load(&p->control->parsed);
}
