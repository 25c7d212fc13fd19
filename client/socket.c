/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * socket.c - bytes to and from a server, never beyond a deadline
 *
 * Every wait is a poll() for what is left of the deadline, taken up again after
 * a signal, but for one case that is worth a system call: a receive that may
 * take as long as most do blocks in the kernel, under a limit that was set when
 * the connection was made.  Knows nothing of Redis, and of TLS only that it has
 * to be asked first: it may hold bytes that the kernel no longer has.
 */
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tls.h"

/* A blocking receive may outlast its deadline by this much. */
#define OVERSHOOT_MS 5

/*
 * 0 when fd is ready for events, ECANCELED when other_fd (or -1) can be read,
 * else an errno value.  What is ready on fd goes first.
 */
static int wait_for_either(int fd, short events, int other_fd,
                           int64_t deadline_ms)
{
    struct pollfd p[2] = { { .fd = fd, .events = events },
                           { .fd = other_fd, .events = POLLIN } };

    for (;;) {
        int left = rf__left_ms(deadline_ms);
        int n = poll(p, other_fd < 0 ? 1 : 2, left);

        if (n > 0)
            return p[0].revents != 0 ? 0 : ECANCELED;
        if (n < 0 && errno != EINTR)
            return errno;
        if (left == 0)
            return ETIMEDOUT;
    }
}

static int wait_for(int fd, short events, int64_t deadline_ms)
{
    return wait_for_either(fd, events, -1, deadline_ms);
}

/* A fresh socket that is connected, or about to be: 0, EINPROGRESS, or not. */
static int begin_to(const struct sockaddr *to, socklen_t len, int *out)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);
    int failure = 0;

    if (fd < 0)
        return errno;
    if (connect(fd, to, len) != 0)
        failure = errno == EINTR ? EINPROGRESS : errno;
    /* EAGAIN: the backlog of a Unix socket is full; there is no waiting. */
    if (failure != 0 && failure != EINPROGRESS) {
        close(fd);
        return failure;
    }
    *out = fd;
    return failure;
}

static int connection_failure(int fd)
{
    int failure = 0;
    socklen_t size = sizeof(failure);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
        return errno;
    return failure;
}

