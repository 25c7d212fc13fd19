/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_source.c - ZooKeeper as a source of locks and fences
 *
 * A lock is the first of the numbered nodes in its resource's folder, and goes
 * with the session of its client.  The fence is the node's czxid: the number of
 * the transaction that made it, agreed on by a majority and never given twice.
 * It begins anew when the ensemble is rebuilt, and nobody can raise it: the base
 * in the URL is added to it.
 */
#ifdef RF_ZOOKEEPER

#include "zookeeper_source.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_turn.h"
#include "zookeeper_examine.h"
#include "zookeeper_line.h"
#include "zookeeper_nodes.h"

/* Of a session in which no lock was asked for yet. */
#define SESSION_MS 30000

/* Who waits comes back within this, or has given up. */
#define GRACE_MS 2000

typedef struct rf__zoo_source_t {
    rf__source base;
    rf__zoo_nodes *nodes;
    rf_fence numbers_from; /* the base of the URL */
} rf__zoo_source_t;

static rf__zoo_source_t *self(rf__source *s)
{
    return (rf__zoo_source_t *)s;
}

static rf_status fail(rf__source *base, rf_status status, const char *text)
{
    rf__set_error(base->error, "%s", text);
    return status;
}

/* ---- Requests ----------------------------------------------------------------------- */

/* One step: who asks, in which session, and until when. */
typedef struct step {
    rf__source *base;
    rf__zoo *zoo;
    const char *prefix, *resource;
    rf__zoo_life session;
    int64_t deadline_ms;
} step;

/*
 * A child of a fork has none of the C client's threads, and may have got locks
 * of the libraries below it in the hands of those: it could hang for ever.
 */
static rf_status check_process(rf__source *base)
{
    if (rf__zoo_nodes_is_ours(self(base)->nodes))
        return RF_OK;
    return fail(base, RF_MISUSE,
                "a forked child can't use ZooKeeper through its parent's "
                "client: fork first, then open one");
}

static rf_status begin(rf__source *base, const char *resource, int64_t ttl_ms,
                       int64_t deadline_ms, step *out)
{
    rf__zoo_source_t *s = self(base);
    rf_status status = check_process(base);

    if (status != RF_OK)
        return status;
    *out = (step){ .base = base,
                   .zoo = rf__zoo_of(s->nodes),
                   .prefix = rf__zoo_prefix(s->nodes),
                   .resource = resource,
                   .deadline_ms = deadline_ms };
    do {
        status = rf__zoo_ready(out->zoo, ttl_ms, deadline_ms, base->error);
        out->session = rf__zoo_session(out->zoo);
    } while (status == RF_OK && out->session.number == 0);
    return status;
}

static rf__zoo_call *send_at(const step *s, rf__zoo_op op, const char *path,
                             const char *text)
{
    return rf__zoo_send(s->zoo, s->session.number, op, path, text);
}

static rf_status answer(const step *s, rf__zoo_call *call, rf__zoo_reply *reply)
{
    return rf__zoo_answer(s->zoo, call, s->deadline_ms, reply, s->base->error);
}

/* A question or a change to a node by its name. */
static rf_status ask(const step *s, rf__zoo_op op, const char *name,
                     const char *text, rf__zoo_reply *reply)
{
    rf__zoo_path path;

    rf__zoo_in_folder(&path, s->prefix, s->resource, name);
    return answer(s, send_at(s, op, path.text, text), reply);
}

