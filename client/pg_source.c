/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_source.c - PostgreSQL alone as a source of locks and fences
 *
 * The extension keeps the leases and takes their numbers from the registry, so
 * that to acquire is to claim: a grant is never stale at birth in the database
 * that issued it.  Every step is one statement of the extension's and one round
 * trip.
 */
#include "pg_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_turn.h"
#include "pg_examine.h"
#include "pg_link.h"
#include "pg_many.h"

typedef struct rf__pg_source_t {
    rf__source base;
    rf__pg_link link;
    int timeout_ms;
} rf__pg_source_t;

/* The parameters of one call, written out. */
typedef struct words {
    char fence[RF__DECIMAL_MAX];
    char ttl[RF__DECIMAL_MAX + 3];
    char floor[RF__DECIMAL_MAX];
} words;

static rf__pg_source_t *self(rf__source *s)
{
    return (rf__pg_source_t *)s;
}

static void write_words(words *w, const rf__grant *grant, rf_fence floor)
{
    rf__decimal_write(w->fence, grant->fence);
    (void)snprintf(w->ttl, sizeof(w->ttl), "%" PRId64 " ms", grant->ttl_ms);
    /* Nobody needs to be asked: the registry forgets nothing. */
    rf__decimal_write(w->floor, floor == RF__FLOOR_ASK ? 0 : floor);
}

/* ---- Asking ----------------------------------------------------------------------- */

static rf_status nonsense(rf__pg_source_t *s)
{
    rf__pg_link_close(&s->link);
    return rf__pg_fail(s->base.error, RF_UNKNOWN,
                       "PostgreSQL's answer makes no sense");
}

/* A standby is no place for locks, but it, or another, may become one. */
static rf_status explain(rf__pg_source_t *s, rf_status status)
{
    const char *standby;

    if (status != RF_MISUSE || s->link.conn == NULL)
        return status;
    standby = PQparameterStatus(s->link.conn, "in_hot_standby");
    if (standby == NULL || strcmp(standby, "on") != 0)
        return status;
    rf__pg_link_close(&s->link);
    return RF_RETRY;
}

/* The last step answers with one row. */
static rf_status ask_as(rf__pg_source_t *s, const char *name, rf__pg_talk *talk,
                        int columns)
{
    rf_status status;

    talk->error = s->base.error;
    status = explain(s, rf__pg_link_talk_as(&s->link, name, talk));
    if (status != RF_OK)
        return status;
    if (PQntuples(talk->last) == 1 && PQnfields(talk->last) == columns)
        return RF_OK;
    PQclear(talk->last);
    talk->last = NULL;
    return nonsense(s);
}

static rf_status ask(rf__pg_source_t *s, rf__pg_talk *talk, int columns)
{
    return ask_as(s, NULL, talk, columns);
}

/*
 * A row in one column, "(granted,7,30000)": the server makes that faster than a
 * table of one row.  Nothing in our rows has to be quoted.
 */
typedef struct row {
    char text[96];
    const char *field[3];
} row;

static int read_row(row *r, const char *text, int fields)
{
    size_t n = strlen(text);
    char *at = r->text;

    if (n < 2 || n > sizeof(r->text) || text[0] != '(' || text[n - 1] != ')')
        return 0;
    memcpy(r->text, text + 1, n - 2);
    r->text[n - 2] = '\0';
    for (int i = 0; i < fields; i++)
        r->field[i] = at != NULL ? strsep(&at, ",") : "";
    return at == NULL;
}

static rf_status ask_row(rf__pg_source_t *s, const char *name,
                         rf__pg_talk *talk, row *r, int fields)
{
    rf_status status = ask_as(s, name, talk, 1);

    if (status == RF_OK && !read_row(r, PQgetvalue(talk->last, 0, 0), fields))
        status = nonsense(s);
    PQclear(talk->last);
    return status;
}

static int is_true(const char *text)
{
    return strcmp(text, "t") == 0;
}

static int is_number(const char *text, int64_t least, int64_t *out)
{
    return rf__decimal_read(text, least, RF_FENCE_MAX, out);
}

static int number(const rf__pg_talk *talk, int column, int64_t least,
                  int64_t *out)
{
    return is_number(PQgetvalue(talk->last, 0, column), least, out);
}

/* ---- Acquire ---------------------------------------------------------------------- */

/*
 * A setting and what it is for are one statement: CASE evaluates its condition
 * first.  Work under the grant before is waited for, but not as long as we wait
 * for the answer: the server has to be the one that ends it.
 */
