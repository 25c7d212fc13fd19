/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * refusal.c - what PostgreSQL said when it did not do what it was asked
 */
#include <stdio.h>
#include <string.h>

#include "section.h"

/* The first line of text; NULL is "". */
static void copy_line(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text != NULL ? text : "");
    to[strcspn(to, "\n")] = '\0';
}

rf_status section_refused(PGconn *conn, const PGresult *result,
                          section_refusal *refusal)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);

    copy_line(refusal->sqlstate, sizeof(refusal->sqlstate), sqlstate);
    copy_line(refusal->message, sizeof(refusal->message),
              message != NULL ? message : PQerrorMessage(conn));
    copy_line(refusal->detail, sizeof(refusal->detail), detail);
    return rf_pg_status(sqlstate);
}