/* Nothing was to land that could be in doubt. */
static rf_status only_read(rf_status status)
{
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/*
 * The nodes of the resource, as they are now: a server that is behind is
 * brought up to date first.
 */
static rf_status list_nodes(const step *s, rf__zoo_reply *list)
{
    rf__zoo_path path;

    rf__zoo_folder(&path, s->prefix, s->resource);
    rf__zoo_forget(s->zoo, send_at(s, RF__ZOO_SYNC, path.text, NULL));
    return only_read(
        answer(s, send_at(s, RF__ZOO_LIST, path.text, NULL), list));
}

/* ---- What a node says --------------------------------------------------------------- */

/* Until it runs out, at the time now_ms of the leader's clock; -1: never. */
static int64_t left_ms(const rf__zoo_reply *node, int64_t now_ms)
{
    int64_t ttl_ms, session_ms, left;

    if (!rf__zoo_read_words(node->text, &ttl_ms, &session_ms))
        return -1;
    left = node->set_ms + ttl_ms - now_ms;
    return left < 0 ? 0 : left > ttl_ms ? ttl_ms : left;
}

/* ---- Our own nodes -------------------------------------------------------------------- */

/* From now on it is seen to that the node goes when its time is over. */
static rf_status note(const step *s, const rf__zoo_node *node)
{
    rf_status status = rf__zoo_nodes_put(self(s->base)->nodes, node);

    if (status == RF_NOMEM)
        return fail(s->base, status, "out of memory");
    if (status != RF_OK)
        return fail(s->base, status,
                    "its time is over, or the system gives no thread to see "
                    "to that");
    return RF_OK;
}

/* Take our node back.  What can't be done now is done later: 0. */
static int leave(const step *s, rf__zoo_node *node)
{
    rf__zoo_nodes *nodes = self(s->base)->nodes;
    rf__error told = *s->base->error;
    rf__zoo_reply reply;
    int is_gone = ask(s, RF__ZOO_DELETE, node->name, NULL, &reply) == RF_OK;

    if (is_gone) {
        rf__zoo_nodes_remove(nodes, node);
    } else {
        node->until_ms = rf__now_ms();
        (void)rf__zoo_nodes_put(nodes, node);
    }
    *s->base->error = told;
    return is_gone;
}

/* *made: it is there now, or was before; 0 when what it is to be in is not. */
static rf_status make_folder(const step *s, const char *path, int *made)
{
    rf__zoo_reply reply;
    rf_status status = answer(s, send_at(s, RF__ZOO_FOLDER, path, NULL),
                              &reply);

    *made = reply.code != RF__ZOO_NONE;
    return only_read(status);
}

/* The servers take folders away that are empty: also between these two. */
static rf_status make_folders(const step *s)
{
    rf__zoo_path root, folder;
    rf_status status;
    int made;

    rf__zoo_root(&root, s->prefix);
    rf__zoo_folder(&folder, s->prefix, s->resource);
    status = make_folder(s, root.text, &made);
    if (status == RF_OK && !made)
        return fail(s->base, RF_MISUSE,
                    "ZooKeeper: the node that the URL names is not there");
    return status == RF_OK ? make_folder(s, folder.text, &made) : status;
}

/* ---- Acquire ---------------------------------------------------------------------------- */

typedef struct turn {
    step step;
    rf__grant *grant;
    rf__zoo_node node; /* ours                          */
    int is_new;        /* it was made in this very call */
    rf__zoo_reply list;
    rf__zoo_line line;
} turn;

/*
 * Noted before it is sent: a node whose creation is never answered is found by
 * its holder and taken away when its time is over.
 */
static rf_status note_new(turn *t)
{
    rf__zoo_node *node = &t->node;

    memset(node, 0, sizeof(*node));
    memcpy(node->resource, t->grant->resource, strlen(t->grant->resource) + 1);
    memcpy(node->holder, t->grant->holder, RF_HOLDER_LEN + 1);
    node->session = t->step.session.number;
    node->until_ms = t->grant->sent_ms + t->grant->ttl_ms;
    return note(&t->step, node);
}

/* Both requests at once: the second is answered as things are after the first. */
static rf_status create_and_list(turn *t, rf__zoo_reply *made)
{
    char name[RF__ZOO_NAME_MAX], words[RF__ZOO_WORDS_MAX];
    rf__zoo_path path, folder;
    rf__zoo_call *create, *list;
    rf_status status;

    rf__zoo_first_part(name, t->grant->holder);
    rf__zoo_in_folder(&path, t->step.prefix, t->step.resource, name);
    rf__zoo_folder(&folder, t->step.prefix, t->step.resource);
    rf__zoo_write_words(words, t->grant->ttl_ms, t->step.session.session_ms);
    create = send_at(&t->step, RF__ZOO_CREATE, path.text, words);
    list = send_at(&t->step, RF__ZOO_LIST, folder.text, NULL);
    status = answer(&t->step, create, made);
    if (status != RF_OK || made->code != RF__ZOO_DONE) {
        rf__zoo_forget(t->step.zoo, list);
        return status;
    }
    return answer(&t->step, list, &t->list);
}

static rf_status keep_node(turn *t, const char *name, const rf__zoo_reply *node)
{
    snprintf(t->node.name, sizeof(t->node.name), "%s", name);
    t->node.czxid = node->czxid;
    t->node.made_ms = node->made_ms;
    return note(&t->step, &t->node);
}

static rf_status make_node(turn *t)
{
    rf__zoo_reply made = { .code = RF__ZOO_NONE };
    rf_status status = RF_OK, kept;

    for (int tries = 0; tries < 2 && made.code == RF__ZOO_NONE; tries++) {
        if (tries > 0)
            status = make_folders(&t->step);
        t->grant->sent_ms = rf__now_ms();
        if (status == RF_OK)
            status = note_new(t);
        if (status == RF_OK)
            status = create_and_list(t, &made);
        if (status != RF_OK)
            break;
    }
    if (made.code == RF__ZOO_DONE && made.text[0] != '\0') {
        t->is_new = 1;
        kept = keep_node(t, made.text, &made);
        return status == RF_OK ? kept : status;
    }
    if (status != RF_UNKNOWN)
        rf__zoo_nodes_remove(self(t->step.base)->nodes, &t->node);
    return status == RF_OK
               ? fail(t->step.base, RF_RETRY, "ZooKeeper took the folder away")
               : status;
}

/* Its creation was not answered: is it there? */
static rf_status find_node(turn *t)
{
    rf_status status = list_nodes(&t->step, &t->list);
    rf__zoo_reply node = { .code = RF__ZOO_NONE };

    if (status != RF_OK)
        return status;
    t->line = rf__zoo_line_up(&t->list, "", t->grant->holder);
    if (t->line.found != NULL)
        status = only_read(
            ask(&t->step, RF__ZOO_GET, t->line.found, NULL, &node));
    if (status != RF_OK)
        return status;
    if (node.code == RF__ZOO_DONE && node.is_ours)
        return keep_node(t, t->line.found, &node);
    free(t->list.names);
    t->list.names = NULL;
    return make_node(t);
}

/* Held by who has the first node. */
static rf_status busy(turn *t)
{
    rf__grant *grant = t->grant;
    rf__zoo_reply first;
    rf_status status = only_read(
        ask(&t->step, RF__ZOO_GET, t->line.first, NULL, &first));

    /* Just gone: ask again soon. */
    grant->busy_ms = 0;
    grant->busy_by = RF__OWNER_OURS;
    if (status == RF_OK && first.code == RF__ZOO_DONE)
        grant->busy_ms = left_ms(&first, t->node.made_ms);
    if (grant->busy_ms < 0)
        grant->busy_by = RF__OWNER_FOREIGN;
    /* Who waits stays in line, for as long as it takes to come back. */
    if (grant->wait_ms > 1 && grant->busy_by == RF__OWNER_OURS) {
        t->node.until_ms = rf__now_ms() + GRACE_MS;
        (void)rf__zoo_nodes_put(self(t->step.base)->nodes, &t->node);
    } else {
        (void)leave(&t->step, &t->node);
    }
    return status == RF_OK ? fail(t->step.base, RF_BUSY, "held by another")
                           : status;
}

/*
 * This holder has the lock already, by another client of its: the same grant,
 * as long as its session is sure to live.
 */
static rf_status replay(turn *t)
{
    int64_t ttl_ms, session_ms;
    rf__zoo_reply first;
    rf_status status = only_read(
        ask(&t->step, RF__ZOO_GET, t->line.first, NULL, &first));

    if (status != RF_OK)
        return status;
    if (!leave(&t->step, &t->node) || first.code != RF__ZOO_DONE ||
        !rf__zoo_read_words(first.text, &ttl_ms, &session_ms))
        return fail(t->step.base, RF_RETRY, "its lock has just ended");
    if (ttl_ms > session_ms)
        ttl_ms = session_ms;
    ttl_ms -= t->node.made_ms - first.set_ms;
    if (ttl_ms < t->grant->ttl_ms)
        t->grant->ttl_ms = ttl_ms;
    t->grant->fence = self(t->step.base)->numbers_from + first.czxid;
    snprintf(t->node.name, sizeof(t->node.name), "%s", t->line.first);
    t->node.czxid = first.czxid;
    t->node.is_granted = t->node.is_foreign = 1;
    t->node.until_ms = t->grant->sent_ms + t->grant->ttl_ms;
    return note(&t->step, &t->node);
}

/*
 * A node that was not made just now is written to: that it is still ours is for
 * the servers' leader to say, not for one that may be behind.
 */
static rf_status prove(turn *t)
{
    char words[RF__ZOO_WORDS_MAX];
    rf__zoo_reply set;
    rf_status status;

    t->grant->sent_ms = rf__now_ms();
    t->node.until_ms = t->grant->sent_ms + t->grant->ttl_ms;
    status = note(&t->step, &t->node);
    if (status != RF_OK)
        return status;
    rf__zoo_write_words(words, t->grant->ttl_ms, t->step.session.session_ms);
    status = ask(&t->step, RF__ZOO_SET, t->node.name, words, &set);
    if (status != RF_OK || set.code == RF__ZOO_DONE)
        return status;
    rf__zoo_nodes_remove(self(t->step.base)->nodes, &t->node);
    return fail(t->step.base, RF_RETRY, "our place in the line is gone");
}

static rf_status take(turn *t)
{
    rf_status status = RF_OK;

    if (t->node.is_granted) {
        t->grant->sent_ms = rf__now_ms();
        t->grant->ttl_ms = t->node.until_ms - t->grant->sent_ms;
    } else if (!t->is_new) {
        status = prove(t);
    }
    if (status != RF_OK)
        return status;
    t->node.is_granted = 1;
    t->grant->fence = self(t->step.base)->numbers_from + t->node.czxid;
    return note(&t->step, &t->node);
}

static rf_status decide(turn *t)
{
    t->line = rf__zoo_line_up(&t->list, t->node.name, t->grant->holder);
    if (t->line.own == NULL) {
        rf__zoo_nodes_remove(self(t->step.base)->nodes, &t->node);
        return fail(t->step.base, RF_RETRY, "our place in the line is gone");
    }
    if (t->line.first == t->line.own)
        return take(t);
    if (t->is_new &&
        strncmp(t->line.first, t->grant->holder, RF_HOLDER_LEN) == 0)
        return replay(t);
    return busy(t);
}

/*
 * The database knows greater numbers than ZooKeeper can give: the ensemble was
 * rebuilt, or another source had the resource before.
 */
static rf_status too_low(rf__source *base, rf_fence floor)
{
    rf__set_error(
        base->error,
        "ZooKeeper's numbers are below %lld, which the database knows: put "
        "base=%lld or more into the URL of every client",
        (long long)floor, (long long)floor);
    return RF_MISUSE;
}

/* Nothing is promised beyond what the servers keep a session for. */
static void shorten(rf__grant *grant, const step *s)
{
    if (grant->ttl_ms > s->session.session_ms)
        grant->ttl_ms = s->session.session_ms;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    turn t = { .grant = grant };
    rf_status status;

    if (grant->shared)
        return fail(base, RF_MISUSE, "zookeeper:// has no shared locks");
    grant->sent_ms = rf__now_ms();
    status = begin(base, grant->resource, grant->ttl_ms, deadline_ms, &t.step);
    if (status != RF_OK)
        return status;
    shorten(grant, &t.step);
    if (!rf__zoo_nodes_get(self(base)->nodes, grant->resource, grant->holder,
                           &t.node))
        status = make_node(&t);
    else if (t.node.name[0] == '\0')
        status = find_node(&t);
    else
        status = list_nodes(&t.step, &t.list);
    if (status == RF_OK)
        status = decide(&t);
    free(t.list.names);
    /* It says that nothing has landed. */
    if (status == RF_NOMEM && t.node.name[0] != '\0' && !t.node.is_granted)
        (void)leave(&t.step, &t.node);
    if (status == RF_OK && grant->fence <= floor) {
        (void)leave(&t.step, &t.node);
        return too_low(base, floor);
    }
    return status;
}

/* ---- Renew, reissue, release ---------------------------------------------------------------- */

/* Gone: and is somebody else there now? */
static rf_status lost(const step *s, rf__grant *grant)
{
    rf__zoo_reply list;

    grant->taken = list_nodes(s, &list) == RF_OK && list.n > 0;
    free(list.names);
    return fail(s->base, RF_LOST,
                grant->taken ? "another has the lock now"
                             : "the lock has run out, or its session has");
}

static int is_granted(rf__source *base, const rf__grant *grant,
                      rf__zoo_node *node)
{
    return rf__zoo_nodes_get(self(base)->nodes, grant->resource, grant->holder,
                             node) &&
           node->is_granted &&
           self(base)->numbers_from + node->czxid == grant->fence;
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    char words[RF__ZOO_WORDS_MAX];
    rf__zoo_reply set;
    rf__zoo_node node;
    rf_status status;
    step s;

    status = begin(base, grant->resource, SESSION_MS, deadline_ms, &s);
    if (status != RF_OK)
        return status;
    if (!is_granted(base, grant, &node))
        return lost(&s, grant);
    if (node.is_foreign)
        return fail(base, RF_MISUSE,
                    "ZooKeeper ends a lock with the client "
                    "that took it: only that one renews it");
    grant->sent_ms = rf__now_ms();
    /* Never sooner than was promised before, and not while this is going on. */
    if (node.until_ms < grant->sent_ms + grant->ttl_ms)
        node.until_ms = grant->sent_ms + grant->ttl_ms;
    status = note(&s, &node);
    if (status != RF_OK)
        return status;
    rf__zoo_write_words(words, node.until_ms - grant->sent_ms,
                        s.session.session_ms);
    status = ask(&s, RF__ZOO_SET, node.name, words, &set);
    if (status != RF_OK)
        return status;
    shorten(grant, &s);
    if (set.code == RF__ZOO_DONE && set.czxid == node.czxid)
        return RF_OK;
    rf__zoo_nodes_remove(self(base)->nodes, &node);
    return lost(&s, grant);
}

/*
 * By its name, which nobody else will ever have: no other version of it can be
 * meant.
 */
static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    rf__zoo_reply reply;
    rf__zoo_node node;
    rf_status status;
    step s;

    status = begin(base, grant->resource, SESSION_MS, deadline_ms, &s);
    if (status != RF_OK)
        return status;
    if (!is_granted(base, grant, &node))
        return lost(&s, grant);
    status = ask(&s, RF__ZOO_DELETE, node.name, NULL, &reply);
    if (status != RF_OK) {
        node.until_ms = rf__now_ms();
        (void)rf__zoo_nodes_put(self(base)->nodes, &node);
    } else {
        rf__zoo_nodes_remove(self(base)->nodes, &node);
    }
    if (status == RF_OK && reply.code != RF__ZOO_DONE)
        return lost(&s, grant);
    return status;
}

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__zoo_node node;
    step s;
    rf_status status = begin(base, grant->resource, SESSION_MS, deadline_ms,
                             &s);

    if (status != RF_OK)
        return status;
    if (!is_granted(base, grant, &node))
        return lost(&s, grant);
    return too_low(base, floor);
}