static void write_patience(char out[RF__DECIMAL_MAX], int64_t deadline_ms)
{
    int left = rf__left_ms(deadline_ms);

    rf__decimal_write(out, left - left / 4 > 0 ? left - left / 4 : 1);
}

static rf_status read_acquired(rf__pg_source_t *s, rf__grant *grant,
                               const row *r)
{
    const char *outcome = r->field[0];

    if (strcmp(outcome, "busy") == 0) {
        if (!is_number(r->field[2], 0, &grant->busy_ms))
            return nonsense(s);
        grant->busy_by = RF__OWNER_OURS;
        return rf__pg_fail(s->base.error, RF_BUSY,
                           s->link.pooled
                               ? "held by another; behind a pooler "
                                 "nobody is woken, only asking again "
                                 "helps"
                               : "held by another");
    }
    if (strcmp(outcome, "granted") != 0 && strcmp(outcome, "replayed") != 0)
        return nonsense(s);
    if (!is_number(r->field[1], 1, &grant->fence) ||
        !is_number(r->field[2], 0, &grant->ttl_ms))
        return nonsense(s);
    return RF_OK;
}

/* The lock is free, but a transaction of the one before it has not ended. */
static rf_status still_at_work(rf__pg_source_t *s, rf__grant *grant)
{
    s->base.error->sqlstate[0] = '\0';
    grant->busy_ms = -1;
    grant->busy_by = RF__OWNER_FOREIGN;
    return rf__pg_fail(s->base.error, RF_BUSY,
                       "a transaction of the holder before is still open");
}

static rf_status acquire(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    rf__pg_source_t *s = self(base);
    char patience[RF__DECIMAL_MAX];
    words w;
    const char *values[] = { grant->resource, grant->holder, w.ttl, w.floor,
                             patience };
    const rf__pg_step step = {
        "SELECT CASE WHEN"
        " pg_catalog.set_config('lock_timeout', $5, true) IS NOT NULL"
        " THEN ringfence.acquire($1, $2, $3, $4) END",
        5, NULL, values
    };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .commits = 1, .until_ms = deadline_ms
    };
    rf_status status;
    row r = { 0 };

    if (grant->shared)
        return rf__pg_fail(base->error, RF_MISUSE,
                           "postgresql:// has no shared locks");
    /* Connecting takes nothing from the lock's time. */
    status = rf__pg_link_open(&s->link, deadline_ms, base->error);
    if (status != RF_OK)
        return status;
    write_words(&w, grant, floor);
    write_patience(patience, deadline_ms);
    grant->sent_ms = rf__now_ms();
    status = ask_row(s, "ringfence_acquire", &talk, &r, 3);
    if (status == RF_RETRY && strcmp(base->error->sqlstate, "55P03") == 0)
        return still_at_work(s, grant);
    return status == RF_OK ? read_acquired(s, grant, &r) : status;
}

/* ---- Renew, reissue, release ------------------------------------------------------- */

static rf_status lost(rf__source *base, rf__grant *grant, int taken)
{
    grant->taken = taken;
    return rf__pg_fail(base->error, RF_LOST,
                       taken ? "another has the lock now"
                             : "the lock has run out");
}

/* (done, taken) */
static rf_status ask_if_done(rf__pg_source_t *s, const char *name,
                             rf__grant *grant, rf__pg_talk *talk)
{
    row r = { 0 };
    rf_status status = ask_row(s, name, talk, &r, 2);

    if (status == RF_OK && !is_true(r.field[0]))
        status = lost(&s->base, grant, is_true(r.field[1]));
    return status;
}

static rf_status renew(rf__source *base, rf__grant *grant, int64_t deadline_ms)
{
    words w;
    const char *values[] = { grant->resource, w.fence, grant->holder, w.ttl };
    const rf__pg_step step = { "SELECT ringfence.renew($1, $2, $3, $4)", 4,
                               NULL, values };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .commits = 1, .until_ms = deadline_ms
    };

    write_words(&w, grant, 0);
    grant->sent_ms = rf__now_ms();
    return ask_if_done(self(base), "ringfence_renew", grant, &talk);
}

/*
 * A lock that was given back and comes to life again in a crash runs out by
 * itself: nobody has to wait for the disk.
 */
static rf_status release(rf__source *base, rf__grant *grant,
                         int64_t deadline_ms)
{
    words w;
    const char *values[] = { grant->resource, w.fence, grant->holder };
    const rf__pg_step step = {
        "SELECT CASE WHEN"
        " pg_catalog.set_config('synchronous_commit', 'off', true) IS NOT NULL"
        " THEN ringfence.release($1, $2, $3) END",
        3, NULL, values
    };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .commits = 1, .until_ms = deadline_ms
    };

    write_words(&w, grant, 0);
    return ask_if_done(self(base), "ringfence_release", grant, &talk);
}

