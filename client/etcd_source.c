/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_source.c - etcd as a source of locks and fences
 *
 * A lock is a key that is made only where there is none, and goes with its
 * lease.  The fence is the revision at which it was made: one number for the
 * whole cluster, agreed on by a majority and never given twice.  It begins anew
 * when the cluster is rebuilt, and nobody can raise it: the base in the URL is
 * added to it.
 */
#ifdef RF_ETCD

#include "etcd_source.h"

#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "etcd_examine.h"
#include "etcd_keys.h"
#include "etcd_queue.h"
#include "in_turn.h"

typedef struct rf__etcd_source_t {
    rf__source base;
    rf__etcd *etcd;
    rf_fence numbers_from; /* the base of the URL */
    int timeout_ms;
    char prefix[RF__PREFIX_MAX + 1];
} rf__etcd_source_t;

/* A lock's key, as it was found. */
typedef struct found {
    int there;
    json_int_t revision; /* at which it was made     */
    json_int_t changed;  /* and was last written     */
    json_int_t lease;
    json_int_t newest;              /* revision of all that there is */
    char holder[RF_HOLDER_LEN + 1]; /* "": none of ours              */
} found;

static rf__etcd_source_t *self(rf__source *s)
{
    return (rf__etcd_source_t *)s;
}

static rf_status fail(rf__source *base, rf_status status, const char *text)
{
    rf__set_error(base->error, "%s", text);
    return status;
}

/* ---- Leases ---------------------------------------------------------------------------- */

/*
 * A number that no other attempt has: a late request to end this lease must not
 * meet the one of the next attempt, and a late renewal must not move the key
 * to one that is older than its holder believes.
 */
static rf_status new_lease_id(rf__etcd_source_t *s, const rf__grant *grant,
                              int64_t *id)
{
    char attempt[RF_HOLDER_LEN + 1];

    if (rf_holder_new(attempt) != RF_OK)
        return fail(&s->base, RF_RETRY, "the system gives no random bytes");
    *id = rf__etcd_lease_id(attempt, grant->resource, grant->holder);
    return RF_OK;
}