static int stands(rf__source *base, const rf__grant *grant)
{
    rf__zoo_nodes *nodes = self(base)->nodes;

    return rf__zoo_nodes_is_ours(nodes) &&
           rf__zoo_nodes_stands(nodes, grant->resource, grant->holder);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

/* RF_BUSY: it is not our turn, and who stands before us is watched. */
static rf_status watch_before(const step *s, const rf__zoo_node *node)
{
    rf__zoo_reply list, before = { .code = RF__ZOO_DONE };
    rf_status status;
    rf__zoo_line line;

    rf__zoo_begin_wait(s->zoo);
    status = list_nodes(s, &list);
    line = rf__zoo_line_up(&list, node->name, node->holder);
    if (status == RF_OK && line.own != NULL && line.before != NULL) {
        status = only_read(ask(s, RF__ZOO_WATCH, line.before, NULL, &before));
        /* Gone meanwhile: perhaps it is our turn now. */
        if (status == RF_OK && before.code == RF__ZOO_DONE)
            status = RF_BUSY;
    }
    free(list.names);
    return status;
}

static int is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

static rf_status wait_in_line(rf__source *base, rf__grant *grant,
                              int64_t for_ms)
{
    int64_t until_ms = rf__now_ms() + for_ms;
    rf__zoo_node node;
    rf_status status;
    step s;

    status = begin(base, grant->resource, grant->ttl_ms, until_ms, &s);
    /* The session has ended, and our place with it: ask for another. */
    if (status != RF_OK ||
        !rf__zoo_nodes_get(self(base)->nodes, grant->resource, grant->holder,
                           &node))
        return status;
    node.until_ms = until_ms + GRACE_MS;
    (void)rf__zoo_nodes_put(self(base)->nodes, &node);
    status = watch_before(&s, &node);
    if (status == RF_BUSY) {
        rf__zoo_wait(s.zoo, grant->cancel_fd, until_ms);
        status = RF_OK;
    }
    if (is_readable(grant->cancel_fd)) {
        s.deadline_ms = rf__now_ms() + GRACE_MS;
        (void)leave(&s, &node);
        return RF_OK;
    }
    node.until_ms = rf__now_ms() + GRACE_MS;
    (void)rf__zoo_nodes_put(self(base)->nodes, &node);
    return status;
}

/* ---- For people ------------------------------------------------------------------------------- */

/* Who is first, and what its node says; code tells whether there is one. */
static rf_status look_at_first(const step *s, char name[RF__ZOO_NAME_MAX],
                               rf__zoo_reply *first)
{
    rf__zoo_reply list;
    rf_status status = list_nodes(s, &list);
    rf__zoo_line line = rf__zoo_line_up(&list, "", "");

    memset(first, 0, sizeof(*first));
    first->code = RF__ZOO_NONE;
    if (status == RF_OK && line.first != NULL) {
        snprintf(name, RF__ZOO_NAME_MAX, "%s", line.first);
        status = only_read(ask(s, RF__ZOO_GET, line.first, NULL, first));
    }
    free(list.names);
    return status;
}

/*
 * No lower number will be given: each of those before has changed the folder, and
 * a folder that is gone the one of all folders.
 */
static rf_status read_counter(const step *s, rf_fence *out)
{
    rf__zoo_path root, folder;
    rf__zoo_reply of_root, of_folder;
    rf__zoo_call *first, *second;
    rf_status status;

    rf__zoo_root(&root, s->prefix);
    rf__zoo_folder(&folder, s->prefix, s->resource);
    first = send_at(s, RF__ZOO_GET, root.text, NULL);
    second = send_at(s, RF__ZOO_GET, folder.text, NULL);
    status = answer(s, first, &of_root);
    if (status == RF_OK) {
        status = answer(s, second, &of_folder);
        *out = self(s->base)->numbers_from + (of_root.pzxid > of_folder.pzxid
                                                  ? of_root.pzxid
                                                  : of_folder.pzxid);
    } else {
        rf__zoo_forget(s->zoo, second);
    }
    return only_read(status);
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    char name[RF__ZOO_NAME_MAX];
    rf__zoo_reply first = { .code = RF__ZOO_NONE };
    step s;
    rf_status status = begin(base, resource, SESSION_MS, deadline_ms, &s);

    if (status == RF_OK)
        status = look_at_first(&s, name, &first);
    if (status != RF_OK)
        return status;
    if (first.code != RF__ZOO_DONE)
        return read_counter(&s, &info->counter);
    info->held = 1;
    info->left_ms = left_ms(&first, rf__wall_ms());
    if (info->left_ms < 0 || !rf__zoo_read_holder(name, info->holder))
        return RF_OK;
    info->fence = self(base)->numbers_from + first.czxid;
    info->counter = info->fence;
    return RF_OK;
}

/* ZooKeeper has no log for people: the reason stays in the folder. */
static void leave_reason(const step *s, const char *reason)
{
    rf__zoo_path folder;

    rf__zoo_folder(&folder, s->prefix, s->resource);
    rf__zoo_forget(s->zoo, send_at(s, RF__ZOO_SET, folder.text, reason));
}

static rf_status force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    char name[RF__ZOO_NAME_MAX];
    rf__zoo_reply first = { .code = RF__ZOO_NONE }, reply;
    step s;
    rf_status status = begin(base, resource, SESSION_MS, deadline_ms, &s);

    if (status == RF_OK)
        status = look_at_first(&s, name, &first);
    if (status != RF_OK)
        return status;
    if (first.code != RF__ZOO_DONE ||
        self(base)->numbers_from + first.czxid != fence)
        return fail(base, RF_LOST, "nobody has the lock with that fence");
    leave_reason(&s, reason);
    status = ask(&s, RF__ZOO_DELETE, name, NULL, &reply);
    if (status == RF_OK && reply.code != RF__ZOO_DONE)
        return fail(base, RF_LOST, "nobody has the lock with that fence");
    return status;
}