/* Not worth failing for. */
static void set_options(int fd)
{
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

/* From here on a receive blocks, no longer than usual_ms. */
static void arm(rf__socket *s, int usual_ms)
{
    struct timeval limit = { .tv_sec = usual_ms / 1000,
                             .tv_usec = usual_ms % 1000 * 1000 };
    int flags = fcntl(s->fd, F_GETFL);

    s->armed_ms = 0;
    if (setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ==
            0 &&
        flags >= 0 && fcntl(s->fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        s->armed_ms = usual_ms;
}

/* Keep what TLS has to say of a failure. */
static int told(rf__socket *s, int failure)
{
    s->events = rf__tls_events(s->tls);
    if (failure != 0 && failure != EAGAIN)
        s->reason = rf__tls_reason(s->tls);
    s->refused = failure == EACCES;
    return failure;
}

static int shake_hands(rf__socket *s)
{
    int failure = told(s, rf__tls_handshake(s->tls));

    if (failure == 0)
        s->reason = NULL;
    if (failure != EAGAIN)
        return failure;
    s->reason = "no answer to the TLS handshake in time; does it speak TLS?";
    return EINPROGRESS;
}

int rf__socket_begun(rf__socket *s, const rf__url *url, int usual_ms)
{
    struct pollfd p = { .fd = s->fd, .events = POLLOUT };
    int failure;

    if (s->tls != NULL)
        return shake_hands(s);
    s->events = POLLOUT;
    if (poll(&p, 1, 0) <= 0)
        return EINPROGRESS;
    failure = connection_failure(s->fd);
    if (failure != 0)
        return failure;
    if (url->path[0] == '\0')
        set_options(s->fd);
    if (url->tls == NULL) {
        arm(s, usual_ms);
        return 0;
    }
    s->armed_ms = 0;
    s->tls = rf__tls_link_new(url->tls, s->fd, url->host);
    return s->tls != NULL ? shake_hands(s) : ENOMEM;
}

/* Until it can be used: 0, or an errno value and no socket. */
static int finish(rf__socket *s, const rf__url *url, int usual_ms,
                  int64_t deadline_ms)
{
    int failure = EINPROGRESS;

    while (failure == EINPROGRESS) {
        failure = rf__socket_begun(s, url, usual_ms);
        if (failure == EINPROGRESS) {
            failure = wait_for(s->fd, s->events, deadline_ms);
            failure = failure == 0 ? EINPROGRESS : failure;
        }
    }
    if (failure != 0)
        rf__socket_close(s);
    return failure;
}

static int begin_unix(const char *path, int *fd)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    memcpy(to.sun_path, path, strlen(path) + 1);
    return begin_to((struct sockaddr *)&to, sizeof(to), fd);
}

/*
 * A name that is an address needs no resolver.  For any other the resolver
 * may take longer than the deadline: nothing can interrupt it, so people who
 * need the limit to hold use addresses, or a resolver with limits of its own.
 */
static int resolve(const rf__url *url, struct addrinfo **out)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
    char port[RF__DECIMAL_MAX];
    int failure;

    rf__decimal_write(port, url->port);
    failure = getaddrinfo(url->host, port, &hints, out);
    if (failure == 0)
        return 0;
    hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
    return getaddrinfo(url->host, port, &hints, out);
}

/* Each address in turn; each may use its share of the time that is left. */
static int connect_any(rf__socket *s, const rf__url *url,
                       const struct addrinfo *list, int usual_ms,
                       int64_t deadline_ms)
{
    int count = 0, failure = EHOSTUNREACH;

    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next)
        count++;
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        int64_t limit = rf__now_ms() + rf__left_ms(deadline_ms) / count--;

        failure = begin_to(a->ai_addr, a->ai_addrlen, &s->fd);
        if (failure == 0 || failure == EINPROGRESS)
            failure = finish(s, url, usual_ms, limit);
        if (failure == 0)
            return 0;
    }
    return failure;
}

static int connect_url(rf__socket *s, const rf__url *url, int usual_ms,
                       int64_t deadline_ms, int *unresolved)
{
    struct addrinfo *list = NULL;
    int failure;

    if (url->path[0] != '\0') {
        failure = begin_unix(url->path, &s->fd);
        return failure == 0 || failure == EINPROGRESS
                   ? finish(s, url, usual_ms, deadline_ms)
                   : failure;
    }
    *unresolved = resolve(url, &list);
    if (*unresolved != 0)
        return 0;
    failure = connect_any(s, url, list, usual_ms, deadline_ms);
    freeaddrinfo(list);
    return failure;
}

static void forget(rf__socket *s)
{
    s->fd = -1;
    s->tls = NULL;
    s->refused = 0;
    s->reason = NULL;
}

rf_status rf__socket_status(int failure)
{
    return failure == EACCES   ? RF_MISUSE
           : failure == ENOMEM ? RF_NOMEM
                               : RF_RETRY;
}

const char *rf__socket_reason(const rf__socket *s, int failure)
{
    return s->reason != NULL ? s->reason : strerror(failure);
}

rf_status rf__socket_connect(rf__socket *s, const rf__url *url, int usual_ms,
                             int64_t deadline_ms, rf__error *error)
{
    int unresolved = 0, failure;

    forget(s);
    failure = connect_url(s, url, usual_ms, deadline_ms, &unresolved);
    if (unresolved != 0) {
        rf__set_error(error, "cannot resolve %s: %s", url->host,
                      gai_strerror(unresolved));
        return unresolved == EAI_MEMORY ? RF_NOMEM : RF_RETRY;
    }
    if (failure == 0)
        return RF_OK;
    if (url->path[0] != '\0')
        rf__set_error(error, "cannot connect to %s: %s", url->path,
                      rf__socket_reason(s, failure));
    else
        rf__set_error(error, "cannot connect to %s port %d: %s", url->host,
                      url->port, rf__socket_reason(s, failure));
    return rf__socket_status(failure);
}

