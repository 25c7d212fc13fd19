/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cluster.c - a Redis Cluster as a source of locks and fences
 *
 * All keys of a resource are in one slot, and every node is a Redis source of
 * its own: this file only finds the node.  Redirections prove that nothing was
 * done, so a request is sent on until the deadline.
 */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

#include "backoff.h"
#include "in_turn.h"
#include "redis_steps.h"

#define NODES_MAX 1000
#define NOBODY    0xffff

typedef struct node {
    char host[256];
    int port;
    rf__source *source;
} node;

typedef struct cluster {
    rf__source base;
    rf_options opts;
    char prefix[RF__PREFIX_MAX + 1];
    rf__service service;
    node *nodes; /* those of the URL first; none ever goes */
    size_t n;
    uint16_t slot[RF__SLOTS]; /* which node has it, or NOBODY */
} cluster;

static cluster *self(rf__source *s)
{
    return (cluster *)s;
}

static rf__redis *redis_of(cluster *c, size_t at)
{
    return rf__rs(c->nodes[at].source)->redis;
}

/* ---- Nodes and slots ------------------------------------------------------ */

/* Its number, or NOBODY for want of memory or room. */
static size_t node_at(cluster *c, const char *host, int port)
{
    rf__url url = c->service.node[0];
    node *grown, *it;

    for (size_t i = 0; i < c->n; i++) {
        if (c->nodes[i].port == port && strcmp(c->nodes[i].host, host) == 0)
            return i;
    }
    if (c->n == NODES_MAX || strlen(host) >= sizeof(url.host))
        return NOBODY;
    /* host may be that of a node, which is about to move. */
    memcpy(url.host, host, strlen(host) + 1);
    url.port = port;
    grown = realloc(c->nodes, (c->n + 1) * sizeof(*grown));
    if (grown == NULL)
        return NOBODY;
    c->nodes = grown;
    it = &c->nodes[c->n];
    memcpy(it->host, url.host, sizeof(it->host));
    it->port = port;
    it->source = rf__redis_source(&url, &c->opts, c->base.error);
    return it->source != NULL ? c->n++ : NOBODY;
}

/* The item behind the one at i, whatever is in it. */
static size_t after(const rf__reply *reply, size_t i)
{
    long long inside = 0;

    if (rf__reply_kind(reply, i) == RF__ARRAY)
        inside = rf__reply_number(reply, i);
    i++;
    while (inside-- > 0 && i < rf__reply_count(reply))
        i = after(reply, i);
    return i;
}

/* {from, to, {host, port, ...}, ...} at i.  An empty host is the asked one's. */
static void learn_range(cluster *c, const rf__reply *reply, size_t i,
                        const char *asked)
{
    long long from = rf__reply_number(reply, i + 1),
              to = rf__reply_number(reply, i + 2),
              port = rf__reply_number(reply, i + 5);
    const char *host = rf__reply_text(reply, i + 4);
    size_t at;

    if (rf__reply_number(reply, i) < 3 || from < 0 || to >= RF__SLOTS ||
        port < 1 || port > 65535)
        return;
    if (host == NULL || host[0] == '\0' || strcmp(host, "?") == 0)
        host = asked;
    at = node_at(c, host, (int)port);
    for (long long slot = from; slot <= to; slot++)
        c->slot[slot] = (uint16_t)at;
}

static rf_status ask_for_slots(cluster *c, size_t at, int64_t deadline_ms)
{
    static const char *const words[] = { "CLUSTER", "SLOTS", NULL };
    const rf__reply *reply;
    rf_status status = rf__redis_question(redis_of(c, at), words, deadline_ms,
                                          &reply, c->base.error);

    if (status != RF_OK)
        return status;
    if (rf__reply_kind(reply, 0) != RF__ARRAY ||
        rf__reply_number(reply, 0) < 1) {
        rf__set_error(c->base.error, "the cluster has no slots");
        return RF_RETRY;
    }
    for (size_t i = 1; i < rf__reply_count(reply); i = after(reply, i))
        learn_range(c, reply, i, c->nodes[at].host);
    return RF_OK;
}

