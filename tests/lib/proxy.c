/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * proxy.c - a fault between a client and its Redis
 *
 * One thread accepts, one thread per connection goes request by request.
 */
#define _GNU_SOURCE /* accept4, pipe2, POLLRDHUP */

#include "proxy.h"
#include "temp_folder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGE_MAX (1 << 20)
#define LINKS_MAX   256

typedef struct buffer {
    char *bytes;
    size_t len, size;
} buffer;

typedef struct channel {
    proxy *owner;
    pthread_t thread;
    int client, server;
    buffer in, out; /* not yet passed on: requests, replies */
    buffer last;    /* the reply of the request before      */
} channel;

struct proxy {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int listener[2]; /* Unix, loopback */
    int quit[2];
    int port;
    char folder[TEMP_FOLDER_MAX], socket[96], url[128];
    char target[108];
    proxy_fault fault;
    int skip, count, delay_ms;
    char *say;
    size_t say_len;
    int requests, connections;
    buffer *offered; /* PROXY_SWAP: a reply that waits for another */
    int swapped;
    channel *links[LINKS_MAX];
    size_t n;
    int stopping;
};

static void die(const char *what)
{
    fprintf(stderr, "proxy: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* ---- Messages --------------------------------------------------------------- */

/* Length of the message at the front of b, 0 when more is to come. */
static size_t message_length(const char *b, size_t len)
{
    const char *end = len > 0 ? memchr(b, '\n', len) : NULL;
    size_t head, total;
    long n;

    if (end == NULL)
        return 0;
    head = (size_t)(end - b) + 1;
    n = strtol(b + 1, NULL, 10);
    if (b[0] == '$')
        return n < 0 ? head
                     : (head + (size_t)n + 2 <= len ? head + (size_t)n + 2 : 0);
    if (b[0] != '*')
        return head;
    total = head;
    for (long i = 0; i < n; i++) {
        size_t part = message_length(b + total, len - total);

        if (part == 0)
            return 0;
        total += part;
    }
    return total;
}

static void append(buffer *b, const char *bytes, size_t len)
{
    if (b->len + len > b->size) {
        b->size = (b->len + len) * 2;
        b->bytes = realloc(b->bytes, b->size);
        if (b->bytes == NULL)
            die("out of memory");
    }
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
}

static void drop(buffer *b, size_t len)
{
    memmove(b->bytes, b->bytes + len, b->len - len);
    b->len -= len;
}

static int send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        bytes += n;
        len -= (size_t)n;
    }
    return 1;
}

/*
 * Wait until a whole message from fd stands in b.  0 when fd, or the other
 * side, is at its end, or the proxy stops.
 */
static size_t receive(channel *l, int fd, buffer *b)
{
    for (;;) {
        size_t len = message_length(b->bytes, b->len);
        struct pollfd p[3] = { { .fd = fd, .events = POLLIN },
                               { .fd = l->owner->quit[0], .events = POLLIN },
                               { .fd = l->client, .events = POLLRDHUP } };
        char bytes[16384];
        ssize_t n;

        if (len > 0)
            return len;
        if (poll(p, 3, -1) < 0 && errno != EINTR)
            return 0;
        if (p[1].revents != 0)
            return 0;
        if (fd != l->client && p[2].revents != 0)
            return 0;
        if (p[0].revents == 0)
            continue;
        n = recv(fd, bytes, sizeof(bytes), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || b->len > MESSAGE_MAX)
            return 0;
        append(b, bytes, (size_t)n);
    }
}

/* Until the client leaves, or the proxy stops, or ms are over. */
static void linger(channel *l, int ms)
{
    struct pollfd p[2] = { { .fd = l->client, .events = POLLRDHUP },
                           { .fd = l->owner->quit[0], .events = POLLIN } };

    while (poll(p, 2, ms) < 0 && errno == EINTR)
        continue;
}

/* ---- Faults -------------------------------------------------------------------- */

static proxy_fault next_fault(proxy *p, int *delay_ms)
{
    proxy_fault fault = PROXY_PASS;

    pthread_mutex_lock(&p->mutex);
    p->requests++;
    if (p->skip > 0) {
        p->skip--;
    } else if (p->count > 0) {
        p->count--;
        fault = p->fault;
    }
    *delay_ms = p->delay_ms;
    pthread_mutex_unlock(&p->mutex);
    return fault;
}

