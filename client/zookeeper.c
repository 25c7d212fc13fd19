/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper.c - one session with ZooKeeper, and another when it has ended
 *
 * The only file that knows ZooKeeper's C client.  That has two threads of its
 * own for each session; what they call here takes the mutex, notes and wakes,
 * and nothing else.  The mutex is never held while the C client is called.
 */
#ifdef RF_ZOOKEEPER

#define THREADED /* what libzookeeper-mt is */
#include "zookeeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#define NAP_MS    1000 /* a suspended machine is noticed after this at most */
#define HOSTS_MAX (RF__NODES_MAX * 264 + 512)

typedef struct session {
    rf__zoo *zoo;
    zhandle_t *handle; /* NULL: being made */
    long number;
    int session_ms;
    int64_t sure_ms; /* the servers keep it until then */
    int connected;
    int over;   /* nothing more can be asked in it          */
    int denied; /* the servers don't take us for who we are */
    int users;  /* who is inside the C client just now      */
    rf__zoo_call *calls;
} session;

struct rf__zoo_call {
    rf__zoo_call *next;
    session *session; /* NULL: never sent, or the session is gone */
    rf__zoo_op op;
    int done, forgotten;
    int64_t sent_ms;
    int code; /* the C client's, or ZSYSTEMERROR when memory ran out */
    rf__zoo_reply reply;
};

struct rf__zoo {
    rf__service service;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    session *session; /* NULL: none */
    long sessions;    /* so many there were */
    int happened;     /* eventfd */
};

rf__zoo *rf__zoo_new(const rf__service *service)
{
    rf__zoo *z = calloc(1, sizeof(*z));

    if (z == NULL)
        return NULL;
    z->happened = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (z->happened < 0) {
        free(z);
        return NULL;
    }
    z->service = *service;
    pthread_mutex_init(&z->mutex, NULL);
    rf__cond_init(&z->changed);
    return z;
}

rf__zoo *rf__zoo_only(const rf__zoo *z, size_t server)
{
    rf__zoo *one = rf__zoo_new(&z->service);

    if (one == NULL)
        return NULL;
    one->service.node[0] = z->service.node[server];
    one->service.n = 1;
    return one;
}

const rf__service *rf__zoo_service(const rf__zoo *z)
{
    return &z->service;
}

/* ---- What the C client's threads call ------------------------------------------- */

static void tell_waiter(rf__zoo *z)
{
    static const uint64_t one = 1;

    if (write(z->happened, &one, sizeof(one)) < 0) {
        /* It is full: the wait is about to end anyway. */
    }
}

static void on_event(zhandle_t *handle, int type, int state, const char *path,
                     void *context)
{
    session *s = context;
    rf__zoo *z = s->zoo;

    (void)path;
    pthread_mutex_lock(&z->mutex);
    if (type == ZOO_SESSION_EVENT) {
        s->connected = state == ZOO_CONNECTED_STATE;
        s->denied |= state == ZOO_AUTH_FAILED_STATE;
        s->over |= s->denied || state == ZOO_EXPIRED_SESSION_STATE;
        if (s->connected)
            s->session_ms = zoo_recv_timeout(handle);
        pthread_cond_broadcast(&z->changed);
    }
    tell_waiter(z);
    pthread_mutex_unlock(&z->mutex);
}

/* With the mutex held. */
static void unlink_call(rf__zoo_call *call)
{
    rf__zoo_call **at = &call->session->calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call->session = NULL;
}

static void free_call(rf__zoo_call *call)
{
    free(call->reply.names);
    free(call);
}

/*
 * A write is done by the leader of the servers, and only in a session that it
 * keeps.  A server that answers reads and pings may be cut off from it.
 */
static void note_life(session *s, const rf__zoo_call *call, int code)
{
    int is_write = call->op == RF__ZOO_CREATE || call->op == RF__ZOO_SET ||
                   call->op == RF__ZOO_DELETE;

    if (is_write && (code == ZOK || code == ZNONODE) &&
        s->sure_ms < call->sent_ms + s->session_ms)
        s->sure_ms = call->sent_ms + s->session_ms;
}

