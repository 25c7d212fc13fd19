/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * doctor_pg.c - what a person wants to know of the database that judges
 *
 * The server itself is the library's to tell; here is what it protects.
 */
#include "doctor_pg.h"

#include <ringfence_pg.h>
#include <stdio.h>
#include <string.h>

#include "audit.h"

typedef struct patient {
    cli_call *call;
    cli_findings *all;
    char where[128];
    int is_guarded; /* it has the extension */
} patient;

typedef struct verdict {
    rf_severity severity;
    const char *meaning, *remedy;
} verdict;

static const verdict fine = { RF_FINE, "", "" };

static void tell(const patient *p, const char *subject, const char *found,
                 verdict v)
{
    cli_finding f = { .severity = v.severity,
                      .where = p->where,
                      .subject = subject,
                      .found = found,
                      .meaning = v.meaning,
                      .remedy = v.remedy };

    cli_findings_add(p->all, &f);
}

/* One value, or NULL with the reason in *why, which lives in answer. */
static const char *ask_one(const patient *p, const char *sql, PGresult **answer,
                           const char **why)
{
    *answer = PQexec(p->call->conn, sql);
    *why = "";
    if (PQresultStatus(*answer) == PGRES_TUPLES_OK && PQntuples(*answer) == 1)
        return PQgetvalue(*answer, 0, 0);
    *why = PQresultErrorField(*answer, PG_DIAG_MESSAGE_PRIMARY);
    if (*why == NULL)
        *why = "the connection is lost";
    return NULL;
}

static void look_at_tables(const patient *p)
{
    static const verdict unprotected = {
        RF_WARNING,
        "No table is protected: only writes that ask guard() or try_guard() "
        "themselves are refused, and whoever doesn't ask is not.",
        "SELECT ringfence.protect('TABLE', resource => 'NAME:{column}')"
    };
    static const verdict observed = {
        RF_WARNING, "Tables in observe mode refuse nothing.",
        "SELECT ringfence.protect(..., mode => 'enforce') once the warnings "
        "have stopped."
    };
    static const verdict unknown = {
        RF_NOTICE, "Whether tables are protected can't be looked at.",
        "GRANT SELECT ON ringfence.protected, or ask as its owner."
    };
    const char *why;
    PGresult *answer;
    const char *found = ask_one(
        p,
        "SELECT count(*) FILTER (WHERE mode = 'enforce') || ' enforced, ' || "
        "count(*) FILTER (WHERE mode <> 'enforce') || ' observed' FROM "
        "ringfence.protected",
        &answer, &why);

    if (found == NULL)
        tell(p, "protected tables", why, unknown);
    else if (strncmp(found, "0 ", 2) == 0)
        tell(p, "protected tables", found, unprotected);
    else
        tell(p, "protected tables", found,
             strstr(found, " 0 observed") != NULL ? fine : observed);
    PQclear(answer);
}

static void look_at_holes(const patient *p)
{
    static const verdict unknown = {
        RF_NOTICE, "Holes in the protection can't be looked for.",
        "GRANT EXECUTE ON FUNCTION ringfence.audit(), or ask as its owner."
    };
    const char *why;
    PGresult *answer;
    const char *count = ask_one(p, "SELECT count(*) FROM ringfence.audit()",
                                &answer, &why);

    if (count == NULL)
        tell(p, "audit", why, unknown);
    else if (strcmp(count, "0") == 0)
        tell(p, "audit", "no hole was found", fine);
    else
        (void)cli_audit(p->call, p->all);
    PQclear(answer);
}

/* Told as it comes; on the way, is there more to look at? */
static void pass_on(const rf_finding *finding, void *arg)
{
    patient *p = arg;

    if (strcmp(finding->subject, "extension") == 0)
        p->is_guarded = finding->severity != RF_CRITICAL;
    (void)snprintf(p->where, sizeof(p->where), "%s", finding->where);
    cli_findings_pass_on(finding, p->all);
}

void cli_doctor_pg(cli_call *call, cli_findings *all)
{
    static const verdict away = { RF_CRITICAL,
                                  "The database can't be asked: nothing can be "
                                  "claimed.",
                                  "Look whether it runs and can be reached." };
    patient p = { .call = call, .all = all };
    rf_status status = rf_pg_examine(call->conn, pass_on, &p);

    if (status != RF_OK) {
        tell(&p, "database", rf_status_name(status), away);
        return;
    }
    if (!p.is_guarded)
        return;
    look_at_tables(&p);
    look_at_holes(&p);
}
