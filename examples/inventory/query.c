/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * query.c - the SQLSTATE decides, never the text
 */
#include "query.h"

#include <stdio.h>

rf_status query(PGconn *conn, const char *sql, int n, const char *const *values,
                PGresult **out)
{
    PGresult *result = PQexecParams(conn, sql, n, NULL, values, NULL, NULL, 0);
    ExecStatusType done = PQresultStatus(result);
    rf_status status = RF_OK;

    if (done != PGRES_TUPLES_OK && done != PGRES_COMMAND_OK) {
        status = rf_pg_status(PQresultErrorField(result, PG_DIAG_SQLSTATE));
        fprintf(stderr, "%s: %s", rf_status_name(status), PQerrorMessage(conn));
    }
    if (out != NULL)
        *out = NULL;
    if (out != NULL && status == RF_OK)
        *out = result;
    else
        PQclear(result);
    return status;
}

rf_status query_rows(PGconn *conn, const char *sql, int n,
                     const char *const *values, int *rows)
{
    PGresult *result = NULL;
    rf_status status = query(conn, sql, n, values, &result);

    if (status == RF_OK)
        *rows = PQntuples(result);
    PQclear(result);
    return status;
}