static rf_status read_names(rf__source *base, const rf__zoo_reply *list,
                            rf__page *page)
{
    char resource[RF_RESOURCE_MAX + 1];
    const char *name = list->names;
    char *to = page->names = malloc(list->n * sizeof(resource) + 1);

    if (to == NULL)
        return fail(base, RF_NOMEM, "out of memory");
    for (size_t i = 0; i < list->n; i++, name += strlen(name) + 1) {
        size_t size;

        if (!rf__zoo_read_folder(name, resource))
            continue;
        size = strlen(resource) + 1;
        memcpy(to, resource, size);
        to += size;
        page->n++;
    }
    return RF_OK;
}

/* All at once.  A folder without a lock is told as well: who asks looks. */
static rf_status list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    rf__zoo_path root;
    rf__zoo_reply names = { .n = 0 };
    step s;
    rf_status status = begin(base, "", SESSION_MS, deadline_ms, &s);

    memcpy(page->cursor, "0", 2);
    page->names = NULL;
    page->n = 0;
    if (status != RF_OK)
        return status;
    rf__zoo_root(&root, s.prefix);
    rf__zoo_forget(s.zoo, send_at(&s, RF__ZOO_SYNC, root.text, NULL));
    status = only_read(
        answer(&s, send_at(&s, RF__ZOO_LIST, root.text, NULL), &names));
    if (status == RF_OK)
        status = read_names(base, &names, page);
    free(names.names);
    return status;
}

