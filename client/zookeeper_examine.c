/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_examine.c - what a person wants to know of a ZooKeeper before locks
 * live in it
 *
 * Judges; decides nothing.  Each server of the URL is asked by itself for what
 * it says of itself ("srvr", the word that ZooKeeper always answers); then all of
 * them together, as locks are.  What can't be asked is said to be unknown, and
 * the rest goes on.
 */
#ifdef RF_ZOOKEEPER

#include "zookeeper_examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "socket.h"
#include "trial.h"

/* What a server says of itself is some 300 bytes. */
#define SAID_MAX 4096

/* Of the sessions that ask. */
#define TTL_MS 5000

/* Sessions that are asked for to see what the servers make of it. */
#define SHORT_MS 1000
#define LONG_MS  RF_TTL_MAX_MS

/* A process that died keeps its locks for longer than most would think. */
#define LATE_MS 10000

#define FOLDERS_MAX 100 /* looked at; more would take too long */

typedef struct looking {
    rf__zoo *zoo;
    rf__source *source;
    const char *prefix;
    const rf__examination *e;
    char where[300];
    size_t answered; /* how many servers have             */
    int serves;      /* one of them is, or may be, serving */
} looking;

static const rf__verdict fine = { RF_FINE, "", "" };

static void tell(const looking *l, const char *subject, const char *found,
                 rf__verdict v)
{
    rf__verdict_tell(l->e, l->where, subject, found, v);
}

static int64_t limit_ms(const looking *l)
{
    return rf__now_ms() + l->e->timeout_ms;
}

/* ---- A server ----------------------------------------------------------- */

/* A word, and all that is answered until the server hangs up. */
static int converse(rf__socket *s, const char *word, char said[SAID_MAX],
                    int64_t deadline_ms)
{
    size_t got, used = 0;
    int failure = rf__socket_send(s, word, strlen(word), deadline_ms, &got);

    while (failure == 0 && used < SAID_MAX - 1) {
        failure = rf__socket_recv(s, said + used, SAID_MAX - 1 - used,
                                  deadline_ms, &got);
        if (failure != 0 || got == 0)
            break;
        used += got;
    }
    said[used] = '\0';
    return failure;
}

static rf_status ask_server(const looking *l, const rf__url *server,
                            char said[SAID_MAX])
{
    int64_t deadline_ms = limit_ms(l);
    rf__error *error = l->source->error;
    rf__socket s;
    rf_status status = rf__socket_connect(&s, server, l->e->timeout_ms,
                                          deadline_ms, error);
    int failure;

    if (status != RF_OK)
        return status;
    failure = converse(&s, "srvr", said, deadline_ms);
    if (failure != 0)
        rf__set_error(error, "%s", rf__socket_reason(&s, failure));
    rf__socket_close(&s);
    return failure == 0 ? RF_OK : rf__socket_status(failure);
}

/* What stands behind a label, up to the end of the word; "" when it doesn't. */
static void word_behind(const char *said, const char *label, char out[64])
{
    const char *at = strstr(said, label);

    out[0] = '\0';
    if (at != NULL)
        (void)snprintf(out, 64, "%.*s",
                       (int)strcspn(at + strlen(label), "-,\n"),
                       at + strlen(label));
}

static const rf__verdict in_no_majority = {
    RF_CRITICAL,
    "This server is in no majority: it grants nothing, and nothing can be "
    "given back through it.",
    "Bring back the servers that are away; see \"zkServer.sh status\" on each."
};

static void look_at_version(const looking *l, const char *said)
{
    static const rf__verdict old = { RF_CRITICAL,
                                     "Locks need the containers of ZooKeeper "
                                     "3.5.1.",
                                     "Upgrade ZooKeeper." };
    char version[64];

    word_behind(said, "Zookeeper version: ", version);
    if (version[0] != '\0')
        tell(l, "version", version,
             rf__version_is_below(version, 3, 5) ? old : fine);
}

/* A session is asked for, which only a server in a majority can make. */
static void try_server(looking *l, size_t server)
{
    static const rf__verdict unknown = {
        RF_NOTICE,
        "It serves, but whether it leads is not known: something else than "
        "ZooKeeper answers, or stands between.",
        "Let the word \"srvr\" and its answer pass, to see it here."
    };
    rf__zoo *one = rf__zoo_only(l->zoo, server);
    rf__error ignored = { .text = "" };
    rf_status status = one == NULL
                           ? RF_NOMEM
                           : rf__zoo_ready(one, TTL_MS, limit_ms(l), &ignored);

    if (one != NULL)
        rf__zoo_free(one);
    l->serves |= status == RF_OK;
    if (status == RF_OK)
        tell(l, "role", "unknown", unknown);
    else
        tell(l, "role", "gives no session", in_no_majority);
}

static void look_at_role(looking *l, const char *said, size_t server)
{
    char mode[64];

    word_behind(said, "Mode: ", mode);
    if (strncmp(mode, "read", 4) == 0) {
        tell(l, "role", "read-only", in_no_majority);
    } else if (mode[0] != '\0') {
        l->serves = 1;
        tell(l, "role", mode, fine);
    } else if (strstr(said, "not currently serving") != NULL) {
        tell(l, "role", "serves nobody", in_no_majority);
    } else {
        try_server(l, server);
    }
}

