/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claims.c - what the database has accepted last, beside each lock
 */
#include "claims.h"

#include <stdlib.h>
#include <string.h>

static char *names(const cli_held *held)
{
    json_t *all = json_array();
    char *text;

    for (size_t i = 0; i < held->n; i++)
        (void)json_array_append_new(all, json_string(held->lock[i].resource));
    text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}

static void say_why(const PGresult *answer, char *note, size_t size)
{
    const char *text = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);

    size_t used = strlen(note);

    (void)snprintf(note + used, size - used, "%sno claims: %s",
                   used > 0 ? "; " : "",
                   text != NULL ? text : "the connection is lost");
}

void cli_claims_read(cli_call *call, const cli_held *held, cli_claims *out,
                     char *note, size_t size)
{
    char *text = names(held);
    const char *value = text;

    if (PQstatus(call->conn) != CONNECTION_OK)
        PQreset(call->conn);
    out->rows = PQexecParams(
        call->conn,
        "SELECT resource, fence, holder FROM ringfence.registry WHERE "
        "resource IN (SELECT json_array_elements_text($1::json))",
        1, NULL, &value, NULL, NULL, 0);
    free(text);
    if (PQresultStatus(out->rows) == PGRES_TUPLES_OK)
        return;
    say_why(out->rows, note, size);
    cli_claims_free(out);
}

static int find(const cli_claims *claims, const char *resource)
{
    for (int row = 0; row < PQntuples(claims->rows); row++) {
        if (strcmp(PQgetvalue(claims->rows, row, 0), resource) == 0)
            return row;
    }
    return -1;
}

void cli_claims_cell(cli_table *table, const cli_claims *claims,
                     const cli_lock *lock)
{
    int row = find(claims, lock->resource);
    rf_fence fence;

    if (claims->rows == NULL || row < 0) {
        cli_table_add(table, CLI_DIM, "%s", claims->rows == NULL ? "?" : "-");
        return;
    }
    fence = strtoll(PQgetvalue(claims->rows, row, 1), NULL, 10);
    if (!lock->info.held || lock->info.fence == 0)
        cli_table_add(table, CLI_DIM, "%lld", (long long)fence);
    else if (fence > lock->info.fence)
        cli_table_add(table, CLI_RED, "%lld newer", (long long)fence);
    else if (fence < lock->info.fence)
        cli_table_add(table, CLI_YELLOW, "%lld older", (long long)fence);
    else if (strcmp(PQgetvalue(claims->rows, row, 2), lock->info.holder) == 0)
        cli_table_add(table, CLI_GREEN, "%lld", (long long)fence);
    else
        cli_table_add(table, CLI_RED, "%lld another's", (long long)fence);
}

json_t *cli_claims_json(const cli_claims *claims, const cli_lock *lock)
{
    int row = find(claims, lock->resource);

    if (row < 0)
        return json_null();
    return json_pack(
        "{s:I, s:s?}", "fence",
        (json_int_t)strtoll(PQgetvalue(claims->rows, row, 1), NULL, 10),
        "holder",
        PQgetisnull(claims->rows, row, 2) ? NULL
                                          : PQgetvalue(claims->rows, row, 2));
}

void cli_claims_free(cli_claims *claims)
{
    PQclear(claims->rows);
    claims->rows = NULL;
}