static rf_status examine(rf__source *base, const rf__examination *e)
{
    rf__zoo_nodes *nodes = self(base)->nodes;
    rf_status status = check_process(base);

    if (status != RF_OK)
        return status;
    return rf__zoo_examine(rf__zoo_of(nodes), base, rf__zoo_prefix(nodes), e);
}

/* ---- Open and close --------------------------------------------------------------------------- */

static void close_source(rf__source *base)
{
    rf__zoo_nodes_drop(self(base)->nodes);
    free(base);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_in_line,
    .acquire_all = rf__acquire_in_turn,
    .force_release = force_release,
    .list = list,
    .examine = examine,
    .renew_all = rf__renew_in_turn,
    .release_all = rf__release_in_turn,
    .is_fixed = 1,
    .stands = stands,
    .goes_with_client = 1,
    .clone = clone,
    .close = close_source,
};

/* Takes nodes over, also when it fails. */
static rf__source *new_source(rf__zoo_nodes *nodes, rf_fence numbers_from,
                              rf__error *error)
{
    rf__zoo_source_t *s = nodes != NULL ? calloc(1, sizeof(*s)) : NULL;

    if (s == NULL) {
        if (nodes != NULL)
            rf__zoo_nodes_drop(nodes);
        return NULL;
    }
    s->base.ops = &ops;
    s->base.error = error;
    s->nodes = nodes;
    s->numbers_from = numbers_from;
    return &s->base;
}

/* Nodes go with their session, so whoever keeps them is in the same one. */
static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__zoo_nodes *nodes = self(base)->nodes;

    nodes = rf__zoo_nodes_share(nodes);
    return new_source(nodes, self(base)->numbers_from, error);
}

rf__source *rf__zookeeper_source(const rf__service *service,
                                 const rf_options *opts, rf__error *error)
{
    return new_source(rf__zoo_nodes_new(service, opts->prefix), service->base,
                      error);
}

rf_status rf__zookeeper_source_check(const rf_options *opts, rf__error *error)
{
    if (opts->min_replicas == 0)
        return RF_OK;
    rf__set_error(error, "option min_replicas: ZooKeeper answers when a "
                         "majority of its servers has it");
    return RF_MISUSE;
}

#endif /* RF_ZOOKEEPER */
