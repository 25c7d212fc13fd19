/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * doctor_pg.c - what a person wants to know of the database
 *
 * One row of facts, asked for at once, and a judgement of each; what may not be
 * asked is said to be unknown.
 */
#include "doctor_pg.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit.h"

enum {
    VERSION,
    RECOVERY,
    FSYNC,
    COMMIT,
    IDLE,
    LOCK,
    PRELOAD,
    STANDBYS,
    SYNC,
    APART,
    INSTALLED,
    AVAILABLE
};

static const char facts_sql[] =
    "SELECT current_setting('server_version'), pg_is_in_recovery(),"
    " current_setting('fsync'), current_setting('synchronous_commit'),"
    " current_setting('idle_in_transaction_session_timeout'),"
    " current_setting('lock_timeout'),"
    " (SELECT setting LIKE '%ringfence%' FROM pg_settings"
    "   WHERE name = 'shared_preload_libraries'),"
    " (SELECT count(*) FROM pg_stat_get_wal_senders()),"
    " (SELECT setting FROM pg_settings"
    "   WHERE name = 'synchronous_standby_names'),"
    " round(1000 * (extract(epoch FROM clock_timestamp()) - $1::numeric)),"
    " (SELECT extversion FROM pg_extension WHERE extname = 'ringfence'),"
    " (SELECT default_version FROM pg_available_extensions"
    "   WHERE name = 'ringfence')";