/*
 * Whoever answers first; each has its share of the time.  Only when all of them
 * refuse is something wrong with us.
 */
static rf_status learn_slots(cluster *c, int64_t deadline_ms)
{
    rf_status worst = RF_MISUSE;
    size_t n = c->n;

    for (size_t i = 0; i < n; i++) {
        int64_t share = rf__left_ms(deadline_ms) / (int)(n - i + 1);
        rf_status status = ask_for_slots(c, i, rf__now_ms() + share);

        if (status == RF_OK)
            return RF_OK;
        if (status != RF_MISUSE)
            worst = status;
    }
    return worst;
}

/* ---- Sending a request on ---------------------------------------------------- */

typedef struct request {
    rf_status (*run)(rf__source *s, struct request *r, int64_t deadline_ms);
    const char *resource;
    rf__grant *grant;
    rf__grants *grants;
    rf_fence floor;
    rf_info *info;
    const char *reason;
} request;

typedef struct route {
    cluster *c;
    int slot;
    size_t at;
    int asking; /* once */
    int hops;
    int64_t deadline_ms;
    int64_t latest_ms; /* no further attempt begins after this */
    rf__pauses pauses;
} route;

/* Of the time for a request, what the last attempt at it has to itself. */
#define LAST_MS 250

/* "MOVED 3999 127.0.0.1:6381": the node, added to those we know. */
static size_t redirected_to(route *r, const char *text)
{
    const char *place = strrchr(text, ' '), *colon;
    char host[256];
    int64_t port;

    colon = place != NULL ? strrchr(place, ':') : NULL;
    if (colon == NULL || !rf__decimal_read(colon + 1, 1, 65535, &port) ||
        (size_t)(colon - place) > sizeof(host))
        return NOBODY;
    memcpy(host, place + 1, (size_t)(colon - place) - 1);
    host[colon - place - 1] = '\0';
    return node_at(r->c, host[0] != '\0' ? host : r->c->nodes[r->at].host,
                   (int)port);
}

static int begins(const char *text, const char *code)
{
    return strncmp(text, code, strlen(code)) == 0;
}

/*
 * What a request that did not land asks for.  1: it is to be sent again.  A
 * complaint that has nothing to do with the cluster is the caller's.
 */
static int follow(route *r, rf_status *status)
{
    rf__redis *redis = redis_of(r->c, r->at);
    const char *text = rf__redis_refusal(redis);

    r->asking = 0;
    if (text != NULL && begins(text, "MOVED ")) {
        *status = RF_RETRY;
        r->c->slot[r->slot] = (uint16_t)redirected_to(r, text);
        /* Nodes that disagree would send us round and round. */
        if (r->hops++ > 4)
            return rf__backoff(&r->pauses, r->latest_ms);
        return rf__left_ms(r->latest_ms) > 0;
    }
    if (text != NULL && begins(text, "ASK ")) {
        r->at = redirected_to(r, text);
        r->asking = r->at != NOBODY;
        return rf__left_ms(r->latest_ms) > 0;
    }
    if (text != NULL && begins(text, "TRYAGAIN"))
        return rf__backoff(&r->pauses, r->latest_ms);
    if (*status == RF_RETRY && (!rf__redis_connected(redis) ||
                                (text && begins(text, "CLUSTERDOWN")))) {
        r->c->slot[r->slot] = NOBODY;
        return rf__backoff(&r->pauses, r->latest_ms);
    }
    return 0;
}

/*
 * Half of the time: a node that is gone must leave some for another.  All of it
 * when no other attempt could follow.
 */
static int64_t share_of(const route *r)
{
    int64_t half_ms = rf__now_ms() + (rf__left_ms(r->deadline_ms) + 1) / 2;

    return half_ms < r->latest_ms ? half_ms : r->deadline_ms;
}