static void look_at_server(looking *l, size_t i)
{
    static const rf__verdict away = {
        RF_WARNING, "It can't be asked; locks need those that are left.",
        "Look whether it runs and can be reached."
    };
    const rf__url *server = &rf__zoo_service(l->zoo)->node[i];
    char said[SAID_MAX];

    (void)snprintf(l->where, sizeof(l->where), "%s:%d", server->host,
                   server->port);
    if (ask_server(l, server, said) != RF_OK) {
        tell(l, "server", l->source->error->text, away);
        return;
    }
    l->answered++;
    look_at_version(l, said);
    look_at_role(l, said, i);
}

/* ---- All of them -------------------------------------------------------- */

static rf_status ask(const looking *l, rf__zoo_op op, const char *path,
                     rf__zoo_reply *reply)
{
    int64_t deadline_ms = limit_ms(l);
    rf__error *error = l->source->error;
    rf_status status = rf__zoo_ready(l->zoo, TTL_MS, deadline_ms, error);
    rf__zoo_call *call;

    memset(reply, 0, sizeof(*reply));
    if (status != RF_OK)
        return status;
    call = rf__zoo_send(l->zoo, rf__zoo_session(l->zoo).number, op, path, NULL);
    status = rf__zoo_answer(l->zoo, call, deadline_ms, reply, error);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static void look_at_size(const looking *l)
{
    static const rf__verdict unknown = {
        RF_NOTICE, "How many servers there are can't be asked.",
        "Let the user read /zookeeper/config."
    };
    size_t named = rf__zoo_service(l->zoo)->n;
    rf__zoo_reply config;
    char found[64];

    if (ask(l, RF__ZOO_CONFIG, "", &config) != RF_OK) {
        tell(l, "members", l->source->error->text, unknown);
        return;
    }
    /* One that stands alone needs no list. */
    if (config.n == 0)
        config.n = 1;
    (void)snprintf(found, sizeof(found), "%zu, named in the URL: %zu", config.n,
                   named);
    tell(l, "members", found, rf__verdict_on_members(config.n, named));
}

static void look_at_secrets(const looking *l)
{
    static const rf__verdict open = {
        RF_NOTICE,
        "Whoever is on the way can read the password and take locks away.",
        "A network that is closed, or a tunnel: Debian's client has no TLS."
    };
    const char *user = rf__zoo_service(l->zoo)->node[0].user;

    tell(l, "tls", "none", open);
    tell(l, "user", *user != '\0' ? user : "none", fine);
}

/* ---- Sessions ----------------------------------------------------------- */

/* How long a session the servers allow who asks for ttl_ms. */
static rf_status try_session(const looking *l, int64_t ttl_ms, int *allowed_ms)
{
    rf__zoo *z = rf__zoo_new(rf__zoo_service(l->zoo));
    rf_status status;

    if (z == NULL) {
        rf__set_error(l->source->error, "out of memory");
        return RF_NOMEM;
    }
    status = rf__zoo_ready(z, ttl_ms, limit_ms(l), l->source->error);
    *allowed_ms = rf__zoo_session(z).session_ms;
    rf__zoo_free(z);
    return status;
}

static rf__verdict judge_sessions(int least_ms, int most_ms)
{
    static const rf_acquire_options usual = RF_ACQUIRE_INIT;
    static const rf__verdict shortened = {
        RF_NOTICE,
        "A lock is granted for no longer than that, also when it is asked for "
        "30 s, as it is when nobody says otherwise. It has to be renewed "
        "sooner, as a keeper does.",
        "maxSessionTimeout in zoo.cfg, or a shorter ttl_ms."
    };
    static const rf__verdict late = {
        RF_NOTICE,
        "A process that dies keeps its locks for that long at the least, "
        "however short they were.",
        "A smaller minSessionTimeout or tickTime in zoo.cfg."
    };

    if (most_ms < usual.ttl_ms)
        return shortened;
    return least_ms > LATE_MS ? late : fine;
}

static void look_at_sessions(const looking *l)
{
    static const rf__verdict unknown = {
        RF_NOTICE, "How long sessions may be can't be asked.",
        "Ask once more when the servers are at rest."
    };
    int least_ms = 0, most_ms = 0;
    char found[96];

    if (try_session(l, SHORT_MS, &least_ms) != RF_OK ||
        try_session(l, LONG_MS, &most_ms) != RF_OK) {
        tell(l, "sessions", l->source->error->text, unknown);
        return;
    }
    (void)snprintf(found, sizeof(found),
                   "%d ms when asked for %d, %d ms at the most", least_ms,
                   SHORT_MS, most_ms);
    tell(l, "sessions", found, judge_sessions(least_ms, most_ms));
}

/* ---- A lock, and who may take it away ----------------------------------- */

static void look_at_numbers(const looking *l, rf_fence newest)
{
    static const rf__verdict high = {
        RF_WARNING,
        "The database takes numbers up to 2^53 - 1 and refuses those above "
        "(RF004). Each election of a leader takes 2^32 of them.",
        "A smaller base=n, when \"ringfence heal\" without any tells one; else "
        "a new ensemble, which begins anew."
    };
    char found[64];

    (void)snprintf(found, sizeof(found), "%lld, of them base: %lld",
                   (long long)newest, (long long)rf__zoo_service(l->zoo)->base);
    tell(l, "numbers", found, newest > RF_FENCE_MAX / 4 * 3 ? high : fine);
}

static rf_status look_at_permissions(const looking *l)
{
    static const rf__verdict none = {
        RF_CRITICAL, "Locks can't be taken and given back.",
        "What ZooKeeper says; its user needs all permissions on the folders "
        "(docs/zookeeper.md)."
    };
    rf__trial trial;
    rf_status status = rf__trial_of_locks(l->source, l->e, l->where, none,
                                          &trial);
    rf__zoo_reply ignored;
    rf__zoo_path folder;

    if (status != RF_OK || trial.fence == 0)
        return status;
    look_at_numbers(l, trial.fence);
    /* The servers would remove it by and by. */
    rf__zoo_folder(&folder, l->prefix, trial.name);
    (void)ask(l, RF__ZOO_DELETE, folder.text, &ignored);
    return RF_OK;
}

typedef struct folders {
    size_t n, open;
} folders;

/* RF_MISUSE: not even that is told to us, so it is not open to all. */
static rf_status look_into(const looking *l, const char *path, folders *seen)
{
    rf__zoo_reply rights;
    rf_status status = ask(l, RF__ZOO_RIGHTS, path, &rights);

    seen->n += status == RF_OK && rights.code == RF__ZOO_DONE;
    seen->open += (size_t)rights.is_open;
    return status == RF_MISUSE ? RF_OK : status;
}

/* Of the folder of all resources, and of the first of theirs. */
static rf_status look_into_all(const looking *l, folders *seen)
{
    rf__zoo_path path;
    rf__zoo_reply list;
    const char *name;
    rf_status status;

    rf__zoo_root(&path, l->prefix);
    status = look_into(l, path.text, seen);
    if (status != RF_OK)
        return status;
    status = ask(l, RF__ZOO_LIST, path.text, &list);
    name = list.names;
    for (size_t i = 0; status == RF_OK && i < list.n && i < FOLDERS_MAX; i++) {
        char resource[RF_RESOURCE_MAX + 1];

        if (rf__zoo_read_folder(name, resource)) {
            rf__zoo_folder(&path, l->prefix, resource);
            status = look_into(l, path.text, seen);
        }
        name += strlen(name) + 1;
    }
    free(list.names);
    return status;
}

/* Whoever may delete in a folder may take a lock away, whosever it is. */
static void look_at_rights(const looking *l)
{
    static const rf__verdict anybody = {
        RF_NOTICE,
        "Whoever reaches it can take locks away. The database still refuses "
        "those that are late.",
        "zookeeper://user:password@..., the same in every client: what is "
        "made then is that user's alone (docs/zookeeper.md)."
    };
    static const rf__verdict left_open = {
        RF_WARNING,
        "These were made without a user: whoever reaches ZooKeeper can take "
        "their locks away, in spite of ours. The database still refuses those "
        "that are late.",
        "In zkCli.sh: addauth digest user:password; setAcl -R /PREFIX "
        "auth::cdrwa"
    };
    static const rf__verdict unknown = { RF_NOTICE,
                                         "Who may do what can't be asked.",
                                         "Let the user read the folders." };
    int has_user = rf__zoo_service(l->zoo)->node[0].user[0] != '\0';
    folders seen = { 0, 0 };
    char found[96];

    if (look_into_all(l, &seen) != RF_OK) {
        tell(l, "rights", l->source->error->text, unknown);
        return;
    }
    (void)snprintf(found, sizeof(found), "%zu of %zu folders open to anybody",
                   seen.open, seen.n);
    if (seen.open == 0)
        tell(l, "rights", found, fine);
    else
        tell(l, "rights", found, has_user ? left_open : anybody);
}

rf_status rf__zoo_examine(rf__zoo *zoo, rf__source *source, const char *prefix,
                          const rf__examination *e)
{
    looking l = { .zoo = zoo, .source = source, .prefix = prefix, .e = e };
    rf_status status = RF_OK;

    for (size_t i = 0; i < rf__zoo_service(zoo)->n; i++)
        look_at_server(&l, i);
    if (l.answered == 0)
        return RF_RETRY;
    (void)snprintf(l.where, sizeof(l.where), "zookeeper");
    look_at_secrets(&l);
    /* Without a majority each would only wait for its time to be over. */
    if (!l.serves)
        return RF_OK;
    look_at_size(&l);
    look_at_sessions(&l);
    if (e->probe)
        status = look_at_permissions(&l);
    if (status == RF_OK)
        look_at_rights(&l);
    return status;
}

#endif /* RF_ZOOKEEPER */
