/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_many.c - many leases in one statement
 *
 * The grants travel as one array for each of their parts.  The rows come back in
 * their order; whatever fails, fails for all of them.
 */
#include "pg_many.h"

#include <stdlib.h>
#include <string.h>

/* Room for a name that is escaped throughout, its quotes and its comma. */
#define RESOURCE_ROOM (2 * RF_RESOURCE_MAX + 3)
#define WORD_ROOM     (RF_HOLDER_LEN + 3)

enum { RESOURCES, FENCES, HOLDERS, TTLS, PARTS };

/* One array after the other, each with its zero. */
typedef struct arrays {
    char *space;
    char *at;
    const char *values[PARTS];
} arrays;

static void put_quoted(arrays *a, const char *text)
{
    *a->at++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            *a->at++ = '\\';
        *a->at++ = *text;
    }
    *a->at++ = '"';
}

static void put_element(arrays *a, int part, const rf__grant *grant)
{
    switch (part) {
    case RESOURCES: put_quoted(a, grant->resource); return;
    case HOLDERS: put_quoted(a, grant->holder); return;
    case FENCES: a->at += rf__decimal_write(a->at, grant->fence); return;
    default: a->at += rf__decimal_write(a->at, grant->ttl_ms);
    }
}

static int write_arrays(arrays *a, const rf__grant *grants, size_t n)
{
    a->space = malloc(PARTS * 3 + n * (RESOURCE_ROOM + 3 * WORD_ROOM));
    if (a->space == NULL)
        return 0;
    a->at = a->space;
    for (int part = 0; part < PARTS; part++) {
        a->values[part] = a->at;
        *a->at++ = '{';
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                *a->at++ = ',';
            put_element(a, part, &grants[i]);
        }
        *a->at++ = '}';
        *a->at++ = '\0';
    }
    return 1;
}

static int is_true(const PGresult *rows, size_t row, int column)
{
    return strcmp(PQgetvalue(rows, (int)row, column), "t") == 0;
}

static void read_rows(const PGresult *rows, const rf__pg_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        batch->results[i] = is_true(rows, i, 0) ? RF_OK : RF_LOST;
        batch->grants[i].taken = is_true(rows, i, 1);
    }
}

/* The statement answers with two truths for each grant, in their order. */
static void run(rf__pg_link *link, const rf__pg_batch *batch, const char *sql,
                int parts, rf__error *error)
{
    arrays a = { 0 };
    rf__pg_step step = { sql, parts, NULL, a.values };
    rf__pg_talk talk = { .steps = &step,
                         .n = 1,
                         .commits = 1,
                         .until_ms = batch->deadline_ms,
                         .error = error };
    int64_t sent_ms = rf__now_ms();
    rf_status status = RF_NOMEM;

    if (write_arrays(&a, batch->grants, batch->n))
        status = rf__pg_link_talk(link, &talk);
    if (status == RF_OK && PQntuples(talk.last) != (int)batch->n)
        status = RF_UNKNOWN;
    for (size_t i = 0; i < batch->n; i++) {
        batch->grants[i].sent_ms = sent_ms;
        batch->results[i] = status;
    }
    if (status == RF_OK)
        read_rows(talk.last, batch);
    PQclear(talk.last);
    free(a.space);
}

void rf__pg_renew_all(rf__pg_link *link, const rf__pg_batch *batch,
                      rf__error *error)
{
    run(link, batch,
        "SELECT r.renewed, r.taken"
        " FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])"
        " WITH ORDINALITY AS g (resource, fence, holder, ttl_ms, i),"
        " ringfence.renew(g.resource, g.fence, g.holder,"
        " g.ttl_ms * interval '1 ms') AS r ORDER BY g.i",
        PARTS, error);
}

void rf__pg_release_all(rf__pg_link *link, const rf__pg_batch *batch,
                        rf__error *error)
{
    run(link, batch,
        "SELECT r.released, r.taken"
        " FROM unnest($1::text[], $2::bigint[], $3::text[])"
        " WITH ORDINALITY AS g (resource, fence, holder, i),"
        " ringfence.release(g.resource, g.fence, g.holder) AS r ORDER BY g.i",
        TTLS, error);
}

rf_status rf__pg_read_names(const PGresult *rows, rf__page *page)
{
    int n = PQntuples(rows);
    size_t size = 1, used = 0;

    for (int i = 0; i < n; i++)
        size += (size_t)PQgetlength(rows, i, 0) + 1;
    page->names = malloc(size);
    if (page->names == NULL)
        return RF_NOMEM;
    for (int i = 0; i < n; i++) {
        size_t len = (size_t)PQgetlength(rows, i, 0) + 1;

        memcpy(page->names + used, PQgetvalue(rows, i, 0), len);
        used += len;
    }
    page->n = (size_t)n;
    return RF_OK;
}