static rf_status run_once(route *r, request *what)
{
    rf__source *s = r->c->nodes[r->at].source;
    rf__redis *redis = redis_of(r->c, r->at);
    rf_status status;

    rf__redis_set_asking(redis, r->asking);
    status = what->run(s, what, share_of(r));
    rf__redis_set_asking(redis, 0);
    return status;
}

/* Unless we were told where to ask. */
static rf_status choose(route *r)
{
    cluster *c = r->c;
    rf_status status = RF_OK;

    if (r->asking)
        return RF_OK;
    if (c->slot[r->slot] == NOBODY)
        status = learn_slots(c, r->deadline_ms);
    r->at = c->slot[r->slot];
    if (r->at != NOBODY)
        return RF_OK;
    if (status == RF_OK)
        rf__set_error(c->base.error, "no node of the cluster is known to have "
                                     "the slot");
    return status == RF_MISUSE ? RF_MISUSE : RF_RETRY;
}

/*
 * An attempt that begins at the very end would not be answered in time: where we
 * had been told that nothing was done, it might land, and nobody would know.
 */
static rf_status send_on(rf__source *base, request *what, int64_t deadline_ms)
{
    int64_t last_ms = rf__left_ms(deadline_ms) / 4;
    route r = { .c = self(base),
                .slot = rf__slot(self(base)->prefix, what->resource),
                .deadline_ms = deadline_ms,
                .latest_ms = deadline_ms -
                             (last_ms < LAST_MS ? last_ms : LAST_MS),
                .pauses = { .ceiling_ms = 5, .most_ms = 100 } };
    rf_status status = RF_RETRY;
    int again = 1;

    while (again) {
        status = choose(&r);
        if (status == RF_MISUSE)
            return status;
        if (status != RF_OK) {
            again = rf__backoff(&r.pauses, r.latest_ms);
            continue;
        }
        status = run_once(&r, what);
        if (status != RF_RETRY && status != RF_MISUSE)
            return status;
        again = follow(&r, &status);
    }
    return status;
}

/* ---- The steps -------------------------------------------------------------- */

static rf_status run_acquire(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->acquire(s, r->grant, r->floor, deadline_ms);
}

static rf_status run_acquire_all(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->acquire_all(s, r->grants, r->floor, deadline_ms);
}

/* Lock and counter are on their way, and not together: the lock comes first. */
static rf_status run_renew(rf__source *s, request *r, int64_t deadline_ms)
{
    rf_status status = s->ops->renew(s, r->grant, deadline_ms);
    const char *text = rf__redis_refusal(rf__rs(s)->redis);

    if (r->grant->alone || text == NULL || !begins(text, "TRYAGAIN"))
        return status;
    r->grant->alone = 1;
    return s->ops->renew(s, r->grant, deadline_ms);
}

static rf_status run_release(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->release(s, r->grant, deadline_ms);
}

static rf_status run_reissue(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->reissue(s, r->grant, r->floor, deadline_ms);
}

static rf_status run_inspect(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->inspect(s, r->resource, r->info, deadline_ms);
}

static rf_status run_force(rf__source *s, request *r, int64_t deadline_ms)
{
    return s->ops->force_release(s, r->resource, r->floor, r->reason,
                                 deadline_ms);
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    request r = { .run = run_acquire,
                  .resource = grant->resource,
                  .grant = grant,
                  .floor = floor };

    return send_on(base, &r, deadline_ms);
}