static rf_status grant_lease(rf__etcd_source_t *s, int64_t id, int64_t ttl_ms,
                             int64_t deadline_ms)
{
    rf__etcd_call call = { .path = "/v3/lease/grant",
                           .body = json_pack(
                               "{s:I, s:I}", "ID", (json_int_t)id, "TTL",
                               (json_int_t)((ttl_ms + 999) / 1000)),
                           .deadline_ms = deadline_ms };
    rf_status status = rf__etcd_run(s->etcd, &call);

    json_decref(call.reply);
    /* It is there already: a first request whose answer was lost. */
    if (status == RF_MISUSE && call.code == RF__ETCD_PRECONDITION)
        return RF_OK;
    /* A lease alone is no lock: nothing has landed that anybody could see. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* With all keys that are attached to it.  What fails runs out by itself. */
static void revoke_lease(rf__etcd_source_t *s, json_int_t id,
                         int64_t deadline_ms)
{
    rf__error told = *s->base.error;
    rf__etcd_call call = { .path = "/v3/lease/revoke",
                           .body = json_pack("{s:I}", "ID", id),
                           .deadline_ms = deadline_ms };

    (void)rf__etcd_run(s->etcd, &call);
    json_decref(call.reply);
    *s->base.error = told;
}

/* Seconds that are left of a lease, 0 when it has ended. */
static rf_status lease_left(rf__etcd_source_t *s, json_int_t id,
                            int64_t deadline_ms, int64_t *left_ms)
{
    rf__etcd_call call = { .path = "/v3/lease/timetolive",
                           .body = json_pack("{s:I}", "ID", id),
                           .deadline_ms = deadline_ms };
    rf_status status = rf__etcd_run(s->etcd, &call);

    *left_ms = status == RF_OK ? rf__etcd_number(call.reply, "TTL") * 1000 : 0;
    json_decref(call.reply);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* From now on for as long as it was made for. */
static rf_status extend_lease(rf__etcd_source_t *s, json_int_t id,
                              int64_t deadline_ms, int64_t *ttl_ms)
{
    rf__etcd_call call = { .path = "/v3/lease/keepalive",
                           .body = json_pack("{s:I}", "ID", id),
                           .deadline_ms = deadline_ms };
    rf_status status = rf__etcd_run(s->etcd, &call);
    const json_t *result = json_object_get(call.reply, "result");

    *ttl_ms = status == RF_OK ? rf__etcd_number(result, "TTL") * 1000 : 0;
    json_decref(call.reply);
    return status;
}

/* Before the key could be attached to it: nothing has landed. */
static int lease_ended(const rf__etcd_call *call, rf_status status)
{
    return status == RF_MISUSE && call->code == RF__ETCD_NOT_FOUND;
}

/* ---- Keys -------------------------------------------------------------------------------- */

static void read_key(const json_t *range, found *out)
{
    const json_t *kv = json_array_get(json_object_get(range, "kvs"), 0);
    const char *value = json_string_value(json_object_get(kv, "value"));

    memset(out, 0, sizeof(*out));
    out->there = kv != NULL;
    out->revision = rf__etcd_number(kv, "create_revision");
    out->changed = rf__etcd_number(kv, "mod_revision");
    out->lease = rf__etcd_number(kv, "lease");
    if (value == NULL ||
        rf__base64_read(value, out->holder, sizeof(out->holder)) !=
            RF_HOLDER_LEN ||
        !rf__holder_valid(out->holder))
        out->holder[0] = '\0';
}

static rf_status look(rf__etcd_source_t *s, const char *resource,
                      int64_t deadline_ms, found *out)
{
    rf__etcd_key key;
    rf__etcd_call call = { .path = "/v3/kv/range", .deadline_ms = deadline_ms };
    rf_status status;

    rf__etcd_lock_key(&key, s->prefix, resource);
    call.body = json_pack("{s:s}", "key", key.text);
    status = rf__etcd_run(s->etcd, &call);
    read_key(call.reply, out);
    out->newest = rf__etcd_number(json_object_get(call.reply, "header"),
                                  "revision");
    json_decref(call.reply);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* Is it the lock that this grant is about? */
static int is_ours(const rf__etcd_source_t *s, const found *key,
                   const rf__grant *grant)
{
    return key->there && strcmp(key->holder, grant->holder) == 0 &&
           s->numbers_from + key->revision == grant->fence;
}

static rf_status lost(rf__source *base, rf__grant *grant, const found *key)
{
    grant->taken = key->there;
    return fail(base, RF_LOST,
                key->there ? "another has the lock now"
                           : "the lock has run out");
}

/* If the key is still the one that was made then. */
static json_t *if_made_at(const rf__etcd_key *key, json_int_t revision)
{
    return json_pack("{s:s, s:s, s:s, s:I}", "key", key->text, "target",
                     "CREATE", "result", "EQUAL", "create_revision", revision);
}

static json_t *look_again(const rf__etcd_key *key)
{
    return json_pack("{s:{s:s}}", "request_range", "key", key->text);
}

/* The reply's part n is the range that was asked for. */
static const json_t *part(const json_t *reply, size_t n, const char *kind)
{
    return json_object_get(
        json_array_get(json_object_get(reply, "responses"), n), kind);
}

static int succeeded(const json_t *reply)
{
    return json_is_true(json_object_get(reply, "succeeded"));
}

static rf_status delete_if_ours(rf__etcd_source_t *s, rf__grant *grant,
                                int64_t deadline_ms, found *was)
{
    rf__etcd_call call = { .path = "/v3/kv/txn", .deadline_ms = deadline_ms };
    rf__etcd_key key;
    rf_status status;

    rf__etcd_lock_key(&key, s->prefix, grant->resource);
    call.body = json_pack("{s:[o], s:[{s:{s:s, s:b}}], s:[o]}", "compare",
                          if_made_at(&key, grant->fence - s->numbers_from),
                          "success", "request_delete_range", "key", key.text,
                          "prev_kv", 1, "failure", look_again(&key));
    status = rf__etcd_run(s->etcd, &call);
    memset(was, 0, sizeof(*was));
    if (status == RF_OK && succeeded(call.reply)) {
        const json_t *old = json_object_get(
            part(call.reply, 0, "response_delete_range"), "prev_kvs");

        was->lease = rf__etcd_number(json_array_get(old, 0), "lease");
    } else if (status == RF_OK) {
        read_key(part(call.reply, 0, "response_range"), was);
        status = lost(&s->base, grant, was);
    }
    json_decref(call.reply);
    return status;
}

/* ---- Acquire ------------------------------------------------------------------------------- */

static json_t *acquire_request(const rf__etcd_source_t *s,
                               const rf__grant *grant, int64_t lease)
{
    char holder[RF__BASE64_SIZE(RF_HOLDER_LEN)];
    rf__etcd_key key, place;

    rf__etcd_lock_key(&key, s->prefix, grant->resource);
    rf__etcd_place_key(&place, s->prefix, grant->resource, grant->holder);
    rf__base64_write(holder, grant->holder, RF_HOLDER_LEN);
    return json_pack("{s:[o], s:[{s:{s:s, s:s, s:I}}, {s:{s:s}}], s:[o]}",
                     "compare", if_made_at(&key, 0), "success", "request_put",
                     "key", key.text, "value", holder, "lease",
                     (json_int_t)lease, "request_delete_range", "key",
                     place.text, "failure", look_again(&key));
}

static rf_status busy(rf__etcd_source_t *s, rf__grant *grant, const found *key,
                      int64_t deadline_ms)
{
    rf_status status = RF_OK;

    grant->busy_ms = -1;
    grant->busy_by = RF__OWNER_FOREIGN;
    if (key->lease != 0) {
        grant->busy_by = RF__OWNER_OURS;
        status = lease_left(s, key->lease, deadline_ms, &grant->busy_ms);
    }
    if (status != RF_OK)
        return status;
    return fail(&s->base, RF_BUSY, "held by another");
}

/* This holder has it: handed out as it is. */
static rf_status replay(rf__etcd_source_t *s, rf__grant *grant,
                        const found *key, int64_t deadline_ms)
{
    int64_t left_ms;
    rf_status status = lease_left(s, key->lease, deadline_ms, &left_ms);

    if (status != RF_OK)
        return status;
    grant->fence = s->numbers_from + key->revision;
    if (left_ms < grant->ttl_ms)
        grant->ttl_ms = left_ms;
    return RF_OK;
}

static rf_status put_if_absent(rf__etcd_source_t *s, rf__grant *grant,
                               int64_t lease, int64_t deadline_ms)
{
    rf__etcd_call call = { .path = "/v3/kv/txn",
                           .body = acquire_request(s, grant, lease),
                           .deadline_ms = deadline_ms };
    rf_status status;
    found key;

    status = rf__etcd_run(s->etcd, &call);
    if (status == RF_OK && succeeded(call.reply)) {
        const json_t *header = json_object_get(call.reply, "header");

        grant->fence = s->numbers_from + rf__etcd_number(header, "revision");
    } else if (status == RF_OK) {
        read_key(part(call.reply, 0, "response_range"), &key);
        if (strcmp(key.holder, grant->holder) == 0)
            status = replay(s, grant, &key, deadline_ms);
        else
            status = busy(s, grant, &key, deadline_ms);
    }
    json_decref(call.reply);
    return lease_ended(&call, status) ? RF_RETRY : status;
}

/*
 * The database knows greater numbers than etcd can give: the cluster was
 * rebuilt or restored, or another source had the resource before.
 */
static rf_status too_low(rf__source *base, rf_fence floor)
{
    rf__set_error(
        base->error,
        "etcd's numbers are below %lld, which the database knows: put "
        "base=%lld or more into the URL of every client",
        (long long)floor, (long long)floor);
    return RF_MISUSE;
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    rf_status status;
    int64_t lease;
    found was;

    if (grant->shared)
        return fail(base, RF_MISUSE, "etcd:// has no shared locks");
    status = new_lease_id(s, grant, &lease);
    if (status != RF_OK)
        return status;
    /* The lock's time is the lease's, which begins before the key is there. */
    grant->sent_ms = rf__now_ms();
    status = grant_lease(s, lease, grant->ttl_ms, deadline_ms);
    if (status != RF_OK)
        return status;
    status = put_if_absent(s, grant, lease, deadline_ms);
    if (status == RF_OK && grant->fence <= floor) {
        (void)delete_if_ours(s, grant, deadline_ms, &was);
        revoke_lease(s, lease, deadline_ms);
        return too_low(base, floor);
    }
    if (status == RF_BUSY)
        revoke_lease(s, lease, deadline_ms);
    return status;
}

/* ---- Renew, reissue, release ---------------------------------------------------------------- */

/* If nothing at all has been done with the key since it was looked at. */
static json_t *if_as_it_was(const rf__etcd_key *key, const found *was)
{
    return json_pack("{s:s, s:s, s:s, s:I}", "key", key->text, "target", "MOD",
                     "result", "EQUAL", "mod_revision", was->changed);
}

/* It is lost, unless an earlier renewal that was late has moved it by now. */
static rf_status not_moved(rf__etcd_source_t *s, rf__grant *grant,
                           const json_t *reply)
{
    found now;

    read_key(part(reply, 0, "response_range"), &now);
    if (is_ours(s, &now, grant))
        return fail(&s->base, RF_RETRY, "renewed by two requests at once");
    return lost(&s->base, grant, &now);
}

/* A lease can't be made longer: the key goes over to another one. */
static rf_status change_lease(rf__etcd_source_t *s, rf__grant *grant,
                              const found *was, int64_t deadline_ms)
{
    char holder[RF__BASE64_SIZE(RF_HOLDER_LEN)];
    rf__etcd_call call = { .path = "/v3/kv/txn", .deadline_ms = deadline_ms };
    rf__etcd_key key;
    rf_status status;
    int64_t lease;

    status = new_lease_id(s, grant, &lease);
    if (status == RF_OK)
        status = grant_lease(s, lease, grant->ttl_ms, deadline_ms);
    if (status != RF_OK)
        return status;
    rf__etcd_lock_key(&key, s->prefix, grant->resource);
    rf__base64_write(holder, grant->holder, RF_HOLDER_LEN);
    call.body = json_pack("{s:[o], s:[{s:{s:s, s:s, s:I}}], s:[o]}", "compare",
                          if_as_it_was(&key, was), "success", "request_put",
                          "key", key.text, "value", holder, "lease",
                          (json_int_t)lease, "failure", look_again(&key));
    status = rf__etcd_run(s->etcd, &call);
    if (status == RF_OK && !succeeded(call.reply))
        status = not_moved(s, grant, call.reply);
    json_decref(call.reply);
    if (lease_ended(&call, status))
        return RF_RETRY;
    if (status == RF_OK)
        revoke_lease(s, was->lease, deadline_ms);
    return status;
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    rf_status status;
    int64_t ttl_ms;
    found key;

    grant->sent_ms = rf__now_ms();
    status = look(s, grant->resource, deadline_ms, &key);
    if (status != RF_OK)
        return status;
    if (!is_ours(s, &key, grant))
        return lost(base, grant, &key);
    status = extend_lease(s, key.lease, deadline_ms, &ttl_ms);
    if (status != RF_OK)
        return status;
    if (ttl_ms == 0) {
        key.there = 0;
        return lost(base, grant, &key);
    }
    if (ttl_ms >= grant->ttl_ms)
        return RF_OK;
    return change_lease(s, grant, &key, deadline_ms);
}

static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    rf_status status;
    found was;

    /* Nobody was ever given a number of this base. */
    if (grant->fence <= s->numbers_from) {
        memset(&was, 0, sizeof(was));
        return lost(base, grant, &was);
    }
    status = delete_if_ours(s, grant, deadline_ms, &was);
    if (status == RF_OK && was.lease != 0)
        revoke_lease(s, was.lease, deadline_ms);
    return status;
}

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    found key;
    rf_status status = look(self(base), grant->resource, deadline_ms, &key);

    if (status != RF_OK)
        return status;
    if (!is_ours(self(base), &key, grant))
        return lost(base, grant, &key);
    return too_low(base, floor);
}

/* ---- Waiting ----------------------------------------------------------------------------------- */

static rf_status wait_in_queue(rf__source *base, rf__grant *grant,
                               int64_t for_ms)
{
    rf__etcd_source_t *s = self(base);

    return rf__etcd_queue_wait(s->etcd, s->prefix, grant, for_ms,
                               s->timeout_ms);
}

/* ---- For people ---------------------------------------------------------------------------------- */

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    rf_status status;
    found key;

    status = look(s, resource, deadline_ms, &key);
    /* Whoever comes next gets a greater number. */
    if (status == RF_OK)
        info->counter = s->numbers_from + key.newest;
    if (status != RF_OK || !key.there)
        return status;
    info->held = 1;
    info->left_ms = -1;
    if (key.lease != 0)
        status = lease_left(s, key.lease, deadline_ms, &info->left_ms);
    if (key.holder[0] == '\0')
        return status;
    memcpy(info->holder, key.holder, sizeof(info->holder));
    info->fence = s->numbers_from + key.revision;
    return status;
}

