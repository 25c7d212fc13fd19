/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis.c - the network between the client and the small Redis
 *
 * Takes the place of the system's calls on sockets: everything above is the
 * real client, wire protocol included.  Messages are whole requests and whole
 * replies; the world decides what becomes of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "keyspace.h"
#include "world.h"

#define FD_FIRST        1000
#define CONNECTIONS_MAX 64
#define INBOX_MAX       4096

typedef struct connection {
    int open;         /* the client's end     */
    int cut;          /* the server's end: no more comes */
    int64_t life;     /* counts the uses of this slot    */
    int64_t last;     /* when the last message arrives: the order is kept */
    int64_t limit_ms; /* of a blocking receive */
    sim_task *waiting;
    char inbox[INBOX_MAX];
    size_t len;
    char blocked_on[64]; /* BLPOP: the key, or "" */
    int64_t blocked_since;
} connection;

typedef struct message {
    connection *to;
    int64_t life;
    int reply_lost; /* 1: cut, 2: swallowed */
    size_t len;
    char bytes[];
} message;

static connection connections[CONNECTIONS_MAX];
static int64_t lives, blockings;
static int64_t last_kept;

/* ---- Arriving at the client ----------------------------------------------------- */

static void cut(connection *c)
{
    c->cut = 1;
    sim_wake(c->waiting);
}

static void cut_later(void *what, int64_t life)
{
    connection *c = what;

    if (c->open && c->life == life)
        cut(c);
}

static void arrive(void *what, int64_t n)
{
    message *m = what;
    connection *c = m->to;

    (void)n;
    if (c->open && !c->cut && c->life == m->life) {
        if (c->len + m->len > INBOX_MAX)
            sim_fail("%s", "simulator: an inbox is full");
        memcpy(c->inbox + c->len, m->bytes, m->len);
        c->len += m->len;
        sim_wake(c->waiting);
    }
    free(m);
}

static message *new_message(connection *to, const char *bytes, size_t len)
{
    message *m = malloc(sizeof(*m) + len);

    if (m == NULL)
        abort();
    m->to = to;
    m->life = to->life;
    m->reply_lost = 0;
    m->len = len;
    memcpy(m->bytes, bytes, len);
    return m;
}

static int64_t travel(void)
{
    return sim_chance(odds.slow) ? sim_between(3, 120) : sim_between(0, 2);
}

/* On one connection nothing overtakes. */
static int64_t arrival(connection *c)
{
    int64_t when = sim_now() + travel();

    if (when < c->last)
        when = c->last;
    c->last = when;
    return when;
}

static void send_reply(connection *c, int64_t life, const reply *r, int lost)
{
    if (!c->open || c->life != life || c->cut || lost == 2)
        return;
    if (lost == 1)
        sim_at(arrival(c), cut_later, c, life);
    else
        sim_at(arrival(c), arrive, new_message(c, r->bytes, r->len), 0);
}

/* ---- At the server ---------------------------------------------------------------- */

static void serve_blocked(connection *c, const char *element)
{
    reply r = { .len = 0 };

    reply_array(&r, 2);
    reply_text(&r, c->blocked_on, strlen(c->blocked_on));
    reply_text(&r, element, strlen(element));
    c->blocked_on[0] = '\0';
    send_reply(c, c->life, &r, 0);
}

/* Redis serves the one that has waited longest. */
static void pushed(const char *key)
{
    connection *first = NULL;
    char element[24];

    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        connection *c = &connections[i];

        if (c->open && !c->cut && strcmp(c->blocked_on, key) == 0 &&
            (first == NULL || c->blocked_since < first->blocked_since))
            first = c;
    }
    if (first != NULL && keyspace_pop(key, element, sizeof(element)))
        serve_blocked(first, element);
}

static void unblock(void *what, int64_t since)
{
    connection *c = what;
    reply r = { .len = 0 };

    if (!c->open || c->blocked_on[0] == '\0' || c->blocked_since != since)
        return;
    c->blocked_on[0] = '\0';
    reply_array(&r, -1);
    send_reply(c, c->life, &r, 0);
}

