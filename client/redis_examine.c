/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_examine.c - what a person wants to know of a Redis before locks live
 * in it
 *
 * Judges; decides nothing.  What can't be asked for want of permission is said
 * to be unknown, and the rest goes on.
 */
#include "redis_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

#define COUNTERS_MAX 10000 /* looked at; more would take too long */
#define BAD_MAX      10    /* told one by one                     */

typedef struct looking {
    rf__redis_source_t *s;
    const rf__examination *e;
    char where[300];
    char *info; /* what INFO answered */
} looking;

static const rf__verdict fine = { RF_FINE, "", "" };

static void tell(const looking *l, const char *subject, const char *found,
                 rf__verdict v)
{
    rf__verdict_tell(l->e, l->where, subject, found, v);
}

static rf_status ask(const looking *l, const char *const *words,
                     const rf__reply **reply)
{
    return rf__redis_question(l->s->redis, words,
                              rf__now_ms() + l->e->timeout_ms, reply,
                              l->s->base.error);
}

/* ---- INFO ------------------------------------------------------------- */

#define FIELD_MAX 64

/* "name:value\r\n"; "" when there is none. */
static const char *field(const looking *l, const char *name,
                         char out[FIELD_MAX])
{
    size_t len = strlen(name), n;

    out[0] = '\0';
    for (const char *at = l->info; (at = strstr(at, name)) != NULL; at += len) {
        if ((at != l->info && at[-1] != '\n') || at[len] != ':')
            continue;
        n = strcspn(at + len + 1, "\r\n");
        if (n < FIELD_MAX) {
            memcpy(out, at + len + 1, n);
            out[n] = '\0';
        }
        break;
    }
    return out;
}

static int64_t number(const looking *l, const char *name)
{
    char text[FIELD_MAX];

    return strtoll(field(l, name, text), NULL, 10);
}

static void look_at_version(const looking *l)
{
    static const rf__verdict old = { RF_CRITICAL, "The scripts need Redis 6.0.",
                                     "Upgrade Redis." };
    char text[FIELD_MAX];

    field(l, "redis_version", text);
    tell(l, "version", text, strtol(text, NULL, 10) < 6 ? old : fine);
}

static void look_at_role(const looking *l)
{
    static const rf__verdict replica = {
        RF_CRITICAL, "This is a replica: no lock can be taken here.",
        "Name the master, or its sentinels with redis+sentinel://."
    };
    static const rf__verdict replicated = {
        RF_NOTICE,
        "After a fail-over the last grants may be forgotten and their fences "
        "issued once more. PostgreSQL refuses the second holder of a number; "
        "without a database nobody does.",
        "Open clients with min_replicas, which makes it rarer."
    };
    char role[FIELD_MAX], found[FIELD_MAX + 40];
    int64_t replicas = number(l, "connected_slaves");

    field(l, "role", role);
    if (strcmp(role, "master") != 0) {
        tell(l, "role", role, replica);
        return;
    }
    (void)snprintf(found, sizeof(found), "master, replicas: %" PRId64,
                   replicas);
    tell(l, "role", found, replicas > 0 ? replicated : fine);
}

static rf__verdict judge_eviction(const char *policy, int limited)
{
    static const rf__verdict unlimited = {
        RF_NOTICE,
        "Nothing is evicted as long as there is no maxmemory; with one, this "
        "policy would evict locks or their counters.",
        "CONFIG SET maxmemory-policy noeviction"
    };
    static const rf__verdict locks = {
        RF_WARNING,
        "The locks themselves are evicted first, because they run out. Their "
        "holders lose them and are refused.",
        "CONFIG SET maxmemory-policy noeviction"
    };
    static const rf__verdict counters = {
        RF_WARNING,
        "Counters may be evicted, and begin anew. rf_pg_acquire() raises them; "
        "without a database numbers are issued twice.",
        "CONFIG SET maxmemory-policy noeviction"
    };

    if (strcmp(policy, "noeviction") == 0)
        return fine;
    if (!limited)
        return unlimited;
    return strncmp(policy, "volatile", 8) == 0 ? locks : counters;
}

static void look_at_memory(const looking *l)
{
    static const rf__verdict full = {
        RF_WARNING,
        "Nearly full. Then no new lock is granted (OOM); renewing and giving "
        "back go on.",
        "Give it more memory, or a Redis to the locks alone."
    };
    int64_t used = number(l, "used_memory"), most = number(l, "maxmemory");
    char policy[FIELD_MAX], found[FIELD_MAX + 64];

    field(l, "maxmemory_policy", policy);
    (void)snprintf(found, sizeof(found), "%s, %" PRId64 " evicted", policy,
                   number(l, "evicted_keys"));
    tell(l, "eviction", found, judge_eviction(policy, most > 0));
    if (most > 0)
        (void)snprintf(found, sizeof(found),
                       "%" PRId64 " of %" PRId64 " MB used", used >> 20,
                       most >> 20);
    else
        (void)snprintf(found, sizeof(found), "%" PRId64 " MB used, no limit",
                       used >> 20);
    tell(l, "memory", found, most > 0 && used / 9 > most / 10 ? full : fine);
}