/* With the mutex held. */
static void finish(rf__zoo *z, rf__zoo_call *call, int code)
{
    note_life(call->session, call, code);
    call->code = code;
    call->done = 1;
    unlink_call(call);
    if (call->forgotten)
        free_call(call);
    else
        pthread_cond_broadcast(&z->changed);
}

static void take_stat(rf__zoo_call *call, const struct Stat *stat)
{
    rf__zoo_reply *reply = &call->reply;

    if (stat == NULL)
        return;
    reply->is_ours = stat->ephemeralOwner ==
                     zoo_client_id(call->session->handle)->client_id;
    reply->czxid = stat->czxid;
    reply->pzxid = stat->pzxid;
    reply->made_ms = stat->ctime;
    reply->set_ms = stat->mtime;
}

static void take_text(rf__zoo_reply *reply, const char *text, size_t len)
{
    if (len >= sizeof(reply->text))
        len = sizeof(reply->text) - 1;
    memcpy(reply->text, text, len);
    reply->text[len] = '\0';
}

/* 0: out of memory. */
static int take_names(rf__zoo_reply *reply, const struct String_vector *all)
{
    size_t size = 1;
    char *at;

    for (int i = 0; i < all->count; i++)
        size += strlen(all->data[i]) + 1;
    at = reply->names = malloc(size);
    if (at == NULL)
        return 0;
    for (int i = 0; i < all->count; i++) {
        size = strlen(all->data[i]) + 1;
        memcpy(at, all->data[i], size);
        at += size;
    }
    reply->n = (size_t)all->count;
    return 1;
}

/* The call stays until it is finished: the C client answers each only once. */
static rf__zoo *begin_answer(const void *data)
{
    const rf__zoo_call *call = data;
    rf__zoo *z = call->session->zoo;

    pthread_mutex_lock(&z->mutex);
    return z;
}

static void on_done(int code, const void *data)
{
    rf__zoo *z = begin_answer(data);

    finish(z, (rf__zoo_call *)data, code);
    pthread_mutex_unlock(&z->mutex);
}

