/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_proxy.c - a fault between a client and one ZooKeeper server
 *
 * A thread with one loop; the test steers it through atomic variables, which are
 * read whenever bytes arrive.
 */
#include "zookeeper_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINKS_MAX 16
#define STEP_MS   5
#define SIZE      65536

/* One connection: the client's end and the server's. */
typedef struct link {
    int client, server;
    int greeted; /* its first request says who it is, and is none */
    int doomed;  /* the next answer does not get through          */
    size_t used;
    unsigned char request[SIZE];
} link_t;

struct zookeeper_proxy {
    pthread_t thread;
    int listener, port;
    atomic_int fault, request, is_met, is_stopping;
    atomic_int times, before; /* so many of these requests   */
    void (*act)(void);        /* are passed on only after it */
    char url[64];
    link_t link[LINKS_MAX];
};

static void die(const char *what)
{
    printf("Bail out! proxy: ");
    fflush(stdout);
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    return a;
}

static void cut(link_t *l)
{
    close(l->client);
    close(l->server);
    l->client = l->server = -1;
}

static void take_client(zookeeper_proxy *p)
{
    struct sockaddr_in a = loopback(p->port);
    int client = accept(p->listener, NULL, NULL);
    link_t *l = p->link;

    while (l < p->link + LINKS_MAX && l->client >= 0)
        l++;
    if (client < 0 || l == p->link + LINKS_MAX)
        die("too many connections");
    memset(l, 0, sizeof(*l));
    l->client = client;
    l->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(l->server, (struct sockaddr *)&a, sizeof(a)) != 0)
        cut(l);
}

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Length, number of the request, kind.  1: it may go on to the server. */
static int judge(zookeeper_proxy *p, link_t *l)
{
    int kind = l->greeted && l->used >= 12 ? (int)number_at(l->request + 8)
                                           : -1;
    int fault = p->fault;

    l->greeted = 1;
    if (kind == p->before && p->times > 0) {
        p->times--;
        p->act();
    }
    if (kind < 0 || kind != p->request ||
        (fault != ZOOKEEPER_CUT_BEFORE && fault != ZOOKEEPER_CUT_AFTER))
        return 1;
    p->fault = ZOOKEEPER_PASS;
    p->is_met = 1;
    l->doomed = fault == ZOOKEEPER_CUT_AFTER;
    return l->doomed;
}

static void pass_requests(zookeeper_proxy *p, link_t *l)
{
    ssize_t n = recv(l->client, l->request + l->used, SIZE - l->used, 0);

    l->used += n > 0 ? (size_t)n : 0;
    while (n > 0 && l->used >= 4) {
        size_t size = number_at(l->request) + 4;

        if (size > l->used)
            return;
        if (!judge(p, l))
            n = 0;
        else
            n = send(l->server, l->request, size, MSG_NOSIGNAL);
        l->used -= size;
        memmove(l->request, l->request + size, l->used);
    }
    if (n <= 0)
        cut(l);
}

static void pass_answers(link_t *l)
{
    unsigned char bytes[SIZE];
    ssize_t n = recv(l->server, bytes, sizeof(bytes), 0);

    if (n <= 0 || l->doomed ||
        send(l->client, bytes, (size_t)n, MSG_NOSIGNAL) != n)
        cut(l);
}

static void turn(zookeeper_proxy *p)
{
    struct pollfd fds[1 + 2 * LINKS_MAX] = { { p->listener, POLLIN, 0 } };

    for (int i = 0; i < LINKS_MAX; i++) {
        fds[1 + 2 * i] = (struct pollfd){ p->link[i].client, POLLIN, 0 };
        fds[2 + 2 * i] = (struct pollfd){ p->link[i].server, POLLIN, 0 };
    }
    if (poll(fds, 1 + 2 * LINKS_MAX, STEP_MS) <= 0)
        return;
    /* What was sent after the silence began has woken us. */
    if (p->fault == ZOOKEEPER_SILENT)
        return;
    for (int i = 0; i < LINKS_MAX; i++) {
        if (p->link[i].client >= 0 && fds[1 + 2 * i].revents != 0)
            pass_requests(p, &p->link[i]);
        if (p->link[i].client >= 0 && fds[2 + 2 * i].revents != 0)
            pass_answers(&p->link[i]);
    }
    if (fds[0].revents != 0)
        take_client(p);
}

static void *run(void *arg)
{
    zookeeper_proxy *p = arg;

    while (!p->is_stopping) {
        if (p->fault == ZOOKEEPER_SILENT)
            poll(NULL, 0, STEP_MS);
        else
            turn(p);
    }
    return NULL;
}

zookeeper_proxy *zookeeper_proxy_start(int port)
{
    zookeeper_proxy *p = calloc(1, sizeof(*p));
    struct sockaddr_in a = loopback(0);
    socklen_t size = sizeof(a);

    if (p == NULL)
        die("out of memory");
    for (int i = 0; i < LINKS_MAX; i++)
        p->link[i].client = p->link[i].server = -1;
    p->port = port;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(p->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(p->listener, LINKS_MAX) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&a, &size) != 0)
        die("listen");
    snprintf(p->url, sizeof(p->url), "zookeeper://127.0.0.1:%d",
             ntohs(a.sin_port));
    if (pthread_create(&p->thread, NULL, run, p) != 0)
        die("thread");
    return p;
}

void zookeeper_proxy_stop(zookeeper_proxy *p)
{
    p->is_stopping = 1;
    pthread_join(p->thread, NULL);
    for (int i = 0; i < LINKS_MAX; i++) {
        if (p->link[i].client >= 0)
            cut(&p->link[i]);
    }
    close(p->listener);
    free(p);
}

const char *zookeeper_proxy_url(const zookeeper_proxy *p)
{
    return p->url;
}

void zookeeper_proxy_set(zookeeper_proxy *p, zookeeper_fault fault,
                         zookeeper_request request)
{
    p->is_met = 0;
    p->request = request;
    p->fault = fault;
}

void zookeeper_proxy_before(zookeeper_proxy *p, zookeeper_request request,
                            int n, void (*act)(void))
{
    p->act = act;
    p->before = request;
    p->times = n;
}

int zookeeper_proxy_is_met(const zookeeper_proxy *p)
{
    return p->is_met;
}