/* etcd has no log for people: the reason stays beside the lock. */
static rf_status force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    char text[RF__BASE64_SIZE(RF_RESOURCE_MAX)];
    rf__etcd_call call = { .path = "/v3/kv/txn", .deadline_ms = deadline_ms };
    rf__etcd_key key, why;
    rf_status status;

    rf__etcd_lock_key(&key, s->prefix, resource);
    rf__etcd_reason_key(&why, s->prefix, resource);
    rf__base64_write(text, reason, strlen(reason));
    call.body = json_pack(
        "{s:[o, {s:s, s:s, s:s, s:I}], s:[{s:{s:s}}, {s:{s:s, s:s}}]}",
        "compare", if_made_at(&key, fence - s->numbers_from), "key", key.text,
        "target", "CREATE", "result", "GREATER", "create_revision",
        (json_int_t)0, "success", "request_delete_range", "key", key.text,
        "request_put", "key", why.text, "value", text);
    status = rf__etcd_run(s->etcd, &call);
    if (status == RF_OK && !succeeded(call.reply))
        status = fail(base, RF_LOST, "nobody has the lock with that fence");
    json_decref(call.reply);
    return status;
}

static rf_status read_names(const rf__etcd_source_t *s, const json_t *keys,
                            rf__page *page)
{
    size_t prefix = strlen(s->prefix), used = 0;

    page->names = malloc((json_array_size(keys) + 1) * (RF_RESOURCE_MAX + 1));
    if (page->names == NULL)
        return RF_NOMEM;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *kv = json_array_get(keys, i);
        const char *text = json_string_value(json_object_get(kv, "key"));
        char key[RF__ETCD_KEY_MAX];
        long len = text != NULL ? rf__base64_read(text, key, sizeof(key)) : -1;

        if (len <= (long)prefix || len - (long)prefix > RF_RESOURCE_MAX)
            continue;
        memcpy(page->names + used, key + prefix, (size_t)len - prefix + 1);
        used += (size_t)len - prefix + 1;
        page->n++;
    }
    return RF_OK;
}