static void on_stat(int code, const struct Stat *stat, const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;

    take_stat(call, stat);
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

static void on_text(int code, const char *text, const void *data)
{
    (void)text;
    on_done(code, data);
}

static void on_created(int code, const char *path, const struct Stat *stat,
                       const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;
    const char *name = path != NULL ? strrchr(path, '/') : NULL;

    take_stat(call, stat);
    if (name != NULL)
        take_text(&call->reply, name + 1, strlen(name + 1));
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

static void on_data(int code, const char *text, int len,
                    const struct Stat *stat, const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;

    take_stat(call, stat);
    if (text != NULL && len > 0)
        take_text(&call->reply, text, (size_t)len);
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

static void on_names(int code, const struct String_vector *names,
                     const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;

    if (code == ZOK && names != NULL && !take_names(&call->reply, names))
        code = ZSYSTEMERROR;
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

static int is_open(const struct ACL_vector *rights)
{
    int open = 0;

    for (int i = 0; i < rights->count; i++)
        open |= strcmp(rights->data[i].id.scheme, "world") == 0 &&
                (rights->data[i].perms & ~ZOO_PERM_READ) != 0;
    return open;
}

static void on_rights(int code, struct ACL_vector *rights, struct Stat *stat,
                      const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;

    (void)stat;
    call->reply.is_open = code == ZOK && rights != NULL && is_open(rights);
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

/* "server.1=host:port:port...", one a line; nothing where one stands alone. */
static size_t count_servers(const char *text, size_t len)
{
    static const char word[] = "server.";
    size_t n = 0, size = sizeof(word) - 1;

    for (size_t i = 0; i + size <= len; i++)
        n += (i == 0 || text[i - 1] == '\n') &&
             memcmp(text + i, word, size) == 0;
    return n;
}

static void on_config(int code, const char *text, int len,
                      const struct Stat *stat, const void *data)
{
    rf__zoo *z = begin_answer(data);
    rf__zoo_call *call = (rf__zoo_call *)data;

    (void)stat;
    if (text != NULL && len > 0)
        call->reply.n = count_servers(text, (size_t)len);
    finish(z, call, code);
    pthread_mutex_unlock(&z->mutex);
}

/* What it would say on the standard error of a program that is not its own. */
static void on_log(const char *message)
{
    (void)message;
}

/* ---- Sessions --------------------------------------------------------------------- */

/* host:port,host:port.../chroot; an IPv6 address is not bracketed here. */
static void write_hosts(const rf__service *service, char out[HOSTS_MAX])
{
    int len = 0;

    for (size_t i = 0; i < service->n; i++)
        len += snprintf(out + len, HOSTS_MAX - (size_t)len, "%s%s:%d",
                        i > 0 ? "," : "", service->node[i].host,
                        service->node[i].port);
    if (service->name[0] != '\0')
        snprintf(out + len, HOSTS_MAX - (size_t)len, "/%s", service->name);
}

static int has_user(const rf__zoo *z)
{
    return z->service.node[0].user[0] != '\0';
}

static int say_who(const rf__zoo *z, zhandle_t *handle)
{
    const rf__url *who = &z->service.node[0];
    char text[sizeof(who->user) + sizeof(who->password)];
    int len, code;

    if (!has_user(z))
        return ZOK;
    len = snprintf(text, sizeof(text), "%s:%s", who->user, who->password);
    code = zoo_add_auth(handle, "digest", text, len, NULL, NULL);
    explicit_bzero(text, sizeof(text));
    return code;
}

/*
 * Without the mutex: names are looked up.  The caller's signals are none of the
 * C client's threads' business: who waits for one would never get it.
 */
static zhandle_t *make_handle(rf__zoo *z, session *s, int timeout_ms)
{
    char hosts[HOSTS_MAX];
    sigset_t all, before;
    zhandle_t *handle;

    write_hosts(&z->service, hosts);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = 0;
    handle = zookeeper_init2(hosts, on_event, timeout_ms, NULL, s,
                             ZOO_NO_LOG_CLIENTENV, on_log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (handle == NULL || say_who(z, handle) == ZOK)
        return handle;
    zookeeper_close(handle);
    errno = ENOMEM;
    return NULL;
}

/* With the mutex held; gives it up meanwhile. */
static rf_status begin_session(rf__zoo *z, int64_t ttl_ms, rf__error *error)
{
    session *s = calloc(1, sizeof(*s));
    zhandle_t *handle;
    int failure;

    if (s == NULL) {
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    s->zoo = z;
    s->number = ++z->sessions;
    z->session = s;
    pthread_mutex_unlock(&z->mutex);
    handle = make_handle(z, s, ttl_ms < 1 ? 1 : (int)ttl_ms);
    failure = errno;
    pthread_mutex_lock(&z->mutex);
    s->handle = handle;
    pthread_cond_broadcast(&z->changed);
    if (handle != NULL)
        return RF_OK;
    z->session = NULL;
    free(s);
    rf__set_error(error, "ZooKeeper: %s", strerror(failure));
    return failure == ENOMEM ? RF_NOMEM : RF_RETRY;
}

/* With the mutex held; gives it up meanwhile. */
static void end_session(rf__zoo *z)
{
    session *s = z->session;

    z->session = NULL;
    while (s->users > 0)
        pthread_cond_wait(&z->changed, &z->mutex);
    pthread_mutex_unlock(&z->mutex);
    zookeeper_close(s->handle);
    pthread_mutex_lock(&z->mutex);
    /* Its threads are gone, and who was not answered won't be. */
    while (s->calls != NULL)
        finish(z, s->calls, ZCLOSING);
    free(s);
}

static void nap(rf__zoo *z, int left_ms)
{
    rf__cond_wait_ms(&z->changed, &z->mutex,
                     left_ms < NAP_MS ? left_ms : NAP_MS);
}

rf_status rf__zoo_ready(rf__zoo *z, int64_t ttl_ms, int64_t deadline_ms,
                        rf__error *error)
{
    rf_status status = RF_OK;
    int left_ms, denied = 0;

    pthread_mutex_lock(&z->mutex);
    while (status == RF_OK) {
        session *s = z->session;

        if (s != NULL && s->handle != NULL && s->connected && !s->over)
            break;
        left_ms = rf__left_ms(deadline_ms);
        if (denied || left_ms == 0)
            status = denied ? RF_MISUSE : RF_RETRY;
        else if (s == NULL)
            status = begin_session(z, ttl_ms, error);
        else if (s->handle != NULL && s->over) {
            denied = s->denied;
            end_session(z);
        } else
            nap(z, left_ms);
    }
    if (status == RF_MISUSE)
        rf__set_error(error, "ZooKeeper does not accept the user");
    else if (status == RF_RETRY && left_ms == 0)
        rf__set_error(error, "no ZooKeeper server has answered");
    pthread_mutex_unlock(&z->mutex);
    return status;
}

rf__zoo_life rf__zoo_session(rf__zoo *z)
{
    rf__zoo_life life = { 0, 0, 0 };

    pthread_mutex_lock(&z->mutex);
    if (z->session != NULL && !z->session->over) {
        life.number = z->session->number;
        life.session_ms = z->session->session_ms;
        life.sure_ms = z->session->sure_ms;
    }
    pthread_mutex_unlock(&z->mutex);
    return life;
}

void rf__zoo_free(rf__zoo *z)
{
    pthread_mutex_lock(&z->mutex);
    if (z->session != NULL)
        end_session(z);
    pthread_mutex_unlock(&z->mutex);
    pthread_cond_destroy(&z->changed);
    pthread_mutex_destroy(&z->mutex);
    close(z->happened);
    explicit_bzero(&z->service, sizeof(z->service));
    free(z);
}

/* ---- Requests ----------------------------------------------------------------------- */

static int request(const rf__zoo *z, zhandle_t *handle, rf__zoo_call *call,
                   const char *path, const char *text)
{
    const struct ACL_vector *who = has_user(z) ? &ZOO_CREATOR_ALL_ACL
                                               : &ZOO_OPEN_ACL_UNSAFE;
    int len = text != NULL ? (int)strlen(text) : 0;

    switch (call->op) {
    case RF__ZOO_CREATE:
        return zoo_acreate2(handle, path, text, len, who,
                            ZOO_EPHEMERAL_SEQUENTIAL, on_created, call);
    case RF__ZOO_FOLDER:
        return zoo_acreate(handle, path, NULL, -1, who, ZOO_CONTAINER, on_text,
                           call);
    case RF__ZOO_LIST:
        return zoo_aget_children(handle, path, 0, on_names, call);
    case RF__ZOO_SYNC: return zoo_async(handle, path, on_text, call);
    case RF__ZOO_GET: return zoo_aget(handle, path, 0, on_data, call);
    case RF__ZOO_WATCH:
        return zoo_awget(handle, path, on_event, call->session, on_data, call);
    case RF__ZOO_SET:
        return zoo_aset(handle, path, text, len, -1, on_stat, call);
    case RF__ZOO_DELETE: return zoo_adelete(handle, path, -1, on_done, call);
    case RF__ZOO_RIGHTS: return zoo_aget_acl(handle, path, on_rights, call);
    case RF__ZOO_CONFIG: return zoo_agetconfig(handle, 0, on_config, call);
    }
    return ZBADARGUMENTS;
}

rf__zoo_call *rf__zoo_send(rf__zoo *z, long number, rf__zoo_op op,
                           const char *path, const char *text)
{
    rf__zoo_call *call = calloc(1, sizeof(*call));
    session *s;
    int code;

    if (call == NULL)
        return NULL;
    call->op = op;
    call->sent_ms = rf__now_ms();
    pthread_mutex_lock(&z->mutex);
    s = z->session;
    if (s == NULL || s->number != number || s->handle == NULL || s->over) {
        call->code = ZSESSIONEXPIRED;
        call->done = 1;
        pthread_mutex_unlock(&z->mutex);
        return call;
    }
    call->session = s;
    call->next = s->calls;
    s->calls = call;
    s->users++;
    pthread_mutex_unlock(&z->mutex);
    code = request(z, s->handle, call, path, text);
    pthread_mutex_lock(&z->mutex);
    /* Not taken: then nobody else will answer it. */
    if (code != ZOK)
        finish(z, call, code);
    s->users--;
    pthread_cond_broadcast(&z->changed);
    pthread_mutex_unlock(&z->mutex);
    return call;
}

void rf__zoo_forget(rf__zoo *z, rf__zoo_call *call)
{
    if (call == NULL)
        return;
    pthread_mutex_lock(&z->mutex);
    call->forgotten = 1;
    if (call->done)
        free_call(call);
    pthread_mutex_unlock(&z->mutex);
}

/* Where does this leave who asked? */
static rf_status understand(int code, rf__zoo_reply *reply, rf__error *error)
{
    switch (code) {
    case ZOK: reply->code = RF__ZOO_DONE; return RF_OK;
    case ZNONODE: reply->code = RF__ZOO_NONE; return RF_OK;
    case ZNODEEXISTS: reply->code = RF__ZOO_EXISTS; return RF_OK;
    default: break;
    }
    if (code == ZSYSTEMERROR || code == ZMARSHALLINGERROR) {
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    rf__set_error(error, "ZooKeeper: %s", zerror(code));
    switch (code) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZCLOSING: return RF_UNKNOWN;
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZINVALIDSTATE:
    case ZTHROTTLEDOP:
    case ZNOTREADONLY: return RF_RETRY;
    default: return RF_MISUSE;
    }
}

rf_status rf__zoo_answer(rf__zoo *z, rf__zoo_call *call, int64_t deadline_ms,
                         rf__zoo_reply *reply, rf__error *error)
{
    rf_status status;
    int left_ms;

    memset(reply, 0, sizeof(*reply));
    if (call == NULL) {
        rf__set_error(error, "out of memory");
        return RF_NOMEM;
    }
    pthread_mutex_lock(&z->mutex);
    while (!call->done && (left_ms = rf__left_ms(deadline_ms)) > 0)
        nap(z, left_ms);
    if (!call->done) {
        call->forgotten = 1;
        pthread_mutex_unlock(&z->mutex);
        rf__set_error(error, "ZooKeeper has not answered in time");
        return RF_UNKNOWN;
    }
    pthread_mutex_unlock(&z->mutex);
    *reply = call->reply;
    status = understand(call->code, reply, error);
    free(call);
    return status;
}

/* ---- Watching ------------------------------------------------------------------------- */

void rf__zoo_begin_wait(rf__zoo *z)
{
    uint64_t times;

    if (read(z->happened, &times, sizeof(times)) < 0) {
        /* Nothing has happened yet. */
    }
}

int rf__zoo_wait(rf__zoo *z, int cancel_fd, int64_t until_ms)
{
    struct pollfd p[2] = { { .fd = z->happened, .events = POLLIN },
                           { .fd = cancel_fd, .events = POLLIN } };
    int left_ms;

    while ((left_ms = rf__left_ms(until_ms)) > 0) {
        if (poll(p, 2, left_ms) > 0)
            return p[0].revents != 0;
    }
    return 0;
}

#endif /* RF_ZOOKEEPER */