/* Two replies change places; the first waits for the second. */
static void swap(proxy *p, buffer *mine)
{
    pthread_mutex_lock(&p->mutex);
    if (p->offered == NULL) {
        p->offered = mine;
        p->swapped = 0;
        while (!p->swapped && !p->stopping)
            pthread_cond_wait(&p->changed, &p->mutex);
    } else {
        buffer other = *p->offered;

        *p->offered = *mine;
        *mine = other;
        p->offered = NULL;
        p->swapped = 1;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->mutex);
}

static int say(channel *l)
{
    proxy *p = l->owner;
    int sent;

    pthread_mutex_lock(&p->mutex);
    sent = send_all(l->client, p->say, p->say_len);
    pthread_mutex_unlock(&p->mutex);
    return sent;
}

static int dribble(int fd, const buffer *b)
{
    for (size_t i = 0; i < b->len; i++) {
        if (!send_all(fd, b->bytes + i, 1))
            return 0;
        poll(NULL, 0, 1);
    }
    return 1;
}

/* One reply from the server into reply.  0 when there is none. */
static int take_reply(channel *l, buffer *reply)
{
    size_t len = receive(l, l->server, &l->out);

    if (len == 0)
        return 0;
    append(reply, l->out.bytes, len);
    drop(&l->out, len);
    return 1;
}

/* What becomes of a reply that has come.  0 ends the connection. */
static int deliver(channel *l, proxy_fault fault, int delay_ms, buffer *reply)
{
    switch (fault) {
    case PROXY_CUT_AFTER: return 0;
    case PROXY_CUT_INSIDE:
        send_all(l->client, reply->bytes, reply->len / 2);
        return 0;
    case PROXY_MUTE: linger(l, -1); return 0;
    case PROXY_HALF_CLOSE:
        shutdown(l->client, SHUT_WR);
        linger(l, -1);
        return 0;
    case PROXY_DELAY: linger(l, delay_ms); break;
    case PROXY_SWAP: swap(l->owner, reply); break;
    case PROXY_DRIBBLE: return dribble(l->client, reply);
    case PROXY_STALE: return send_all(l->client, l->last.bytes, l->last.len);
    default: break;
    }
    return send_all(l->client, reply->bytes, reply->len);
}

/* One request and its reply.  0 ends the connection. */
static int pass_one(channel *l)
{
    size_t len = receive(l, l->client, &l->in);
    buffer reply = { 0 };
    int delay_ms, times, more = 0;
    proxy_fault fault;

    if (len == 0)
        return 0;
    fault = next_fault(l->owner, &delay_ms);
    times = fault == PROXY_DUPLICATE ? 2 : 1;
    if (fault == PROXY_CUT_BEFORE)
        return 0;
    if (fault == PROXY_SWALLOW) {
        linger(l, -1);
        return 0;
    }
    if (fault == PROXY_SAY) {
        drop(&l->in, len);
        return say(l);
    }
    for (int i = 0; i < times; i++) {
        if (!send_all(l->server, l->in.bytes, len) || !take_reply(l, &reply))
            goto cleanup;
    }
    drop(&l->in, len);
    more = deliver(l, fault, delay_ms, &reply);
    l->last.len = 0;
    append(&l->last, reply.bytes, reply.len);

cleanup:
    free(reply.bytes);
    return more;
}

static void *serve(void *arg)
{
    channel *l = arg;

    while (pass_one(l))
        continue;
    shutdown(l->client, SHUT_RDWR);
    shutdown(l->server, SHUT_RDWR);
    return NULL;
}