static void block(connection *c, const char *key, const char *seconds)
{
    char element[24];

    snprintf(c->blocked_on, sizeof(c->blocked_on), "%s", key);
    if (keyspace_pop(key, element, sizeof(element))) {
        serve_blocked(c, element);
        return;
    }
    c->blocked_since = ++blockings;
    sim_at(sim_now() + (int64_t)(strtod(seconds, NULL) * 1000) + 1, unblock, c,
           c->blocked_since);
}

/* Take one command apart.  Returns how many bytes it had. */
static size_t parse(char *bytes, char **argv, size_t *len, int *argc)
{
    char *at = bytes;

    *argc = (int)strtol(at + 1, &at, 10);
    at += 2;
    if (*bytes != '*' || *argc > ARGS_MAX)
        sim_fail("%s", "the client does not speak the protocol");
    for (int i = 0; i < *argc; i++) {
        len[i] = (size_t)strtol(at + 1, &at, 10);
        argv[i] = at + 2;
        at = argv[i] + len[i];
        *at = '\0';
        at += 2;
    }
    return (size_t)(at - bytes);
}

static int refused(reply *r)
{
    static const char *const errors[] = {
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "READONLY You can't write against a read only replica.",
        "MISCONF Redis is configured to save RDB snapshots",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "CLUSTERDOWN The cluster is down",
    };

    if (!sim_chance(odds.error))
        return 0;
    sums.faults++;
    reply_error(r, errors[sim_between(0, 5)]);
    return 1;
}

static void execute(message *m)
{
    char *argv[ARGS_MAX];
    size_t len[ARGS_MAX], at = 0;
    int argc;

    while (at < m->len) {
        reply r = { .len = 0 };

        at += parse(m->bytes + at, argv, len, &argc);
        if (strcmp(argv[0], "BLPOP") == 0) {
            if (m->to->open && m->to->life == m->life)
                block(m->to, argv[1], argv[argc - 1]);
            continue;
        }
        if (!refused(&r))
            keyspace_command(argc, argv, len, &r);
        if (tracing && argc > 4 && strcmp(argv[0], "EVAL") != 0)
            sim_trace("Redis: %.7s %s %.8s -> %.*s", argv[1], argv[3],
                      argv[3 + sim_number(argv[2])], (int)r.len, r.bytes);
        send_reply(m->to, m->life, &r, m->reply_lost);
    }
}

static void deliver(void *what, int64_t n)
{
    (void)n;
    execute(what);
    free(what);
}

/* ---- What client/socket.c asks of the system ------------------------------------- */

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
int __real_close(int fd);
int __wrap_close(int fd);

static connection *connection_of(int fd)
{
    if (fd < FD_FIRST || fd >= FD_FIRST + CONNECTIONS_MAX ||
        !connections[fd - FD_FIRST].open)
        sim_fail("the client uses descriptor %d, which is not open", fd);
    return &connections[fd - FD_FIRST];
}

int __wrap_socket(int domain, int type, int protocol)
{
    int i = 0;

    (void)domain, (void)type, (void)protocol;
    while (i < CONNECTIONS_MAX && connections[i].open)
        i++;
    if (i == CONNECTIONS_MAX)
        sim_fail("%s", "simulator: too many connections: are they closed?");
    memset(&connections[i], 0, offsetof(connection, inbox));
    connections[i].len = 0;
    connections[i].blocked_on[0] = '\0';
    connections[i].open = 1;
    connections[i].life = ++lives;
    return FD_FIRST + i;
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    (void)to, (void)len;
    connection_of(fd);
    sim_sleep(travel());
    if (!sim_chance(odds.refuse))
        return 0;
    sums.faults++;
    errno = ECONNREFUSED;
    return -1;
}

int __wrap_fcntl(int fd, int command, ...)
{
    connection_of(fd);
    return command == F_GETFL ? O_NONBLOCK : 0;
}

int __wrap_fcntl64(int fd, int command, ...)
{
    return __wrap_fcntl(fd, command);
}

/* Only the limit of a blocking receive matters. */
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len)
{
    const struct timeval *limit = value;

    if (level == SOL_SOCKET && name == SO_RCVTIMEO && len == sizeof(*limit))
        connection_of(fd)->limit_ms = limit->tv_sec * 1000 +
                                      limit->tv_usec / 1000;
    return 0;
}

