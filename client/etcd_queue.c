/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_queue.c - waiting for a lock in etcd, in the order of coming
 *
 * Who waits has a key in a queue and watches the one before; only the first
 * watches the lock.  So a release wakes one, however many wait.  (The recipe is
 * ZooKeeper's: "Locks" in its Recipes and Solutions.)
 */
#ifdef RF_ETCD

#include "etcd_queue.h"

#include <poll.h>
#include <string.h>

#include "etcd_keys.h"

/* A waiter that died stands in the way of being woken for this long. */
#define PLACE_TTL_S 30

/* Who has no more than this left to wait gives up the place: it's the last. */
#define NEARLY_MS 1000

/* Often enough to keep the place. */
#define WATCH_MS 10000

typedef struct waiter {
    rf__etcd *etcd;
    const char *prefix;
    rf__grant *grant;
    int64_t until_ms;
    int timeout_ms;
    int64_t lease;
    rf__etcd_key place;
    json_int_t place_made; /* revision */
} waiter;

/* What is in front of us: nothing at all, a waiter, or the lock. */
typedef struct ahead {
    rf__etcd_key key;
    json_int_t seen; /* revision at which it was still there */
    int is_free;
} ahead;

static int64_t limit_ms(const waiter *w)
{
    return rf__now_ms() + w->timeout_ms;
}

static rf_status ask(const waiter *w, const char *path, json_t *body,
                     json_t **reply)
{
    rf__etcd_call call = { .path = path,
                           .body = body,
                           .deadline_ms = limit_ms(w) };
    rf_status status = rf__etcd_run(w->etcd, &call);

    if (status == RF_MISUSE && call.code == RF__ETCD_PRECONDITION)
        status = RF_OK; /* the lease is there already */
    if (reply != NULL)
        *reply = call.reply;
    else
        json_decref(call.reply);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* Keep the place that we have, or take one at the end. */
static rf_status take_place(waiter *w)
{
    json_int_t id = (json_int_t)w->lease;
    json_t *reply = NULL;
    const json_t *kv;
    rf_status status;

    status = ask(w, "/v3/lease/grant",
                 json_pack("{s:I, s:i}", "ID", id, "TTL", PLACE_TTL_S), NULL);
    if (status == RF_OK)
        status = ask(w, "/v3/lease/keepalive", json_pack("{s:I}", "ID", id),
                     NULL);
    if (status == RF_OK)
        status = ask(w, "/v3/kv/txn",
                     json_pack("{s:[{s:s, s:s, s:s, s:i}], s:[{s:{s:s, s:I}}],"
                               " s:[{s:{s:s}}]}",
                               "compare", "key", w->place.text, "target",
                               "CREATE", "result", "EQUAL", "create_revision",
                               0, "success", "request_put", "key",
                               w->place.text, "lease", id, "failure",
                               "request_range", "key", w->place.text),
                     &reply);
    kv = json_array_get(json_object_get(reply, "responses"), 0);
    kv = json_array_get(
        json_object_get(json_object_get(kv, "response_range"), "kvs"), 0);
    w->place_made = kv != NULL
                        ? rf__etcd_number(kv, "create_revision")
                        : rf__etcd_number(json_object_get(reply, "header"),
                                          "revision");
    json_decref(reply);
    return status;
}

static void leave_place(waiter *w)
{
    (void)ask(w, "/v3/lease/revoke",
              json_pack("{s:I}", "ID", (json_int_t)w->lease), NULL);
}

static json_t *ahead_request(const waiter *w)
{
    rf__etcd_key from, to, lock;

    rf__etcd_queue_range(&from, &to, w->prefix, w->grant->resource);
    rf__etcd_lock_key(&lock, w->prefix, w->grant->resource);
    return json_pack(
        "{s:[{s:{s:s, s:s, s:I, s:s, s:s, s:i, s:b}}, {s:{s:s, s:b}}]}",
        "success", "request_range", "key", from.text, "range_end", to.text,
        "max_create_revision", w->place_made - 1, "sort_target", "CREATE",
        "sort_order", "DESCEND", "limit", 1, "keys_only", 1, "request_range",
        "key", lock.text, "keys_only", 1);
}

static const json_t *first_key(const json_t *reply, size_t n)
{
    const json_t *one = json_array_get(json_object_get(reply, "responses"), n);

    return json_array_get(
        json_object_get(json_object_get(one, "response_range"), "kvs"), 0);
}

static rf_status look_ahead(const waiter *w, ahead *out)
{
    const char *before;
    json_t *reply;
    rf_status status = ask(w, "/v3/kv/txn", ahead_request(w), &reply);

    if (status != RF_OK)
        return status;
    out->seen = rf__etcd_number(json_object_get(reply, "header"), "revision");
    before = json_string_value(json_object_get(first_key(reply, 0), "key"));
    out->is_free = before == NULL && first_key(reply, 1) == NULL;
    if (before != NULL && strlen(before) < sizeof(out->key.text))
        memcpy(out->key.text, before, strlen(before) + 1);
    else
        rf__etcd_lock_key(&out->key, w->prefix, w->grant->resource);
    json_decref(reply);
    return RF_OK;
}

/* RF_OK: it may be our turn.  RF_BUSY: not yet, look again.  Else: trouble. */
static rf_status watch_once(waiter *w)
{
    int64_t until_ms = rf__now_ms() + WATCH_MS;
    rf_status status;
    ahead front = { .is_free = 0 };

    status = take_place(w);
    if (status == RF_OK)
        status = look_ahead(w, &front);
    if (status != RF_OK || front.is_free)
        return status;
    if (until_ms > w->until_ms)
        until_ms = w->until_ms;
    status = rf__etcd_watch(w->etcd, front.key.text, front.seen + 1,
                            w->grant->cancel_fd, until_ms);
    return status == RF_OK ? RF_BUSY : status;
}

static int is_cancelled(const waiter *w)
{
    struct pollfd p = { .fd = w->grant->cancel_fd, .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

rf_status rf__etcd_queue_wait(rf__etcd *etcd, const char *prefix,
                              rf__grant *grant, int64_t for_ms, int timeout_ms)
{
    waiter w = { .etcd = etcd,
                 .prefix = prefix,
                 .grant = grant,
                 .until_ms = rf__now_ms() + for_ms,
                 .timeout_ms = timeout_ms };
    rf_status status = RF_BUSY;

    w.lease = rf__etcd_lease_id("place", grant->resource, grant->holder);
    rf__etcd_place_key(&w.place, prefix, grant->resource, grant->holder);
    while (status == RF_BUSY && rf__left_ms(w.until_ms) > 0 &&
           !is_cancelled(&w))
        status = watch_once(&w);
    if (is_cancelled(&w) || for_ms + NEARLY_MS >= grant->wait_ms)
        leave_place(&w);
    return status == RF_BUSY ? RF_OK : status;
}

#endif /* RF_ETCD */
