/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * network.c - the network between clients and the small Redises
 *
 * Takes the place of the system's calls on sockets: everything above is the
 * real client, wire protocol included.  Messages are whole requests and whole
 * replies; the world decides what becomes of each.
 */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "servers.h"

#define FD_FIRST        1000
#define CONNECTIONS_MAX 128
#define INBOX_MAX       4096
#define ARGS_MAX        24

typedef struct message message;

typedef struct connection {
    int open; /* the client's end     */
    int cut;  /* the server's end: no more comes */
    int server;
    int connecting, failure; /* EINPROGRESS, and what came of it */
    int64_t life;            /* counts the uses of this slot    */
    int64_t last;     /* when the last message arrives: the order is kept */
    int64_t limit_ms; /* of a blocking receive */
    sim_task *waiting;
    message *first, *newest; /* on their way to the client */
    size_t len;
    char blocked_on[64]; /* BLPOP: the key, or "" */
    int64_t blocked_since;
    char inbox[INBOX_MAX];
} connection;

struct message {
    message *next;
    connection *to;
    int server;
    int64_t life, number;
    int reply_lost; /* 1: cut, 2: swallowed */
    size_t len;
    char bytes[];
};

static connection connections[CONNECTIONS_MAX];
static int used; /* slots that were ever used in this world */
static int64_t lives, blockings, numbers;
static int64_t newest[SERVERS_MAX]; /* of what has come to each server */

/* ---- Arriving at the client: on one connection nothing overtakes ------------------ */

static void cut(connection *c)
{
    c->cut = 1;
    sim_wake(c->waiting);
}

static void receive(connection *c, const message *m)
{
    if (c->cut)
        return;
    if (c->len + m->len > INBOX_MAX)
        sim_fail("%s", "simulator: an inbox is full");
    memcpy(c->inbox + c->len, m->bytes, m->len);
    c->len += m->len;
    sim_wake(c->waiting);
}

/* Whatever was sent first. */
static void arrive(void *what, int64_t life)
{
    connection *c = what;
    message *m = c->first;

    if (!c->open || c->life != life)
        return;
    c->first = m->next;
    if (m->len > 0)
        receive(c, m);
    else
        cut(c);
    free(m);
}

static message *new_message(connection *to, const char *bytes, size_t len,
                            int64_t number)
{
    message *m = malloc(sizeof(*m) + len);

    if (m == NULL)
        abort();
    m->next = NULL;
    m->to = to;
    m->server = to->server;
    m->life = to->life;
    m->number = number;
    m->reply_lost = 0;
    m->len = len;
    if (len > 0)
        memcpy(m->bytes, bytes, len);
    return m;
}

static int64_t travel(void)
{
    return sim_strikes(SIM_SLOW) ? sim_between(3, 120) : sim_between(0, 2);
}

static int64_t arrival(connection *c)
{
    int64_t when = sim_now() + travel();

    if (when < c->last)
        when = c->last;
    c->last = when;
    return when;
}

/* Without bytes: the end of the connection. */
static void send_back(connection *c, const char *bytes, size_t len)
{
    message *m = new_message(c, bytes, len, 0);

    if (c->first == NULL)
        c->first = m;
    else
        c->newest->next = m;
    c->newest = m;
    sim_at(arrival(c), arrive, c, c->life);
}

static void send_reply(connection *c, int64_t life, const reply *r, int lost)
{
    if (!c->open || c->life != life || c->cut || lost == 2)
        return;
    send_back(c, r->bytes, lost == 1 ? 0 : r->len);
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
void network_pushed(int server, const char *key)
{
    connection *first = NULL;
    char element[24];

    for (int i = 0; i < used; i++) {
        connection *c = &connections[i];

        if (c->open && !c->cut && c->server == server &&
            strcmp(c->blocked_on, key) == 0 &&
            (first == NULL || c->blocked_since < first->blocked_since))
            first = c;
    }
    if (first != NULL && server_pop(server, key, element))
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

    sim_copy(c->blocked_on, sizeof(c->blocked_on), key);
    if (server_pop(c->server, key, element)) {
        serve_blocked(c, element);
        return;
    }
    c->blocked_since = ++blockings;
    sim_at(sim_now() + (int64_t)(strtod(seconds, NULL) * 1000) + 1, unblock, c,
           c->blocked_since);
}

/* "*3\r\n", "$5\r\n": the number, and what comes after. */
static char *parse_count(char *at, char kind, size_t *count)
{
    if (*at != kind)
        sim_fail("%s", "the client does not speak the protocol");
    for (*count = 0; *++at != '\r';)
        *count = *count * 10 + (size_t)(*at - '0');
    return at + 2;
}

/* Take one command apart.  Returns how many bytes it had. */
static size_t parse(char *bytes, char **argv, size_t *len, int *argc)
{
    size_t n;
    char *at = parse_count(bytes, '*', &n);

    if (n > ARGS_MAX)
        sim_fail("%s", "simulator: a command is too long");
    for (size_t i = 0; i < n; i++) {
        argv[i] = parse_count(at, '$', &len[i]);
        at = argv[i] + len[i];
        *at = '\0';
        at += 2;
    }
    *argc = (int)n;
    return (size_t)(at - bytes);
}

static void execute(message *m)
{
    int is_there = m->to->open && m->to->life == m->life;
    char *argv[ARGS_MAX];
    size_t len[ARGS_MAX], at = 0;

    while (at < m->len) {
        reply r = { .len = 0 };
        server_call call = { .server = m->server,
                             .argv = argv,
                             .len = len,
                             .sent = m->number,
                             .out = &r };

        at += parse(m->bytes + at, argv, len, &call.argc);
        if (strcmp(argv[0], "BLPOP") == 0) {
            if (is_there)
                block(m->to, argv[1], argv[call.argc - 1]);
            continue;
        }
        server_execute(&call);
        if (call.delay_ms > 0 && is_there)
            m->to->last = sim_now() + call.delay_ms;
        send_reply(m->to, m->life, &r, m->reply_lost);
    }
}

/* What comes to a silent server waits in its cable. */
static void deliver(void *what, int64_t n)
{
    message *m = what;
    int dead = server_is_dead(m->server);

    if (!dead && sim_now() < server_back(m->server)) {
        sim_at(server_back(m->server) + travel(), deliver, m, n);
        return;
    }
    if (!dead) {
        sums[SUM_OVERTAKEN] += m->number < newest[m->server];
        if (m->number > newest[m->server])
            newest[m->server] = m->number;
        execute(m);
    }
    free(m);
}

/* ---- Names: 10.0.0.n is server n, and so is every address ------------------------ */

static struct address {
    struct addrinfo info;
    struct sockaddr_in in;
} addresses[SERVERS_MAX];

int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **out)
{
    int n = host[7] - '1';
    struct address *a = &addresses[n];

    (void)port, (void)hints;
    if (strncmp(host, "10.0.0.", 7) != 0 || n < 0 || n >= SERVERS_MAX)
        sim_fail("simulator: nobody is called %s", host);
    a->in.sin_family = AF_INET;
    a->in.sin_port = htons((uint16_t)n);
    a->info.ai_family = AF_INET;
    a->info.ai_addr = (struct sockaddr *)&a->in;
    a->info.ai_addrlen = sizeof(a->in);
    *out = &a->info;
    return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

/* ---- What client/socket.c asks of the system ------------------------------------- */

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);

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
    while (i < used && connections[i].open)
        i++;
    if (i == CONNECTIONS_MAX)
        sim_fail("%s", "simulator: too many connections: are they closed?");
    if (i == used)
        used++;
    memset(&connections[i], 0, offsetof(connection, inbox));
    connections[i].open = 1;
    connections[i].life = ++lives;
    return FD_FIRST + i;
}