int rf__socket_begin(rf__socket *s, const rf__url *url, int which)
{
    struct addrinfo *list = NULL, *at;
    int failure = -1;

    forget(s);
    if (url->path[0] != '\0') {
        if (which > 0)
            return -1;
        failure = begin_unix(url->path, &s->fd);
        return failure == EINPROGRESS ? 0 : failure;
    }
    if (resolve(url, &list) != 0)
        return which > 0 ? -1 : EHOSTUNREACH;
    for (at = list; at != NULL && which > 0; at = at->ai_next)
        which--;
    if (at != NULL)
        failure = begin_to(at->ai_addr, at->ai_addrlen, &s->fd);
    freeaddrinfo(list);
    return failure == EINPROGRESS ? 0 : failure;
}

void rf__socket_close(rf__socket *s)
{
    rf__tls_link_free(s->tls);
    s->tls = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* ---- Sending and receiving --------------------------------------------------- */

/* Send some of it, at once: 0, EAGAIN, or another errno value. */
static int send_some(rf__socket *s, const char *data, size_t len, size_t *n)
{
    ssize_t taken;

    if (s->tls != NULL)
        return told(s, rf__tls_send(s->tls, data, len, n));
    s->events = POLLOUT;
    /* Without MSG_NOSIGNAL a server that left would kill the process. */
    do {
        taken = send(s->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (taken < 0 && errno == EINTR);
    *n = taken < 0 ? 0 : (size_t)taken;
    if (taken >= 0)
        return 0;
    return errno == EWOULDBLOCK ? EAGAIN : errno;
}

int rf__socket_send(rf__socket *s, const char *data, size_t len,
                    int64_t deadline_ms, size_t *sent)
{
    *sent = 0;
    while (*sent < len) {
        size_t n;
        int failure = send_some(s, data + *sent, len - *sent, &n);

        *sent += n;
        if (failure == EAGAIN)
            failure = wait_for(s->fd, s->events, deadline_ms);
        if (failure != 0)
            return failure;
    }
    return 0;
}

int rf__socket_await(rf__socket *s, int other_fd, int64_t deadline_ms)
{
    int failure = 0;

    if (s->tls == NULL)
        return wait_for_either(s->fd, POLLIN, other_fd, deadline_ms);
    /* What arrives may be no more than a part, or talk among the two TLS. */
    while (failure == 0 && told(s, rf__tls_ready(s->tls)) == EAGAIN)
        failure = wait_for_either(s->fd, s->events, other_fd, deadline_ms);
    return failure;
}

static int recv_tls(rf__socket *s, char *data, size_t size, int64_t deadline_ms,
                    size_t *got)
{
    for (;;) {
        int left = rf__left_ms(deadline_ms);
        int failure = told(s, rf__tls_recv(s->tls, data, size, got));

        if (failure != EAGAIN)
            return failure;
        if (left == 0)
            return ETIMEDOUT;
        failure = wait_for(s->fd, s->events, deadline_ms);
        if (failure != 0)
            return failure;
    }
}

int rf__socket_recv(rf__socket *s, char *data, size_t size, int64_t deadline_ms,
                    size_t *got)
{
    if (s->tls != NULL)
        return recv_tls(s, data, size, deadline_ms, got);
    s->events = POLLIN;
    for (;;) {
        int left = rf__left_ms(deadline_ms), flags = 0;
        ssize_t n;

        /* A signal interrupts it, and what is left then is less than usual. */
        if (left == 0 || s->armed_ms < left ||
            s->armed_ms - left > OVERSHOOT_MS) {
            int failure = wait_for(s->fd, POLLIN, deadline_ms);

            if (failure != 0)
                return failure;
            flags = MSG_DONTWAIT;
        }
        n = recv(s->fd, data, size, flags);
        if (n >= 0) {
            *got = (size_t)n;
            return 0;
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return errno;
    }
}