/* All of them at once: there are as many as there are holders at work. */
static rf_status list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    rf__etcd_source_t *s = self(base);
    rf__etcd_call call = { .path = "/v3/kv/range", .deadline_ms = deadline_ms };
    rf__etcd_key from, to;
    rf_status status;

    memcpy(page->cursor, "0", 2);
    page->names = NULL;
    page->n = 0;
    rf__etcd_locks_range(&from, &to, s->prefix);
    call.body = json_pack("{s:s, s:s, s:b}", "key", from.text, "range_end",
                          to.text, "keys_only", 1);
    status = rf__etcd_run(s->etcd, &call);
    if (status == RF_OK)
        status = read_names(s, json_object_get(call.reply, "kvs"), page);
    json_decref(call.reply);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static rf_status examine(rf__source *base, const rf__examination *e)
{
    return rf__etcd_examine(self(base)->etcd, base, self(base)->prefix, e);
}

/* ---- Open and close --------------------------------------------------------------------------------- */

static void close_source(rf__source *base)
{
    rf__etcd_free(self(base)->etcd);
    free(base);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .is_fixed = 1,
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_in_queue,
    .acquire_all = rf__acquire_in_turn,
    .force_release = force_release,
    .list = list,
    .examine = examine,
    .renew_all = rf__renew_in_turn,
    .release_all = rf__release_in_turn,
    .clone = clone,
    .close = close_source,
};