/* The request is on its way: what becomes of it? */
static void dispatch(connection *c, const char *data, size_t len)
{
    message *m = new_message(c, data, len);

    if (sim_chance(odds.cut_request)) {
        sim_at(arrival(c), cut_later, c, c->life);
        free(m);
    } else if (sim_chance(odds.swallow)) {
        free(m);
    } else {
        if (sim_chance(odds.cut_reply))
            m->reply_lost = 1;
        else if (sim_chance(odds.swallow))
            m->reply_lost = 2;
        if (sim_chance(odds.duplicate)) {
            sums.faults++;
            sim_at(sim_now() + sim_between(0, 200), deliver,
                   new_message(c, data, len), 0);
        }
        sums.faults += m->reply_lost != 0;
        sim_at(arrival(c), deliver, m, 0);
        return;
    }
    sums.faults++;
}

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
    connection *c = connection_of(fd);

    if (!(flags & MSG_NOSIGNAL))
        sim_fail("%s", "a send that may raise SIGPIPE");
    sim_maybe_pause();
    errno = EPIPE;
    /* The first write after the peer's end still succeeds, into nothing. */
    if (c->cut && sim_chance(500))
        return -1;
    if (!c->cut && sim_chance(odds.cut_before)) {
        c->cut = 1;
        sums.faults++;
        errno = ECONNRESET;
        return sim_chance(500) ? (ssize_t)(len / 2) : -1;
    }
    if (!c->cut)
        dispatch(c, data, len);
    return (ssize_t)len;
}

int redis_is_ready(int fd)
{
    connection *c = connection_of(fd);

    return c->len > 0 || c->cut;
}

void redis_await(int fd, int64_t until)
{
    connection *c = connection_of(fd);

    while (c->len == 0 && !c->cut && sim_now() < until) {
        c->waiting = sim_self();
        sim_wait(until);
        c->waiting = NULL;
        sim_maybe_pause();
    }
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
    connection *c = connection_of(fd);
    size_t got;

    if (!(flags & MSG_DONTWAIT))
        redis_await(fd, sim_now() + c->limit_ms);
    errno = EAGAIN;
    if (c->len == 0 && !c->cut)
        return -1;
    errno = ECONNRESET;
    if (c->len == 0)
        return sim_chance(500) ? -1 : 0;
    got = c->len < size ? c->len : size;
    memcpy(data, c->inbox, got);
    memmove(c->inbox, c->inbox + got, c->len - got);
    c->len -= got;
    return (ssize_t)got;
}

int __wrap_close(int fd)
{
    if (fd < FD_FIRST)
        return __real_close(fd);
    connection_of(fd)->open = 0;
    return 0;
}

/* ---- What the world does to Redis -------------------------------------------------- */

void redis_begin(void)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        connections[i].open = 0;
    last_kept = 0;
    keyspace_pushed = pushed;
    keyspace_open();
    keyspace_keep();
}

void redis_connections_close(void)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        connections[i].blocked_on[0] = '\0';
        if (connections[i].open)
            cut(&connections[i]);
    }
}

int redis_holds(const char *resource, int64_t fence, const char *holder)
{
    char key[64], value[80];
    const char *stored;

    snprintf(key, sizeof(key), "{lock:v1:%s}", resource);
    snprintf(value, sizeof(value), "%lld:%s", (long long)fence, holder);
    stored = keyspace_string(key);
    return stored != NULL && strcmp(stored, value) == 0;
}

static void forget(const char *how)
{
    sim_trace("Redis: %s", how);
    sums.forgets++;
    sums.faults++;
    sim_dishonest();
    if (sim_chance(700))
        redis_connections_close();
}

void redis_nemesis(void)
{
    if (sim_now() - last_kept > 60) {
        keyspace_keep();
        last_kept = sim_now();
    }
    if (sim_chance(odds.forget)) {
        keyspace_flush();
        forget("FLUSHALL");
    }
    if (sim_chance(odds.rewind)) {
        keyspace_rewind();
        forget("fail-over to a replica that lagged");
    }
    if (sim_chance(odds.evict)) {
        keyspace_evict(sim_between(0, 1000));
        forget("a key is evicted");
    }
    if (sim_chance(odds.step)) {
        keyspace_step(sim_between(-300, 300));
        forget("the wall clock jumps");
    }
    if (sim_chance(odds.scripts))
        keyspace_forget_scripts();
}

void redis_heal(void)
{
    keyspace_step(0);
}