typedef struct patient {
    cli_call *call;
    cli_findings *all;
    const char *where;
    PGresult *facts;
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

static const char *fact(const patient *p, int which)
{
    return PQgetvalue(p->facts, 0, which);
}

static int fact_is(const patient *p, int which, const char *value)
{
    return strcmp(fact(p, which), value) == 0;
}

/* ---- The server ------------------------------------------------------- */

static void look_at_recovery(const patient *p)
{
    static const verdict standby = {
        RF_CRITICAL,
        "This is a standby: it could not know the newest claim, so the guard "
        "refuses everything here (RF005).",
        "Connect to the primary (target_session_attrs=read-write)."
    };

    if (fact_is(p, RECOVERY, "t"))
        tell(p, "role", "standby", standby);
    else
        tell(p, "role", "primary", fine);
}

static void look_at_durability(const patient *p)
{
    static const verdict unsafe = {
        RF_CRITICAL,
        "After a crash of the machine, claims and data may be gone or "
        "damaged; then an older holder is accepted again.",
        "ALTER SYSTEM SET fsync = on"
    };
    static const verdict late = {
        RF_NOTICE,
        "Commits may be lost in a crash although they were acknowledged. "
        "Claims are not: they are flushed whatever this says.",
        "SET synchronous_commit = on where a write must not be lost."
    };

    tell(p, "fsync", fact(p, FSYNC), fact_is(p, FSYNC, "on") ? fine : unsafe);
    tell(p, "synchronous_commit", fact(p, COMMIT),
         fact_is(p, COMMIT, "off") ? late : fine);
}

static void look_at_standbys(const patient *p)
{
    static const verdict lagging = {
        RF_WARNING,
        "After a fail-over to one of them the last claims may be missing, and "
        "the holder before them is accepted again.",
        "Set synchronous_standby_names, as for any commit that must not be "
        "lost."
    };
    char found[64];

    (void)snprintf(found, sizeof(found), "%s, synchronous: %s",
                   fact(p, STANDBYS), *fact(p, SYNC) != '\0' ? "yes" : "none");
    tell(p, "standbys", found,
         !fact_is(p, STANDBYS, "0") && *fact(p, SYNC) == '\0' ? lagging : fine);
}

static void look_at_timeouts(const patient *p)
{
    static const verdict endless = {
        RF_NOTICE,
        "A holder that stops inside a transaction of plain SQL keeps newer "
        "ones waiting until that ends. The calls of the C library carry a "
        "lease and don't.",
        "ALTER ROLE ... SET idle_in_transaction_session_timeout = '30s', or "
        "give guard() a lease."
    };
    static const verdict patient_lock = {
        RF_NOTICE, "A claim waits for the work of older holders without end.",
        "ALTER ROLE ... SET lock_timeout, where somebody would rather be told."
    };

    tell(p, "idle_in_transaction_session_timeout", fact(p, IDLE),
         fact_is(p, IDLE, "0") ? endless : fine);
    tell(p, "lock_timeout", fact(p, LOCK),
         fact_is(p, LOCK, "0") ? patient_lock : fine);
}

static void look_at_preload(const patient *p)
{
    static const verdict absent = {
        RF_NOTICE,
        "stats() counts for each session alone, and a first claim in a "
        "statement that reads may fail with 40001 for others' commits.",
        "shared_preload_libraries = 'ringfence', if either matters."
    };

    if (PQgetisnull(p->facts, 0, PRELOAD))
        tell(p, "preload", "unknown: this role may not see it", fine);
    else
        tell(p, "preload", fact_is(p, PRELOAD, "t") ? "yes" : "no",
             fact_is(p, PRELOAD, "t") ? fine : absent);
}

static void look_at_clock(const patient *p)
{
    static const verdict apart = {
        RF_NOTICE, "Nothing is decided by it; times in logs will not agree.",
        "Let ntpd or chrony slew both clocks."
    };
    char found[64];

    (void)snprintf(found, sizeof(found), "%s ms from ours", fact(p, APART));
    tell(p, "clock", found,
         llabs(strtoll(fact(p, APART), NULL, 10)) > 1000 ? apart : fine);
}

/* ---- The extension ---------------------------------------------------- */

/* 1 when it is there. */
static int look_at_extension(const patient *p)
{
    static const verdict missing = { RF_CRITICAL,
                                     "Nothing is refused in this database.",
                                     "As a superuser: CREATE EXTENSION "
                                     "ringfence" };
    static const verdict behind = { RF_WARNING,
                                    "A newer version is installed on this "
                                    "server, and not in this database.",
                                    "ALTER EXTENSION ringfence UPDATE" };
    const char *have = fact(p, INSTALLED), *could = fact(p, AVAILABLE);

    if (PQgetisnull(p->facts, 0, INSTALLED)) {
        tell(p, "extension", "none", missing);
        return 0;
    }
    tell(p, "extension", have,
         *could != '\0' && strcmp(have, could) != 0 ? behind : fine);
    return 1;
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

static void look_at_privileges(const patient *p)
{
    static const verdict none = {
        RF_CRITICAL, "This role can't claim: every section fails.",
        "As the extension's owner: SELECT ringfence.grant_to('ROLE')"
    };
    const char *why;
    PGresult *answer;
    const char *may = ask_one(
        p,
        "SELECT has_schema_privilege('ringfence', 'USAGE') AND "
        "has_function_privilege('ringfence.guard(text, bigint, text, "
        "interval, boolean)', 'EXECUTE')",
        &answer, &why);

    if (may == NULL)
        tell(p, "privileges", why, none);
    else
        tell(p, "privileges",
             *may == 't' ? "this role may claim" : "this role may not claim",
             *may == 't' ? fine : none);
    PQclear(answer);
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

void cli_doctor_pg(cli_call *call, cli_findings *all)
{
    char where[128], seconds[32];
    const char *value = seconds;
    struct timespec now;
    int code;
    patient p = { .call = call, .all = all, .where = where };

    (void)snprintf(where, sizeof(where), "database %s", PQdb(call->conn));
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(seconds, sizeof(seconds), "%lld.%03ld",
                   (long long)now.tv_sec, now.tv_nsec / 1000000);
    p.facts = cli_ask(call, facts_sql, 1, &value, &code);
    if (p.facts == NULL)
        return;
    tell(&p, "version", fact(&p, VERSION), fine);
    look_at_recovery(&p);
    look_at_durability(&p);
    look_at_standbys(&p);
    look_at_timeouts(&p);
    look_at_preload(&p);
    look_at_clock(&p);
    if (look_at_extension(&p)) {
        look_at_privileges(&p);
        look_at_tables(&p);
        look_at_holes(&p);
    }
    PQclear(p.facts);
}