static void established(void *what, int64_t life)
{
    connection *c = what;

    if (!c->open || c->life != life)
        return;
    c->connecting = 0;
    if (c->failure == 0 && server_is_dead(c->server))
        c->failure = ECONNREFUSED;
    sim_wake(c->waiting);
}

/* A Unix socket is connected at once; to all others it takes its way. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    connection *c = connection_of(fd);
    int64_t when = sim_now() + travel();
    int n = 0;

    (void)len;
    if (to->sa_family == AF_INET)
        n = ntohs(((const struct sockaddr_in *)(const void *)to)->sin_port);
    c->server = n;
    if (sim_strikes(SIM_REFUSE))
        c->failure = ECONNREFUSED;
    errno = ECONNREFUSED;
    if (to->sa_family == AF_UNIX)
        return c->failure != 0 || server_is_dead(n) ? -1 : 0;
    if (!server_is_dead(n) && when < server_back(n))
        when = server_back(n);
    c->connecting = 1;
    sim_at(when, established, c, c->life);
    errno = EINPROGRESS;
    return -1;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    (void)level, (void)name;
    memcpy(value, &connection_of(fd)->failure, *len);
    return 0;
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
    int64_t number = ++numbers;
    message *m;

    if (sim_strikes(SIM_CUT_REQUEST)) {
        send_back(c, NULL, 0);
        return;
    }
    if (sim_strikes(SIM_SWALLOW))
        return;
    m = new_message(c, data, len, number);
    if (sim_strikes(SIM_CUT_REPLY))
        m->reply_lost = 1;
    else if (sim_strikes(SIM_SWALLOW))
        m->reply_lost = 2;
    if (sim_strikes(SIM_DUPLICATE))
        sim_at(sim_now() + sim_between(0, 200), deliver,
               new_message(c, data, len, number), 0);
    sim_at(arrival(c), deliver, m, 0);
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
    if (!c->cut && sim_strikes(SIM_CUT_BEFORE)) {
        c->cut = 1;
        errno = ECONNRESET;
        return sim_chance(500) ? (ssize_t)(len / 2) : -1;
    }
    if (!c->cut)
        dispatch(c, data, len);
    return (ssize_t)len;
}

short network_ready(int fd, short events)
{
    const connection *c = connection_of(fd);
    short all = 0;

    if (c->connecting)
        return 0;
    all |= POLLOUT;
    if (c->len > 0 || c->cut || c->failure != 0)
        all |= POLLIN;
    return events & all;
}

void network_set_waiting(int fd, sim_task *task)
{
    connection_of(fd)->waiting = task;
}

static void await(connection *c, int64_t until)
{
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
        await(c, sim_now() + c->limit_ms);
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

int network_close(int fd)
{
    connection *c = connection_of(fd);

    c->open = 0;
    while (c->first != NULL) {
        message *m = c->first;

        c->first = m->next;
        free(m);
    }
    return 0;
}

/* ---- The world --------------------------------------------------------------------- */

void network_begin(void)
{
    for (int i = 0; i < used; i++) {
        if (connections[i].open)
            sim_fail("connection %d was never closed", i);
    }
    used = 0;
    numbers = 0;
    memset(newest, 0, sizeof(newest));
}

int64_t network_sent(void)
{
    return numbers;
}

void network_cut(int server)
{
    for (int i = 0; i < used; i++) {
        connection *c = &connections[i];

        if (!c->open || c->server != server || c->connecting)
            continue;
        c->blocked_on[0] = '\0';
        cut(c);
    }
}
