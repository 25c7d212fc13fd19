/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * server.c - a server that answers what a fuzzer wants
 */
#include "server.h"
#include "fuzz.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "script.h"

#define FIRST_FD   100000
#define FDS        64
#define ANSWER_MAX 65536

enum { HOLDER = 1, TAG, NAME, PAUSE, CLOSE, AGAIN, END = 0xff };

typedef struct line {
    int open, closed_by_us;
    int64_t block_ms; /* how long a receive may block */
    char bytes[ANSWER_MAX];
    size_t len, at;
    size_t pause[16], pauses, paused; /* where what has come so far ends */
} line;

static line lines[FDS];
static const uint8_t *answers;
static size_t left;
static int64_t now_ns;
static char before[ANSWER_MAX]; /* the last whole answer */
static size_t before_len;

/* What the last request was about. */
static char holder[64], tag[64];
static const char *name;

/* ---- Answers ------------------------------------------------------------------- */

static void put(line *l, const char *bytes, size_t len)
{
    if (len > sizeof(l->bytes) - l->len)
        len = sizeof(l->bytes) - l->len;
    memcpy(l->bytes + l->len, bytes, len);
    l->len += len;
}

static void put_bulk(line *l, const char *text)
{
    char head[16];
    int n = snprintf(head, sizeof(head), "$%zu\r\n", strlen(text));

    put(l, head, (size_t)n);
    put(l, text, strlen(text));
    put(l, "\r\n", 2);
}

static void put_byte(line *l, uint8_t byte)
{
    char c = (char)byte;

    switch (byte) {
    case HOLDER: put_bulk(l, holder); break;
    case TAG: put_bulk(l, tag); break;
    case NAME: put_bulk(l, name); break;
    case PAUSE:
        if (l->pauses < 16)
            l->pause[l->pauses++] = l->len;
        break;
    case CLOSE: l->closed_by_us = 1; break;
    case AGAIN: put(l, before, before_len); break;
    case END:
        memcpy(before, l->bytes, l->len);
        before_len = l->len;
        break;
    default: put(l, &c, 1);
    }
}

static void answer(line *l)
{
    uint8_t byte = 0;

    if (l->at == l->len) {
        l->at = l->len = 0;
        l->pauses = l->paused = 0;
    }
    while (left > 0 && byte != END) {
        byte = *answers++;
        left--;
        put_byte(l, byte);
    }
}

/* ---- Requests ------------------------------------------------------------------- */

static const rf__script *const scripts[] = {
    &rf__script_acquire,      &rf__script_renew,
    &rf__script_release,      &rf__script_reissue,
    &rf__script_inspect,      &rf__script_force_release,
    &rf__script_acquire_all,  &rf__script_raise,
    &rf__script_withdraw,     &rf__script_acquire_shared,
    &rf__script_renew_shared, &rf__script_release_shared
};

static void copy(char out[64], const char *at, size_t len)
{
    len = len < 63 ? len : 63;
    memcpy(out, at, len);
    out[len] = '\0';
}

/* {EVALSHA or EVAL, digest or text, keys, key..., holder, ..., tag}: the last one. */
static void read_request(const char *bytes, size_t len)
{
    const char *at = bytes, *end = bytes + len;
    long word = 0, keys = 0, words = 0;

    while (at < end) {
        long n = strtol(at + 1, NULL, 10);
        const char *text = at;

        while (text < end && *text != '\n')
            text++;
        must(text < end && n >= 0);
        text++;
        if (*at == '*') {
            words = n;
            word = 0;
            at = text;
            continue;
        }
        must(*at == '$' && n + 2 <= end - text);
        for (size_t i = 0; word == 1 && i < sizeof(scripts) / sizeof(*scripts);
             i++) {
            const char *known = n == 40 ? scripts[i]->sha1 : scripts[i]->text;

            if ((size_t)n == strlen(known) &&
                memcmp(known, text, (size_t)n) == 0)
                name = scripts[i]->name;
        }
        if (word == 2)
            keys = strtol(text, NULL, 10);
        if (word == 3 + keys)
            copy(holder, text, (size_t)n);
        if (++word == words)
            copy(tag, text, (size_t)n);
        at = text + n + 2;
    }
}

/* ---- What the client calls instead of the system ----------------------------------- */

int __real_clock_gettime(clockid_t id, struct timespec *out);
int __real_close(int fd);
int __real_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_setsockopt(int fd, int level, int option, const void *value,
                      socklen_t len);
