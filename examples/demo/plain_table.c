/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plain_table.c - the usual lock table: a row with locked_until, and no number
 *
 * What ShedLock and its likes do.  The time is the database's, so clocks agree;
 * but nothing tells a late write from any other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "section.h"

struct section {
    PGconn *conn;
    char resource[RF_RESOURCE_MAX + 1];
    char token[RF_HOLDER_LEN + 1];
    char text[256];
};

static section *open_section(const char *url, PGconn *conn, const char *style)
{
    section *s = calloc(1, sizeof(*s));

    (void)url;   /* the lock is where the work is */
    (void)style; /* this recipe has one style     */
    if (s != NULL)
        s->conn = conn;
    return s;
}

static void close_section(section *s)
{
    free(s);
}

static rf_status fail(section *s, rf_status status, const char *text)
{
    snprintf(s->text, sizeof(s->text), "%.*s", (int)strcspn(text, "\n"), text);
    return status;
}

/* RF_OK when the statement changed a row, RF_BUSY when it found none to change. */
static rf_status change_row(section *s, const char *sql, int n,
                            const char *const *values)
{
    PGresult *result = PQexecParams(s->conn, sql, n, NULL, values, NULL, NULL,
                                    0);
    rf_status status = RF_OK;

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = fail(s, RF_RETRY, PQerrorMessage(s->conn));
    else if (strcmp(PQcmdTuples(result), "1") != 0)
        status = RF_BUSY;
    PQclear(result);
    return status;
}

static rf_status try_lock(section *s, int ttl_ms)
{
    char ttl[32];
    const char *values[] = { s->resource, s->token, ttl };

    snprintf(ttl, sizeof(ttl), "%d ms", ttl_ms);
    return change_row(s,
                      "INSERT INTO lock_table AS l VALUES"
                      " ($1, $2, clock_timestamp() + $3::interval)"
                      " ON CONFLICT (name) DO UPDATE"
                      " SET token = $2, locked_until = excluded.locked_until"
                      " WHERE l.locked_until < clock_timestamp()",
                      3, values);
}

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

static rf_status begin_section(section *s, const char *resource, int ttl_ms,
                               int wait_ms)
{
    long until = now_ms() + wait_ms;
    struct timespec pause = { 0, 0 };
    rf_status status;

    snprintf(s->resource, sizeof(s->resource), "%s", resource);
    for (;;) {
        if (rf_holder_new(s->token) != RF_OK)
            return fail(s, RF_RETRY, "no random bytes");
        status = try_lock(s, ttl_ms);
        if (status != RF_BUSY)
            return status;
        if (now_ms() >= until)
            return fail(s, RF_TIMEOUT, "held by another");
        pause.tv_nsec = (2 + random() % 8) * 1000000L;
        nanosleep(&pause, NULL);
    }
}

static rf_fence section_fence(const section *s)
{
    (void)s;
    return 0;
}

static rf_status write_section(section *s, const rf_pg_statement *statement,
                               section_refusal *refusal)
{
    PGresult *result = PQexecParams(s->conn, statement->sql, statement->n, NULL,
                                    statement->values, NULL, NULL, 0);
    rf_status status = RF_OK;

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = section_refused(s->conn, result, refusal);
    PQclear(result);
    return status;
}

static rf_status end_section(section *s)
{
    const char *values[] = { s->resource, s->token };
    rf_status status = change_row(s,
                                  "UPDATE lock_table SET locked_until = 'epoch'"
                                  " WHERE name = $1 AND token = $2",
                                  2, values);

    return status == RF_BUSY ? RF_LOST : status;
}

static const char *section_text(const section *s)
{
    return s->text;
}

const section_kind plain_table_section = {
    .name = "plain",
    .open = open_section,
    .close = close_section,
    .begin = begin_section,
    .fence = section_fence,
    .write = write_section,
    .end = end_section,
    .text = section_text,
};