static rf_status reissue(rf__source *base, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    words w;
    const char *values[] = { grant->resource, w.fence, grant->holder, w.floor };
    const rf__pg_step step = { "SELECT ringfence.reissue($1, $2, $3, $4)", 4,
                               NULL, values };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .commits = 1, .until_ms = deadline_ms
    };
    rf_status status;
    int64_t issued;

    write_words(&w, grant, floor);
    status = ask(self(base), &talk, 1);
    if (status != RF_OK)
        return status;
    if (PQgetisnull(talk.last, 0, 0))
        status = lost(base, grant, 0);
    else if (!number(&talk, 0, 1, &issued) || issued <= floor ||
             issued <= grant->fence)
        status = nonsense(self(base));
    else
        grant->fence = issued;
    PQclear(talk.last);
    return status;
}

/* ---- Many -------------------------------------------------------------------------- */

static void renew_all(rf__source *base, rf__grant *grants, rf_status *results,
                      size_t n, int64_t deadline_ms)
{
    rf__pg_batch batch = { grants, results, n, deadline_ms };

    rf__pg_renew_all(&self(base)->link, &batch, base->error);
}

static void release_all(rf__source *base, rf__grant *grants, rf_status *results,
                        size_t n, int64_t deadline_ms)
{
    rf__pg_batch batch = { grants, results, n, deadline_ms };

    rf__pg_release_all(&self(base)->link, &batch, base->error);
}

/* ---- Waiting ----------------------------------------------------------------------- */

/* 1: nobody has it any more, so there is nothing to wait for. */
static int is_free(rf__pg_source_t *s, const char *resource,
                   int64_t deadline_ms)
{
    const char *values[] = { resource };
    const rf__pg_step step = { "SELECT 1 FROM ringfence.locks"
                               " WHERE resource = $1",
                               1, NULL, values };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .until_ms = deadline_ms, .error = s->base.error
    };
    int free = rf__pg_link_talk(&s->link, &talk) != RF_OK ||
               PQntuples(talk.last) == 0;

    PQclear(talk.last);
    return free;
}

static rf_status set_listening(rf__pg_source_t *s, const char *sql,
                               const char *resource, char *channel, size_t size)
{
    const char *values[] = { resource };
    const rf__pg_step step = { sql, 1, NULL, values };
    rf__pg_talk talk = { .steps = &step,
                         .n = 1,
                         .until_ms = rf__now_ms() + s->timeout_ms };
    rf_status status = ask(s, &talk, 1);

    if (status == RF_OK && channel != NULL)
        (void)snprintf(channel, size, "%s", PQgetvalue(talk.last, 0, 0));
    PQclear(talk.last);
    return status;
}

/*
 * Listening begins with its commit; whoever gave the lock back before that has
 * told nobody, so look once more.  Behind a pooler there is no session that
 * could listen: the caller asks again after a while.
 */
static rf_status wait_for_notice(rf__source *base, rf__grant *grant,
                                 int64_t for_ms)
{
    rf__pg_source_t *s = self(base);
    int64_t until_ms = rf__now_ms() + for_ms;
    char channel[64] = "";
    rf_status status;

    status = rf__pg_link_open(&s->link, until_ms, base->error);
    if (status != RF_OK)
        return status;
    if (s->link.pooled)
        return RF_RETRY;
    status = set_listening(s, "SELECT ringfence.listen($1)", grant->resource,
                           channel, sizeof(channel));
    if (status != RF_OK)
        return status == RF_UNKNOWN ? RF_RETRY : status;
    if (!is_free(s, grant->resource, rf__now_ms() + s->timeout_ms))
        rf__pg_link_sleep(&s->link, channel, grant->cancel_fd, until_ms);
    (void)set_listening(s, "SELECT ringfence.unlisten($1)", grant->resource,
                        NULL, 0);
    return RF_OK;
}

/* ---- For people -------------------------------------------------------------------- */

static int read_info(const rf__pg_talk *talk, rf_info *info)
{
    const char *holder = PQgetvalue(talk->last, 0, 1);

    if (!number(talk, 3, 0, &info->counter))
        return 0;
    if (PQgetisnull(talk->last, 0, 0))
        return 1;
    info->held = 1;
    /* Taken from SQL, a lock may have a holder of any form. */
    if (rf__holder_valid(holder))
        memcpy(info->holder, holder, sizeof(info->holder));
    return number(talk, 0, 1, &info->fence) &&
           number(talk, 2, 0, &info->left_ms);
}