/* In one script when they share a slot. */
static rf_status acquire_all(rf__source *base, rf__grants *grants,
                             rf_fence floor, int64_t deadline_ms)
{
    const char *prefix = self(base)->prefix;
    request r = { .run = run_acquire_all,
                  .resource = grants->grant->resource,
                  .grants = grants,
                  .floor = floor };
    int slot = rf__slot(prefix, r.resource);

    for (size_t i = 1; i < grants->n; i++) {
        if (rf__slot(prefix, grants->grant[i].resource) != slot)
            return rf__acquire_in_turn(base, grants, floor, deadline_ms);
    }
    return send_on(base, &r, deadline_ms);
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    request r = { .run = run_renew,
                  .resource = grant->resource,
                  .grant = grant };

    grant->alone = 0;
    return send_on(base, &r, deadline_ms);
}

static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    request r = { .run = run_release,
                  .resource = grant->resource,
                  .grant = grant };

    return send_on(base, &r, deadline_ms);
}

/* ---- Many at once ------------------------------------------------------------- */

typedef struct together {
    cluster *c;
    rf__grants all;
    rf_status *results; /* RF__UNSENT: nobody was asked yet */
    int64_t deadline_ms;
    void (*ask)(rf__source *s, rf__grant *grants, rf_status *results, size_t n,
                int64_t deadline_ms);
    rf_status (*send_on)(rf__source *s, rf__grant *grant, int64_t deadline_ms);
} together;

/* Those of one node, and where they stand among all. */
typedef struct share {
    size_t node, n;
    size_t at[RF_ALL_MAX];
    rf__grant grants[RF_ALL_MAX];
    rf_status results[RF_ALL_MAX];
} share;

static size_t node_of(const together *t, size_t i)
{
    return t->c->slot[rf__slot(t->c->prefix, t->all.grant[i].resource)];
}

/* The first that nobody was asked for, and others of its node.  0: none is left. */
static int collect(const together *t, share *part)
{
    part->n = 0;
    for (size_t i = 0; i < t->all.n && part->n < RF_ALL_MAX; i++) {
        size_t node = node_of(t, i);

        if (t->results[i] != RF__UNSENT || node == NOBODY ||
            (part->n > 0 && node != part->node))
            continue;
        part->node = node;
        part->at[part->n] = i;
        part->grants[part->n++] = t->all.grant[i];
    }
    return part->n > 0;
}

static void ask_node(together *t, share *part)
{
    rf__source *s = t->c->nodes[part->node].source;

    /* Half of the time: a node that is gone must leave some for the others. */
    t->ask(s, part->grants, part->results, part->n,
           rf__now_ms() + (rf__left_ms(t->deadline_ms) + 1) / 2);
    for (size_t i = 0; i < part->n; i++) {
        t->all.grant[part->at[i]] = part->grants[i];
        t->results[part->at[i]] = part->results[i];
    }
}

static void learn_missing(together *t)
{
    for (size_t i = 0; i < t->all.n; i++) {
        if (node_of(t, i) != NOBODY)
            continue;
        learn_slots(t->c, t->deadline_ms);
        return;
    }
}

/*
 * One pipeline for each node that has some of them.  What was not done there may
 * be another node's business by now: one by one then.
 */
static void ask_together(together *t)
{
    share part;

    for (size_t i = 0; i < t->all.n; i++)
        t->results[i] = RF__UNSENT;
    learn_missing(t);
    while (collect(t, &part))
        ask_node(t, &part);
    for (size_t i = 0; i < t->all.n; i++) {
        rf_status status = t->results[i];

        if (status == RF__UNSENT || status == RF_RETRY || status == RF_MISUSE)
            t->results[i] = t->send_on(&t->c->base, &t->all.grant[i],
                                       t->deadline_ms);
    }
}

static void renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms)
{
    together t = { self(base),  { grants, n, 0 }, results,
                   deadline_ms, rf__rs_renew_all, renew };

    ask_together(&t);
}

static void release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms)
{
    together t = { self(base),  { grants, n, 0 },   results,
                   deadline_ms, rf__rs_release_all, release };

    ask_together(&t);
}

/* ---- The others ----------------------------------------------------------------- */

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    request r = { .run = run_reissue,
                  .resource = grant->resource,
                  .grant = grant,
                  .floor = floor };

    return send_on(base, &r, deadline_ms);
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    request r = { .run = run_inspect, .resource = resource, .info = info };

    return send_on(base, &r, deadline_ms);
}

