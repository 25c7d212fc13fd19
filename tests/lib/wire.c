/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wire.c - a bad line between a client and a server
 *
 * One thread accepts, one thread per connection passes bytes on both ways.
 */
#define _GNU_SOURCE /* accept4, memmem, pipe2 */

#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES_MAX 4096

typedef struct line {
    wire *owner;
    pthread_t thread;
    int client, server;
    wire_fault fault;
    long left; /* bytes of the server's until the fault */
} line;

/* What becomes of a request that is held back. */
typedef enum hold {
    HOLD_NONE,
    HOLD_ARMED,
    HOLD_HELD,
    HOLD_GOING,
    HOLD_ANSWERED
} hold;

struct wire {
    pthread_t thread;
    int listener, port, target;
    int quit[2];
    atomic_int fault, connections;
    atomic_long after, bytes;
    line *lines[LINES_MAX];
    size_t n;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    hold hold;
    const char *held_text;
};

static void die(const char *what)
{
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(99);
}

static int loopback(struct sockaddr_in *to, int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *to = (struct sockaddr_in){ .sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0)
        die("no socket");
    return fd;
}

static int send_all(int fd, const char *bytes, size_t len, int dribble)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, dribble ? 1 : len, MSG_NOSIGNAL);

        if (n <= 0)
            return 0;
        bytes += n;
        len -= (size_t)n;
    }
    return 1;
}

/* From the server to the client, up to the fault.  0: cut the line. */
static int pass_down(line *l)
{
    char bytes[4096];
    ssize_t n = recv(l->server, bytes, sizeof(bytes), 0);

    if (n <= 0)
        return 0;
    l->owner->bytes += n;
    if (l->fault == WIRE_PASS || l->fault == WIRE_DRIBBLE)
        return send_all(l->client, bytes, (size_t)n, l->fault == WIRE_DRIBBLE);
    if (n > l->left)
        n = l->left;
    l->left -= n;
    if (!send_all(l->client, bytes, (size_t)n, 0))
        return 0;
    return l->left > 0 || l->fault == WIRE_SILENT;
}

static void set_hold(wire *w, hold now)
{
    pthread_mutex_lock(&w->mutex);
    w->hold = now;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

/* Or until the wire ends. */
static void await_hold(wire *w, hold wanted)
{
    pthread_mutex_lock(&w->mutex);
    while (w->hold != wanted && w->hold != HOLD_NONE)
        pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

/* Is it what is to be held back?  Only one line gets a yes. */
static int is_wanted(wire *w, const char *bytes, size_t len)
{
    int wanted;

    pthread_mutex_lock(&w->mutex);
    wanted = w->hold == HOLD_ARMED &&
             memmem(bytes, len, w->held_text, strlen(w->held_text)) != NULL;
    if (wanted)
        w->hold = HOLD_HELD;
    pthread_mutex_unlock(&w->mutex);
    return wanted;
}

/* The client may have gone: the server's answer is waited for all the same. */
static int pass_held(line *l, const char *bytes, size_t len)
{
    struct pollfd p = { .fd = l->server, .events = POLLIN };
    int going;

    await_hold(l->owner, HOLD_GOING);
    going = send_all(l->server, bytes, len, 0);
    while (going && poll(&p, 1, -1) < 0 && errno == EINTR)
        continue;
    going = going && pass_down(l);
    set_hold(l->owner, HOLD_ANSWERED);
    return going;
}

static int pass_up(line *l)
{
    char bytes[4096];
    ssize_t n = recv(l->client, bytes, sizeof(bytes), 0);

    if (n > 0 && is_wanted(l->owner, bytes, (size_t)n))
        return pass_held(l, bytes, (size_t)n);
    return n > 0 && send_all(l->server, bytes, (size_t)n, 0);
}

static void *pass(void *arg)
{
    line *l = arg;
    struct pollfd p[3] = { { .fd = l->client, .events = POLLIN },
                           { .fd = l->server, .events = POLLIN },
                           { .fd = l->owner->quit[0], .events = POLLIN } };
    int going = l->fault != WIRE_CUT || l->left > 0;

    while (going) {
        if (poll(p, 3, -1) < 0 && errno != EINTR)
            die("poll");
        if (p[2].revents != 0)
            break;
        if (p[0].revents != 0)
            going = pass_up(l);
        if (going && p[1].revents != 0)
            going = pass_down(l);
    }
    shutdown(l->client, SHUT_RDWR);
    shutdown(l->server, SHUT_RDWR);
    return NULL;
}

static void take(wire *w, int client)
{
    struct sockaddr_in to;
    line *l = calloc(1, sizeof(*l));
    int one = 1;

    if (l == NULL || w->n == LINES_MAX)
        die("too many connections");
    l->owner = w;
    l->client = client;
    l->server = loopback(&to, w->target);
    if (connect(l->server, (struct sockaddr *)&to, sizeof(to)) != 0)
        shutdown(client, SHUT_RDWR);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(l->server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    l->fault = (wire_fault)w->fault;
    l->left = w->after;
    w->bytes = 0;
    w->connections++;
    w->lines[w->n++] = l;
    if (pthread_create(&l->thread, NULL, pass, l) != 0)
        die("no thread");
}

static void *accept_all(void *arg)
{
    wire *w = arg;
    struct pollfd p[2] = { { .fd = w->listener, .events = POLLIN },
                           { .fd = w->quit[0], .events = POLLIN } };

    while (poll(p, 2, -1) >= 0 || errno == EINTR) {
        int client;

        if (p[1].revents != 0)
            break;
        client = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            take(w, client);
    }
    return NULL;
}

wire *wire_start(int port)
{
    wire *w = calloc(1, sizeof(*w));
    struct sockaddr_in a;
    socklen_t len = sizeof(a);

    if (w == NULL || pipe2(w->quit, O_CLOEXEC) != 0)
        die("no pipe");
    w->target = port;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->listener = loopback(&a, 0);
    if (bind(w->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(w->listener, 64) != 0 ||
        getsockname(w->listener, (struct sockaddr *)&a, &len) != 0)
        die("no port");
    w->port = ntohs(a.sin_port);
    if (pthread_create(&w->thread, NULL, accept_all, w) != 0)
        die("no thread");
    return w;
}

void wire_stop(wire *w)
{
    set_hold(w, HOLD_NONE);
    close(w->quit[1]);
    pthread_join(w->thread, NULL);
    for (size_t i = 0; i < w->n; i++) {
        pthread_join(w->lines[i]->thread, NULL);
        close(w->lines[i]->client);
        close(w->lines[i]->server);
        free(w->lines[i]);
    }
    close(w->quit[0]);
    close(w->listener);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

int wire_port(const wire *w)
{
    return w->port;
}

void wire_set(wire *w, wire_fault fault, long after)
{
    w->fault = fault;
    w->after = after;
}

void wire_hold(wire *w, const char *text)
{
    pthread_mutex_lock(&w->mutex);
    w->held_text = text;
    w->hold = HOLD_ARMED;
    pthread_mutex_unlock(&w->mutex);
}

int wire_is_holding(wire *w)
{
    int holding;

    pthread_mutex_lock(&w->mutex);
    holding = w->hold == HOLD_HELD;
    pthread_mutex_unlock(&w->mutex);
    return holding;
}

void wire_let_go(wire *w)
{
    set_hold(w, HOLD_GOING);
    await_hold(w, HOLD_ANSWERED);
}

int wire_connections(wire *w)
{
    return w->connections;
}

long wire_bytes(wire *w)
{
    return w->bytes;
}