static rf_status inspect(rf__source *base, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    const char *values[] = { resource };
    const rf__pg_step step = {
        "SELECT l.fence, l.holder,"
        " ceil(extract(epoch FROM l.left) * 1000)::bigint,"
        " ringfence.high_water($1)"
        " FROM (SELECT 1) AS one LEFT JOIN ringfence.locks AS l"
        " ON l.resource = $1",
        1, NULL, values
    };
    rf__pg_talk talk = { .steps = &step, .n = 1, .until_ms = deadline_ms };
    rf_status status = ask(self(base), &talk, 4);

    if (status == RF_OK && !read_info(&talk, info))
        status = nonsense(self(base));
    PQclear(talk.last);
    /* It changes nothing, so it may always be done again. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static rf_status force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    char number_text[RF__DECIMAL_MAX];
    const char *values[] = { resource, number_text, reason };
    const rf__pg_step step = { "SELECT ringfence.force_release($1, $2, $3)", 3,
                               NULL, values };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .commits = 1, .until_ms = deadline_ms
    };
    rf_status status;

    rf__decimal_write(number_text, fence);
    status = ask(self(base), &talk, 1);
    if (status == RF_OK && !is_true(PQgetvalue(talk.last, 0, 0)))
        status = rf__pg_fail(base->error, RF_LOST,
                             "nobody has the lock with that fence");
    PQclear(talk.last);
    return status;
}

/* All of them at once: there are as many as there are holders at work. */
static rf_status list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    rf__pg_source_t *s = self(base);
    const rf__pg_step step = { "SELECT resource FROM ringfence.locks"
                               " ORDER BY resource",
                               0, NULL, NULL };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .until_ms = deadline_ms, .error = base->error
    };
    rf_status status;

    memcpy(page->cursor, "0", 2);
    page->names = NULL;
    page->n = 0;
    status = explain(s, rf__pg_link_talk(&s->link, &talk));
    if (status == RF_OK)
        status = rf__pg_read_names(talk.last, page);
    PQclear(talk.last);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static rf_status examine(rf__source *base, const rf__examination *e)
{
    return rf__pg_examine_locks(&self(base)->link, e, base->error);
}

/* ---- Open and close ---------------------------------------------------------------- */

static void close_source(rf__source *base)
{
    rf__pg_source_t *s = self(base);

    rf__pg_link_close(&s->link);
    explicit_bzero(s->link.url, strlen(s->link.url));
    free(s->link.url);
    free(s);
}

static rf__source *clone(rf__source *base, rf__error *error);

static const rf__source_ops ops = {
    .acquire = acquire,
    .renew = renew,
    .release = release,
    .reissue = reissue,
    .inspect = inspect,
    .wait = wait_for_notice,
    .acquire_all = rf__acquire_in_turn,
    .force_release = force_release,
    .list = list,
    .examine = examine,
    .renew_all = renew_all,
    .release_all = release_all,
    .clone = clone,
    .close = close_source,
};

static rf__source *new_source(const char *url, int timeout_ms, rf__error *error)
{
    rf__pg_source_t *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->base.ops = &ops;
    s->base.error = error;
    s->timeout_ms = timeout_ms;
    s->link.url = strdup(url);
    if (s->link.url != NULL)
        return &s->base;
    free(s);
    return NULL;
}

static rf__source *clone(rf__source *base, rf__error *error)
{
    rf__pg_source_t *s = self(base);

    return new_source(s->link.url, s->timeout_ms, error);
}

rf__source *rf__pg_source(const rf__service *service, const rf_options *opts,
                          rf__error *error)
{
    return new_source(service->text, opts->timeout_ms, error);
}

rf_status rf__pg_source_check(const rf__service *service,
                              const rf_options *opts, rf__error *error)
{
    static const rf_options defaults = RF_OPTIONS_INIT;

    if (strcmp(opts->prefix, defaults.prefix) != 0)
        return rf__pg_fail(error, RF_MISUSE,
                           "option prefix: postgresql:// has no keys to put "
                           "it before; use databases to keep locks apart");
    if (opts->min_replicas > 0)
        return rf__pg_fail(error, RF_MISUSE,
                           "option min_replicas: that is the server's "
                           "synchronous_standby_names");
    return rf__pg_link_check(service->text, error);
}