static rf_status force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    request r = {
        .run = run_force, .resource = resource, .floor = fence, .reason = reason
    };

    return send_on(base, &r, deadline_ms);
}

/* A slot that moves ends the wait: whoever waits asks again. */
static rf_status wait_for_wake(rf__source *base, rf__grant *grant,
                               int64_t for_ms)
{
    cluster *c = self(base);
    int slot = rf__slot(c->prefix, grant->resource);
    size_t at = c->slot[slot];
    rf_status status;

    if (at == NOBODY)
        return RF_RETRY;
    status = c->nodes[at].source->ops->wait(c->nodes[at].source, grant, for_ms);
    return status == RF_MISUSE ? RF_RETRY : status;
}

/* Owners of slots: replicas would show the same once more. */
/* The nodes that have slots.  RF_OK, or why they can't be known. */
static rf_status owners(cluster *c, rf__source *out[NODES_MAX], size_t *n,
                        int64_t deadline_ms)
{
    char seen[NODES_MAX] = { 0 };
    rf_status status = learn_slots(c, deadline_ms);

    *n = 0;
    if (status != RF_OK)
        return status;
    for (int slot = 0; slot < RF__SLOTS; slot++) {
        if (c->slot[slot] != NOBODY)
            seen[c->slot[slot]] = 1;
    }
    for (size_t i = 0; i < c->n; i++) {
        if (seen[i])
            out[(*n)++] = c->nodes[i].source;
    }
    if (*n > 0)
        return RF_OK;
    rf__set_error(c->base.error, "no node of the cluster is known to have "
                                 "slots");
    return RF_RETRY;
}

static rf_status list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    rf__source *nodes[NODES_MAX];
    rf__sources all = { .source = nodes, .error = base->error };
    rf_status status = owners(self(base), nodes, &all.n, deadline_ms);

    if (status != RF_OK)
        return status;
    return rf__list_in_turn(&all, page, deadline_ms);
}

/* A key that is made up would belong to some other node. */
static rf_status examine(rf__source *base, const rf__examination *e)
{
    rf__source *nodes[NODES_MAX];
    rf__examination without = *e;
    size_t n;
    rf_status status = owners(self(base), nodes, &n,
                              rf__now_ms() + e->timeout_ms);

    if (status != RF_OK)
        return status;
    without.probe = 0;
    return rf__examine_in_turn(nodes, n, &without);
}

/* ---- Open and close ----------------------------------------------------------- */

static void close_cluster(rf__source *base)
{
    cluster *c = self(base);

    for (size_t i = 0; i < c->n; i++)
        c->nodes[i].source->ops->close(c->nodes[i].source);
    explicit_bzero(&c->service, sizeof(c->service));
    free(c->nodes);
    free(c);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_for_wake,
    .acquire_all = acquire_all,
    .force_release = force_release,
    .list = list,
    .examine = examine,
    .renew_all = renew_all,
    .release_all = release_all,
    .clone = clone,
    .close = close_cluster,
};

rf__source *rf__cluster_source(const rf__service *service,
                               const rf_options *opts, rf__error *error)
{
    cluster *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->base.ops = &ops;
    c->base.error = error;
    c->service = *service;
    c->opts = *opts;
    memcpy(c->prefix, opts->prefix, strlen(opts->prefix) + 1);
    c->opts.prefix = c->prefix;
    memset(c->slot, 0xff, sizeof(c->slot));
    for (size_t i = 0; i < service->n; i++) {
        if (node_at(c, service->node[i].host, service->node[i].port) ==
            NOBODY) {
            close_cluster(&c->base);
            return NULL;
        }
    }
    return &c->base;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    cluster *c = self(base);

    return rf__cluster_source(&c->service, &c->opts, error);
}