/* 1: written to disk now and then; 0: never; -1: can't be asked. */
static int saves(const looking *l)
{
    static const char *const words[] = { "CONFIG", "GET", "save", NULL };
    const rf__reply *reply;
    const char *points;

    if (ask(l, words, &reply) != RF_OK || rf__reply_count(reply) < 3)
        return -1;
    points = rf__reply_text(reply, 2);
    return points != NULL && *points != '\0';
}

static void look_at_persistence(const looking *l)
{
    static const rf__verdict none = {
        RF_NOTICE,
        "A restart forgets locks and counters. rf_pg_acquire() raises its "
        "numbers by itself; without a database they begin anew.",
        "CONFIG SET appendonly yes, if that matters. After a restart: "
        "\"ringfence heal\"."
    };
    static const rf__verdict failing = {
        RF_WARNING,
        "What should be on disk is not, and Redis may refuse to write: then "
        "no lock is granted.",
        "Look at its log and its disk."
    };
    char last[FIELD_MAX];
    int aof = number(l, "aof_enabled") == 1, rdb = saves(l);
    const char *found = aof        ? "append-only file"
                        : rdb == 1 ? "snapshots"
                        : rdb == 0 ? "none"
                                   : "no append-only file; snapshots unknown";

    if (strcmp(field(l, "rdb_last_bgsave_status", last), "err") == 0 ||
        strcmp(field(l, "aof_last_write_status", last), "err") == 0)
        tell(l, "persistence", found, failing);
    else
        tell(l, "persistence", found, aof || rdb == 1 ? fine : none);
}

/* RF_OK, also when INFO is not permitted: that is a finding, too. */
static rf_status look_at_info(looking *l)
{
    static const char *const words[] = { "INFO", NULL };
    static const rf__verdict unknown = {
        RF_NOTICE,
        "Version, role, eviction, memory and persistence can't be looked at.",
        "Examine with a user that may (+info +config|get)."
    };
    const rf__reply *reply;
    rf_status status = ask(l, words, &reply);
    const char *text;

    if (status == RF_MISUSE && rf__redis_connected(l->s->redis)) {
        tell(l, "info", l->s->base.error->text, unknown);
        return RF_OK;
    }
    if (status != RF_OK)
        return status;
    text = rf__reply_text(reply, 0);
    l->info = strdup(text != NULL ? text : "");
    if (l->info == NULL)
        return RF_NOMEM;
    look_at_version(l);
    look_at_role(l);
    look_at_memory(l);
    look_at_persistence(l);
    return RF_OK;
}

/* ---- Clock ------------------------------------------------------------ */

static void look_at_clock(const looking *l)
{
    static const char *const words[] = { "TIME", NULL };
    static const rf__verdict apart = {
        RF_NOTICE,
        "Redis ends locks by its wall clock. That it differs does no harm; "
        "that it is set while locks are held ends them early or late.",
        "Let ntpd or chrony slew both clocks."
    };
    int64_t before = rf__wall_ms(), theirs, apart_ms;
    const rf__reply *reply;
    char found[64];
    const char *seconds, *micros;

    if (ask(l, words, &reply) != RF_OK || rf__reply_count(reply) < 3)
        return;
    seconds = rf__reply_text(reply, 1);
    micros = rf__reply_text(reply, 2);
    if (seconds == NULL || micros == NULL)
        return;
    theirs = strtoll(seconds, NULL, 10) * 1000 +
             strtoll(micros, NULL, 10) / 1000;
    apart_ms = theirs - (before + rf__wall_ms()) / 2;
    (void)snprintf(found, sizeof(found), "%+" PRId64 " ms from ours", apart_ms);
    tell(l, "clock", found, llabs(apart_ms) > 1000 ? apart : fine);
}

/* ---- Permissions ------------------------------------------------------ */

/* Two lists: of what every lock needs, and of what shared ones do. */
static void judge_refusals(const looking *l, const char *refused,
                           const char *shared)
{
    static const rf__verdict needed = {
        RF_CRITICAL, "Locks can't be taken and given back without these.",
        "ACL SETUSER, as in docs/lua.md."
    };
    static const rf__verdict readers = {
        RF_NOTICE, "Shared locks can't be had without these.",
        "ACL SETUSER, as in docs/lua.md, if you want them."
    };
    char found[256];

    if (*refused != '\0') {
        (void)snprintf(found, sizeof(found), "refused: %s", refused);
        tell(l, "permissions", found, needed);
    } else if (*shared != '\0') {
        (void)snprintf(found, sizeof(found), "refused: %s", shared);
        tell(l, "permissions", found, readers);
    } else {
        tell(l, "permissions", "all that locks need", fine);
    }
}

