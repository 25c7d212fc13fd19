/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_status.c - the one table from SQLSTATE to outcome
 *
 * The code decides, never the text of a message: that is for people, is
 * translated, and changes.
 */
#include <stdio.h>
#include <string.h>

#include "pg_internal.h"

/* The first entry that the code begins with is the answer. */
static const struct {
    const char *code;
    rf_status status;
} outcomes[] = {
    { "RF001", RF_STALE },     /* fence is stale                        */
    { "RF002", RF_COLLISION }, /* fence belongs to another holder       */
    { "RF", RF_MISUSE },       /* not fenced, bad argument, bad set-up  */
    { "25P03", RF_LOST },      /* the lease's end, up to PostgreSQL 16  */
    { "25P04", RF_LOST },      /* the lease's end, from 17 on           */
    { "40003", RF_UNKNOWN },   /* statement completion unknown          */
    { "40", RF_RETRY },        /* serialization failure, deadlock       */
    { "08", RF_UNKNOWN },      /* a pooler lost the server behind it    */
    { "53", RF_RETRY },        /* disk, memory or connections are short */
    { "55P03", RF_RETRY },     /* lock_timeout, NOWAIT                  */
    { "57P04", RF_MISUSE },    /* database dropped                      */
    { "57", RF_RETRY },        /* cancelled, shut down, starting up     */
    { "72000", RF_RETRY },     /* snapshot too old                      */
    { "", RF_MISUSE },         /* the statement itself                  */
};

rf_status rf_pg_status(const char *sqlstate)
{
    size_t i = 0;

    if (sqlstate == NULL || strlen(sqlstate) != 5)
        return RF_UNKNOWN;
    while (strncmp(sqlstate, outcomes[i].code, strlen(outcomes[i].code)) != 0)
        i++;
    return outcomes[i].status;
}

const char *rf_pg_sqlstate(const rf_client *client)
{
    /* Only a look: the cast gives no way to change the client. */
    return client ? rf__client_error((rf_client *)client)->sqlstate : "";
}

rf_status rf__pg_fail(rf__error *error, rf_status status, const char *text)
{
    /* libpq ends its messages with a newline and may send several lines. */
    rf__set_error(error, "%.*s", (int)strcspn(text, "\n"), text);
    return status;
}

rf_status rf__pg_tell(rf__error *error, const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);

    if (code == NULL)
        return rf__pg_fail(error, RF_UNKNOWN, PQresultErrorMessage(result));
    if (text == NULL)
        text = "";
    /*
     * Details of the guard's refusals are numbers; those of other errors may
     * quote rows, which have no business in somebody's log.
     */
    if (strncmp(code, "RF", 2) == 0 && detail != NULL)
        rf__set_error(error, "%s (%s): %s", text, code, detail);
    else
        rf__set_error(error, "%s (%s)", text, code);
    (void)snprintf(error->sqlstate, sizeof(error->sqlstate), "%s", code);
    return rf_pg_status(code);
}