/* Takes etcd over, also when it fails. */
static rf__source *new_source(rf__etcd *etcd, rf__error *error)
{
    rf__etcd_source_t *s = etcd != NULL ? calloc(1, sizeof(*s)) : NULL;

    if (s == NULL) {
        rf__etcd_free(etcd);
        return NULL;
    }
    s->base.ops = &ops;
    s->base.error = error;
    s->etcd = etcd;
    return &s->base;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__etcd_source_t *from = self(base);
    rf__source *copy = new_source(rf__etcd_again(from->etcd, error), error);

    if (copy == NULL)
        return NULL;
    self(copy)->numbers_from = from->numbers_from;
    self(copy)->timeout_ms = from->timeout_ms;
    memcpy(self(copy)->prefix, from->prefix, sizeof(from->prefix));
    return copy;
}

rf__source *rf__etcd_source(const rf__service *service, const rf_options *opts,
                            rf__error *error)
{
    rf__source *base = new_source(rf__etcd_new(service, error), error);

    if (base == NULL)
        return NULL;
    self(base)->numbers_from = service->base;
    self(base)->timeout_ms = opts->timeout_ms;
    memcpy(self(base)->prefix, opts->prefix, strlen(opts->prefix) + 1);
    return base;
}

rf_status rf__etcd_source_check(const rf_options *opts, rf__error *error)
{
    if (opts->min_replicas == 0)
        return RF_OK;
    rf__set_error(error, "option min_replicas: etcd answers when a majority of "
                         "its members has it");
    return RF_MISUSE;
}

#endif /* RF_ETCD */
