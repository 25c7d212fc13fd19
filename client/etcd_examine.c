/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_examine.c - what a person wants to know of an etcd before locks live in
 * it
 *
 * Judges; decides nothing.  Each member of the URL is asked by itself, and then
 * all of them together.  What can't be asked is said to be unknown, and the rest
 * goes on.
 */
#ifdef RF_ETCD

#include "etcd_examine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_keys.h"
#include "trial.h"

/* What an etcd of which nobody said otherwise may keep. */
#define QUOTA_BYTES ((int64_t)2 << 30)

/* So much history is no sign yet that nobody compacts it. */
#define HISTORY_MIN 1000

typedef struct looking {
    rf__etcd *etcd;
    rf__source *source;
    const char *prefix;
    const rf__examination *e;
    char where[300];
    size_t answered; /* how many members have            */
    int leads;       /* one of them knows of a leader    */
} looking;

static const rf__verdict fine = { RF_FINE, "", "" };

static void tell(const looking *l, const char *subject, const char *found,
                 rf__verdict v)
{
    rf__verdict_tell(l->e, l->where, subject, found, v);
}

/* The reply is the caller's on RF_OK. */
static rf_status ask(const looking *l, rf__etcd *whom, const char *path,
                     json_t *body, json_t **reply)
{
    rf__etcd_call call = { .path = path,
                           .body = body,
                           .deadline_ms = rf__now_ms() + l->e->timeout_ms };
    rf_status status = rf__etcd_run(whom, &call);

    *reply = call.reply;
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* ---- A member ----------------------------------------------------------- */

static void look_at_version(const looking *l, const json_t *status)
{
    static const rf__verdict old = { RF_CRITICAL,
                                     "Locks need the JSON gateway of etcd 3.4.",
                                     "Upgrade etcd." };
    const char *version = json_string_value(json_object_get(status, "version"));

    version = version != NULL ? version : "unknown";
    /* The gateway is at /v3 from 3.4 on. */
    tell(l, "version", version,
         rf__version_is_below(version, 3, 4) ? old : fine);
}

static void look_at_role(looking *l, const json_t *status)
{
    static const rf__verdict lost = {
        RF_CRITICAL,
        "This member is in no majority: it grants nothing, and nothing can be "
        "given back through it.",
        "Bring back the members that are away; see \"etcdctl endpoint status "
        "--cluster\"."
    };
    /* Of 64 bits without a sign: as text. */
    const char *leader = json_string_value(json_object_get(status, "leader")),
               *self = json_string_value(json_object_get(
                   json_object_get(status, "header"), "member_id"));

    if (leader == NULL || strcmp(leader, "0") == 0) {
        tell(l, "role", "no leader", lost);
        return;
    }
    l->leads = 1;
    tell(l, "role",
         self != NULL && strcmp(leader, self) == 0 ? "leader" : "follower",
         fine);
}

static void look_at_room(const looking *l, const json_t *status)
{
    static const rf__verdict full = {
        RF_WARNING,
        "Nearly the two GB that etcd keeps unless it is told otherwise. When "
        "its room is used up, no lock is granted.",
        "etcdctl compact REVISION; etcdctl defrag; and "
        "--auto-compaction-retention=1h"
    };
    json_int_t size = rf__etcd_number(status, "dbSize");
    char found[64];

    (void)snprintf(found, sizeof(found), "%" PRId64 " MB used",
                   (int64_t)size >> 20);
    tell(l, "room", found, size > QUOTA_BYTES / 4 * 3 ? full : fine);
}

static void look_at_member(looking *l, rf__etcd *member)
{
    static const rf__verdict away = {
        RF_WARNING, "It can't be asked; locks need those that are left.",
        "Look whether it runs and can be reached."
    };
    json_t *status;

    if (ask(l, member, "/v3/maintenance/status", json_object(), &status) !=
        RF_OK) {
        tell(l, "member", l->source->error->text, away);
        return;
    }
    l->answered++;
    look_at_version(l, status);
    look_at_role(l, status);
    look_at_room(l, status);
    json_decref(status);
}

static rf_status look_at_members(looking *l)
{
    const rf__service *service = rf__etcd_service(l->etcd);

    for (size_t i = 0; i < service->n; i++) {
        rf__etcd *member = rf__etcd_only(l->etcd, i, l->source->error);

        if (member == NULL)
            return RF_NOMEM;
        (void)snprintf(l->where, sizeof(l->where), "%s:%d",
                       service->node[i].host, service->node[i].port);
        look_at_member(l, member);
        rf__etcd_free(member);
    }
    (void)snprintf(l->where, sizeof(l->where), "etcd");
    return l->answered > 0 ? RF_OK : RF_RETRY;
}

/* ---- All of them -------------------------------------------------------- */

static void look_at_size(const looking *l)
{
    static const rf__verdict unknown = {
        RF_NOTICE,
        "How many members there are can't be "
        "asked.",
        "Examine with a user that may (root)."
    };
    size_t members, named = rf__etcd_service(l->etcd)->n;
    char found[64];
    json_t *list;

    if (ask(l, l->etcd, "/v3/cluster/member/list", json_object(), &list) !=
        RF_OK) {
        tell(l, "members", l->source->error->text, unknown);
        return;
    }
    members = json_array_size(json_object_get(list, "members"));
    (void)snprintf(found, sizeof(found), "%zu, named in the URL: %zu", members,
                   named);
    tell(l, "members", found, rf__verdict_on_members(members, named));
    json_decref(list);
}

static void look_at_alarms(const looking *l)
{
    static const rf__verdict raised = {
        RF_CRITICAL,
        "NOSPACE: no lock is granted (RF_REFUSED) until there is room and the "
        "alarm is taken back. CORRUPT: its members disagree.",
        "NOSPACE: etcdctl compact REVISION; etcdctl defrag; etcdctl alarm "
        "disarm"
    };
    static const rf__verdict unknown = {
        RF_NOTICE, "Whether there are alarms can't be asked.",
        "Examine with a user that may (root)."
    };
    const char *kind;
    json_t *reply;

    if (ask(l, l->etcd, "/v3/maintenance/alarm",
            json_pack("{s:s}", "action", "GET"), &reply) != RF_OK) {
        tell(l, "alarms", l->source->error->text, unknown);
        return;
    }
    kind = json_string_value(json_object_get(
        json_array_get(json_object_get(reply, "alarms"), 0), "alarm"));
    tell(l, "alarms", kind != NULL ? kind : "none",
         kind != NULL ? raised : fine);
    json_decref(reply);
}

static void look_at_secrets(const looking *l)
{
    static const rf__verdict open = {
        RF_NOTICE,
        "Whoever is on the way can read the password and take locks away.",
        "etcds:// with cafile, and TLS in etcd."
    };
    static const rf__verdict anybody = {
        RF_NOTICE,
        "Whoever reaches it can take locks away. The database still refuses "
        "those that are late.",
        "etcdctl auth enable, and a user for the locks (docs/etcd.md)."
    };
    const rf__service *service = rf__etcd_service(l->etcd);
    const char *user = service->node[0].user;

    tell(l, "tls", service->secure ? "yes" : "none",
         service->secure ? fine : open);
    tell(l, "user", *user != '\0' ? user : "none",
         *user != '\0' ? fine : anybody);
}

static rf_status look_at_permissions(const looking *l)
{
    static const rf__verdict none = {
        RF_CRITICAL, "Locks can't be taken and given back.",
        "What etcd says; a role needs to read and write all of the prefix "
        "(docs/etcd.md)."
    };
    rf__trial trial;

    return rf__trial_of_locks(l->source, l->e, l->where, none, &trial);
}

/*
 * Nobody tells whether history is compacted, but its first page is gone where it
 * is.
 */
static void look_at_history(const looking *l)
{
    static const rf__verdict never = {
        RF_NOTICE,
        "Each lock leaves its history, and none of it has been removed so far. "
        "When etcd's room is used up, no lock is granted.",
        "--auto-compaction-retention=1h"
    };
    rf__etcd_key key;
    rf__etcd_call call = { .path = "/v3/kv/range",
                           .deadline_ms = rf__now_ms() + l->e->timeout_ms };
    rf_status status;
    json_int_t newest;
    char found[64];

    rf__etcd_lock_key(&key, l->prefix, "ringfence");
    call.body = json_pack("{s:s, s:i}", "key", key.text, "revision", 1);
    status = rf__etcd_run(l->etcd, &call);
    if (status == RF_OK) {
        newest = rf__etcd_number(json_object_get(call.reply, "header"),
                                 "revision");
        (void)snprintf(found, sizeof(found), "not yet, %" PRId64 " revisions",
                       (int64_t)newest);
        tell(l, "compaction", found, newest > HISTORY_MIN ? never : fine);
    } else if (call.code == RF__ETCD_COMPACTED) {
        tell(l, "compaction", "yes", fine);
    }
    json_decref(call.reply);
}

rf_status rf__etcd_examine(rf__etcd *etcd, rf__source *source,
                           const char *prefix, const rf__examination *e)
{
    looking l = { .etcd = etcd, .source = source, .prefix = prefix, .e = e };
    rf_status status = look_at_members(&l);

    if (status != RF_OK)
        return status;
    look_at_secrets(&l);
    /* Without a majority each would only wait for its time to be over. */
    if (!l.leads)
        return RF_OK;
    look_at_size(&l);
    look_at_alarms(&l);
    look_at_history(&l);
    return e->probe ? look_at_permissions(&l) : RF_OK;
}

#endif /* RF_ETCD */