int __wrap_getsockopt(int fd, int level, int option, void *value,
                      socklen_t *len);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_close(int fd);

static line *line_of(int fd)
{
    line *l = fd >= FIRST_FD && fd < FIRST_FD + FDS ? &lines[fd - FIRST_FD]
                                                    : NULL;

    must(l == NULL || l->open);
    return l;
}

/* Reading the clock takes time too: no loop may wait for ever in no time. */
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    now_ns += 1000;
    out->tv_sec = (time_t)(now_ns / 1000000000);
    out->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                           struct timespec *rest)
{
    int64_t until = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;

    (void)id, (void)flags, (void)rest;
    if (until > now_ns)
        now_ns = until;
    return 0;
}

int __wrap_socket(int domain, int type, int protocol)
{
    (void)domain, (void)type, (void)protocol;
    for (int i = 0; i < FDS; i++) {
        if (lines[i].open)
            continue;
        lines[i].open = 1;
        lines[i].closed_by_us = 0;
        lines[i].block_ms = 0;
        lines[i].at = lines[i].len = 0;
        lines[i].pauses = lines[i].paused = 0;
        return FIRST_FD + i;
    }
    errno = EMFILE;
    return -1;
}

/* Answers name hosts, and nobody else is to be asked for them. */
int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out)
{
    if ((hints->ai_flags & AI_NUMERICHOST) == 0)
        return EAI_NONAME;
    return __real_getaddrinfo(host, port, hints, out);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    (void)to, (void)len;
    must(line_of(fd) != NULL);
    return 0;
}

int __wrap_fcntl(int fd, int command, ...)
{
    (void)fd, (void)command;
    return 0;
}

int __wrap_fcntl64(int fd, int command, ...)
{
    (void)fd, (void)command;
    return 0;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value,
                      socklen_t len)
{
    const struct timeval *limit = value;

    (void)len;
    if (level == SOL_SOCKET && option == SO_RCVTIMEO)
        line_of(fd)->block_ms = limit->tv_sec * 1000 + limit->tv_usec / 1000;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int option, void *value,
                      socklen_t *len)
{
    (void)fd, (void)level, (void)option;
    memset(value, 0, *len);
    return 0;
}

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
    line *l = line_of(fd);

    (void)flags;
    if (l->closed_by_us) {
        errno = EPIPE;
        return -1;
    }
    read_request(data, len);
    answer(l);
    return (ssize_t)len;
}

static size_t there(const line *l)
{
    size_t end = l->paused < l->pauses ? l->pause[l->paused] : l->len;

    return end - l->at;
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
    line *l = line_of(fd);
    size_t n = there(l);

    if (n == 0 && l->at < l->len) {
        /* A pause is over for the next who asks. */
        l->paused++;
    } else if (n == 0 && l->closed_by_us) {
        return 0;
    } else if (n > 0) {
        n = n < size ? n : size;
        memcpy(data, l->bytes + l->at, n);
        l->at += n;
        return (ssize_t)n;
    }
    if ((flags & MSG_DONTWAIT) == 0)
        now_ns += l->block_ms * 1000000;
    errno = EAGAIN;
    return -1;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int ready = 0;

    for (nfds_t i = 0; i < n; i++) {
        line *l = line_of(fds[i].fd);

        fds[i].revents = 0;
        if (l == NULL)
            continue;
        if ((fds[i].events & POLLIN) && (l->at < l->len || l->closed_by_us))
            fds[i].revents |= POLLIN;
        fds[i].revents |= fds[i].events & POLLOUT;
        ready += fds[i].revents != 0;
    }
    if (ready == 0) {
        must(timeout >= 0);
        now_ns += (int64_t)timeout * 1000000;
    }
    return ready;
}

int __wrap_close(int fd)
{
    line *l = line_of(fd);

    if (l == NULL)
        return __real_close(fd);
    l->open = 0;
    return 0;
}

/* ---- One input ------------------------------------------------------------------- */

void server_begin(const uint8_t *data, size_t size)
{
    answers = data;
    left = size;
    name = "none";
    before_len = 0;
    holder[0] = '\0';
    tag[0] = '\0';
    now_ns = 1000000000000;
}

int server_open(void)
{
    int n = 0;

    for (int i = 0; i < FDS; i++) {
        n += lines[i].open;
        lines[i].open = 0;
    }
    return n;
}