static int connect_target(const proxy *p)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof(to.sun_path), "%s", p->target);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void accept_one(proxy *p, int listener)
{
    channel *l = calloc(1, sizeof(*l));
    int one = 1;

    if (l == NULL || p->n == LINKS_MAX)
        die("too many connections");
    l->owner = p;
    l->client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    l->server = l->client < 0 ? -1 : connect_target(p);
    if (l->server < 0) {
        if (l->client >= 0)
            close(l->client);
        free(l);
        return;
    }
    setsockopt(l->client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    p->links[p->n++] = l;
    pthread_mutex_lock(&p->mutex);
    p->connections++;
    pthread_mutex_unlock(&p->mutex);
    if (pthread_create(&l->thread, NULL, serve, l) != 0)
        die("no thread");
}

static void *accept_all(void *arg)
{
    proxy *p = arg;

    for (;;) {
        struct pollfd f[3] = { { .fd = p->listener[0], .events = POLLIN },
                               { .fd = p->listener[1], .events = POLLIN },
                               { .fd = p->quit[0], .events = POLLIN } };

        if (poll(f, 3, -1) < 0)
            continue;
        if (f[2].revents != 0)
            return NULL;
        for (int i = 0; i < 2; i++) {
            if (f[i].revents != 0)
                accept_one(p, p->listener[i]);
        }
    }
}

/* ---- Start and stop ---------------------------------------------------------------- */

static void listen_on_both(proxy *p)
{
    struct sockaddr_un u = { .sun_family = AF_UNIX };
    struct sockaddr_in t = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(t);

    snprintf(u.sun_path, sizeof(u.sun_path), "%s", p->socket);
    p->listener[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    p->listener[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(p->listener[0], (struct sockaddr *)&u, sizeof(u)) != 0 ||
        bind(p->listener[1], (struct sockaddr *)&t, sizeof(t)) != 0 ||
        listen(p->listener[0], 128) != 0 || listen(p->listener[1], 128) != 0 ||
        getsockname(p->listener[1], (struct sockaddr *)&t, &len) != 0)
        die("cannot listen");
    p->port = ntohs(t.sin_port);
}

proxy *proxy_start(const char *path)
{
    proxy *p = calloc(1, sizeof(*p));

    if (p == NULL)
        die("out of memory");
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    snprintf(p->target, sizeof(p->target), "%s", path);
    temp_folder(p->folder);
    if (pipe2(p->quit, O_CLOEXEC) != 0)
        die("no pipe");
    snprintf(p->socket, sizeof(p->socket), "%s/proxy.sock", p->folder);
    snprintf(p->url, sizeof(p->url), "redis+unix://%s", p->socket);
    listen_on_both(p);
    if (pthread_create(&p->thread, NULL, accept_all, p) != 0)
        die("no thread");
    return p;
}

void proxy_stop(proxy *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->mutex);
    p->stopping = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    close(p->quit[1]);
    pthread_join(p->thread, NULL);
    for (size_t i = 0; i < p->n; i++) {
        channel *l = p->links[i];

        pthread_join(l->thread, NULL);
        close(l->client);
        close(l->server);
        free(l->in.bytes);
        free(l->out.bytes);
        free(l->last.bytes);
        free(l);
    }
    close(p->quit[0]);
    close(p->listener[0]);
    close(p->listener[1]);
    unlink(p->socket);
    rmdir(p->folder);
    pthread_mutex_destroy(&p->mutex);
    pthread_cond_destroy(&p->changed);
    free(p->say);
    free(p);
}

const char *proxy_url(const proxy *p)
{
    return p->url;
}

int proxy_port(const proxy *p)
{
    return p->port;
}

void proxy_set(proxy *p, proxy_fault fault, int skip, int count)
{
    pthread_mutex_lock(&p->mutex);
    p->fault = fault;
    p->skip = skip;
    p->count = count;
    pthread_mutex_unlock(&p->mutex);
}

void proxy_set_delay(proxy *p, int skip, int count, int ms)
{
    proxy_set(p, PROXY_DELAY, skip, count);
    pthread_mutex_lock(&p->mutex);
    p->delay_ms = ms;
    pthread_mutex_unlock(&p->mutex);
}

void proxy_say(proxy *p, int count, const char *bytes, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy == NULL)
        die("out of memory");
    memcpy(copy, bytes, len);
    pthread_mutex_lock(&p->mutex);
    free(p->say);
    p->say = copy;
    p->say_len = len;
    p->fault = PROXY_SAY;
    p->skip = 0;
    p->count = count;
    pthread_mutex_unlock(&p->mutex);
}

int proxy_requests(proxy *p)
{
    int n;

    pthread_mutex_lock(&p->mutex);
    n = p->requests;
    pthread_mutex_unlock(&p->mutex);
    return n;
}

int proxy_connections(proxy *p)
{
    int n;

    pthread_mutex_lock(&p->mutex);
    n = p->connections;
    pthread_mutex_unlock(&p->mutex);
    return n;
}
