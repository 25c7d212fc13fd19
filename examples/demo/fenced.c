/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * fenced.c - the section of section.h with ringfence
 *
 * Two styles of writing.  "library" lets rf_pg_exec() send guard and statement
 * together; past its deadline it refuses by its own clock and sends nothing.
 * "sql" is what a program in any other language does: it remembers fence and
 * holder from the start, looks at no clock, and calls ringfence.guard() itself.
 * It shows that the database refuses, whatever the client believes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "section.h"

struct section {
    rf_client *client;
    PGconn *conn;
    rf_lock *lock;
    int by_sql;
    char resource[RF_RESOURCE_MAX + 1];
    char holder[RF_HOLDER_LEN + 1];
    rf_fence fence;
};

static section *open_section(const char *url, PGconn *conn, const char *style)
{
    section *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->conn = conn;
    s->by_sql = strcmp(style, "sql") == 0;
    if (rf_open(url, NULL, &s->client) != RF_OK) {
        free(s);
        return NULL;
    }
    return s;
}

static void close_section(section *s)
{
    if (s == NULL)
        return;
    rf_release(s->lock);
    rf_close(s->client);
    free(s);
}

static rf_status begin_section(section *s, const char *resource, int ttl_ms,
                               int wait_ms)
{
    rf_acquire_options options = RF_ACQUIRE_INIT;
    rf_status status;

    options.ttl_ms = ttl_ms;
    options.wait_ms = wait_ms;
    status = rf_pg_acquire(s->client, s->conn, resource, &options, &s->lock);
    if (status != RF_OK)
        return status;
    snprintf(s->resource, sizeof(s->resource), "%s", resource);
    snprintf(s->holder, sizeof(s->holder), "%s", rf_lock_holder(s->lock));
    s->fence = rf_lock_fence(s->lock);
    return RF_OK;
}

static rf_fence section_fence(const section *s)
{
    return s->fence;
}

/* Run one statement; on failure note why and say what it means. */
static rf_status run(section *s, const rf_pg_statement *statement,
                     section_refusal *refusal)
{
    PGresult *result = PQexecParams(s->conn, statement->sql, statement->n, NULL,
                                    statement->values, NULL, NULL, 0);
    ExecStatusType kind = PQresultStatus(result);
    rf_status status = RF_OK;

    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK)
        status = section_refused(s->conn, result, refusal);
    PQclear(result);
    return status;
}

/* BEGIN, guard, write, COMMIT: the same words in every language. */
static rf_status write_by_sql(section *s, const rf_pg_statement *statement,
                              section_refusal *refusal)
{
    char fence[24];
    const char *grant[3] = { s->resource, fence, s->holder };
    const rf_pg_statement begin = { "BEGIN", 0, NULL };
    const rf_pg_statement commit = { "COMMIT", 0, NULL };
    const rf_pg_statement rollback = { "ROLLBACK", 0, NULL };
    const rf_pg_statement guard = {
        "SELECT ringfence.guard($1, $2::bigint, $3)", 3, grant
    };
    section_refusal ignored;
    rf_status status;

    snprintf(fence, sizeof(fence), "%lld", (long long)s->fence);
    status = run(s, &begin, refusal);
    if (status == RF_OK)
        status = run(s, &guard, refusal);
    if (status == RF_OK)
        status = run(s, statement, refusal);
    if (status == RF_OK)
        return run(s, &commit, refusal);
    run(s, &rollback, &ignored);
    /* Only a COMMIT leaves us not knowing, and none was sent. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static rf_status write_section(section *s, const rf_pg_statement *statement,
                               section_refusal *refusal)
{
    rf_status status;

    if (s->by_sql)
        return write_by_sql(s, statement, refusal);
    status = rf_pg_exec(s->conn, s->lock, statement, NULL);
    if (status == RF_OK)
        return RF_OK;
    snprintf(refusal->sqlstate, sizeof(refusal->sqlstate), "%s",
             rf_pg_sqlstate(s->client));
    snprintf(refusal->message, sizeof(refusal->message), "%s",
             rf_message(s->client));
    return status;
}

static rf_status end_section(section *s)
{
    rf_status status = rf_release(s->lock);

    s->lock = NULL;
    return status;
}

static const char *section_text(const section *s)
{
    return rf_message(s->client);
}

const section_kind fenced_section = {
    .name = "fenced",
    .open = open_section,
    .close = close_section,
    .begin = begin_section,
    .fence = section_fence,
    .write = write_section,
    .end = end_section,
    .text = section_text,
};
