/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_floor.c - the newest fence that the database knows
 *
 * What a lock service needs to be told when it has forgotten its counter.
 */
#include <errno.h>
#include <stdlib.h>

#include "pg_internal.h"

/* Nobody holds a lock meanwhile, so there is no deadline to go by. */
#define ASK_MS 5000

/* Read a fence out of a result.  0 when it is none. */
static int read_fence(const PGresult *result, rf_fence *out)
{
    char *end;
    long long value;

    if (PQntuples(result) != 1 || PQgetisnull(result, 0, 0))
        return 0;
    errno = 0;
    value = strtoll(PQgetvalue(result, 0, 0), &end, 10);
    if (errno != 0 || *end != '\0' || value < 0)
        return 0;
    *out = value;
    return 1;
}

rf_status rf__pg_high_water(PGconn *conn, const char *resource,
                            rf__error *error, rf_fence *out)
{
    static const rf__pg_step question = {
        .sql = "SELECT ringfence.high_water($1)", .n = 1
    };
    rf__pg_step step = question;
    rf__pg_talk talk = { .steps = &step, .n = 1, .error = error };
    rf_status status;

    step.values = &resource;
    talk.until_ms = rf__now_ms() + ASK_MS;
    status = rf__pg_converse(conn, &talk);
    if (status == RF_OK && !read_fence(talk.last, out))
        status = rf__pg_fail(error, RF_MISUSE,
                             "the answer of ringfence.high_water is no fence");
    PQclear(talk.last);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

rf_status rf_pg_floor(void *conn, const char *resource, rf_fence *out)
{
    rf__error error;
    rf_status status;

    if (resource == NULL || out == NULL)
        return RF_MISUSE;
    *out = 0;
    status = rf__pg_check_idle(conn, &error);
    if (status != RF_OK)
        return status;
    return rf__pg_high_water(conn, resource, &error, out);
}