static rf_status look_at_permissions(const looking *l)
{
    static const rf__verdict no_scripts = {
        RF_CRITICAL, "The scripts can't be run: no lock can be taken.",
        "ACL SETUSER, as in docs/lua.md."
    };
    char resource[RF_HOLDER_LEN + 1];
    char tag[RF__TAG_LEN];
    rf__call call = { .script = &rf__script_probe,
                      .resource = resource,
                      .echo = "" };
    const rf__reply *reply;
    rf_status status = rf_holder_new(resource);

    if (status != RF_OK)
        return status;
    rf__author_sign(&l->s->author, &call, tag);
    status = rf__script_run(l->s->redis, &call, rf__now_ms() + l->e->timeout_ms,
                            &reply, l->s->base.error);
    if (status == RF_MISUSE || status == RF_REFUSED) {
        tell(l, "permissions", l->s->base.error->text, no_scripts);
        return RF_OK;
    }
    if (status == RF_OK && rf__reply_count(reply) == 7)
        judge_refusals(l, rf__reply_text(reply, 5), rf__reply_text(reply, 6));
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* ---- Counters --------------------------------------------------------- */

typedef struct counted {
    int64_t all, bad, going;
} counted;

static void tell_bad(const looking *l, const char *resource)
{
    static const rf__verdict bad = {
        RF_CRITICAL,
        "It has another type, or is no number: no lock of this resource is "
        "granted.",
        "Delete this key, then \"ringfence heal\" with the resource's name."
    };
    char key[RF__KEY_MAX];

    (void)rf__key_name(key, RF__KEY_COUNTER, l->s->author.prefix, resource);
    tell(l, "counter", key, bad);
}

static rf_status count_page(const looking *l, const rf__page *page, counted *c)
{
    const char *name = page->names;
    rf_status status = RF_OK;

    for (size_t i = 0; i < page->n && status == RF_OK; i++) {
        rf_info info = { 0 };

        status = l->s->base.ops->inspect(&l->s->base, name, &info,
                                         rf__now_ms() + l->e->timeout_ms);
        c->all++;
        c->going += status == RF_OK && info.counter_left_ms > 0;
        if (status == RF_OK && info.counter < 0 && c->bad++ < BAD_MAX)
            tell_bad(l, name);
        name += strlen(name) + 1;
    }
    return status;
}

static void tell_count(const looking *l, const counted *c)
{
    static const rf__verdict going = {
        RF_NOTICE,
        "Counters with a time to live are right where every program sets "
        "counter_idle_ms or asks the database. Any other is refused these "
        "locks.",
        "If it was not meant: PERSIST these keys, and find who expires them."
    };
    char found[128];
    int n = snprintf(
        found, sizeof(found), "%s%" PRId64 " looked at, %" PRId64 " bad",
        c->all >= COUNTERS_MAX ? "the first " : "", c->all, c->bad);

    if (c->going > 0)
        (void)snprintf(found + n, sizeof(found) - (size_t)n,
                       ", %" PRId64 " run out when idle", c->going);
    tell(l, "counters", found,
         c->going > 0 && l->s->author.idle_ms == 0 ? going : fine);
}

static rf_status look_at_counters(const looking *l)
{
    static const rf__verdict unknown = {
        RF_NOTICE, "The counters can't be looked at.",
        "Examine with a user that may (+scan)."
    };
    rf__page page = { .cursor = "0" };
    counted c = { 0 };
    rf_status status;

    do {
        status = rf__rs_counters(&l->s->base, &page,
                                 rf__now_ms() + l->e->timeout_ms);
        if (status == RF_MISUSE && rf__redis_connected(l->s->redis)) {
            tell(l, "counters", l->s->base.error->text, unknown);
            return RF_OK;
        }
        if (status == RF_OK)
            status = count_page(l, &page, &c);
        free(page.names);
    } while (status == RF_OK && strcmp(page.cursor, "0") != 0 &&
             c.all < COUNTERS_MAX);
    if (status == RF_OK)
        tell_count(l, &c);
    return status;
}

rf_status rf__rs_examine(rf__source *base, const rf__examination *e)
{
    looking l = { .s = rf__rs(base), .e = e };
    rf_status status = rf__redis_connect(
        l.s->redis, rf__now_ms() + e->timeout_ms, base->error);

    rf__redis_place(l.s->redis, l.where, sizeof(l.where));
    if (status == RF_OK)
        status = look_at_info(&l);
    if (status == RF_OK)
        look_at_clock(&l);
    if (status == RF_OK && e->probe)
        status = look_at_permissions(&l);
    if (status == RF_OK)
        status = look_at_counters(&l);
    free(l.info);
    return status;
}
