/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_examine.c - what a person wants to know of a database
 *
 * One row of facts, asked for at once, and a judgement of each; what may not be
 * asked is said to be unknown.
 */
#include "pg_examine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

/* Where nobody says how long a question may take. */
#define ASK_MS 5000

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

typedef struct looking {
    PGconn *conn;
    const rf__examination *e;
    rf__error *error;
    PGresult *facts;
    char where[300];
} looking;

static const rf__verdict fine = { RF_FINE, "", "" };

static void tell(const looking *l, const char *subject, const char *found,
                 rf__verdict v)
{
    rf__verdict_tell(l->e, l->where, subject, found, v);
}

/* The server and the database in it, so that two are told apart. */
static void name_place(looking *l)
{
    const char *host = PQhost(l->conn);

    (void)snprintf(l->where, sizeof(l->where), "database %.64s at %.200s",
                   PQdb(l->conn), host != NULL && *host != '\0' ? host : "?");
}

static const char *fact(const looking *l, int which)
{
    return PQgetvalue(l->facts, 0, which);
}

static int fact_is(const looking *l, int which, const char *value)
{
    return strcmp(fact(l, which), value) == 0;
}

/* One row of so many columns, to be cleared by the caller. */
static rf_status ask(const looking *l, const char *sql, const char *value,
                     int columns, PGresult **row)
{
    const rf__pg_step step = { sql, value != NULL, NULL, &value };
    rf__pg_talk talk = { .steps = &step,
                         .n = 1,
                         .until_ms = rf__now_ms() + l->e->timeout_ms,
                         .error = l->error };
    rf_status status = rf__pg_converse(l->conn, &talk);

    *row = talk.last;
    if (status != RF_OK)
        return status == RF_UNKNOWN ? RF_RETRY : status;
    if (PQntuples(*row) == 1 && PQnfields(*row) == columns)
        return RF_OK;
    PQclear(*row);
    *row = NULL;
    return rf__pg_fail(l->error, RF_RETRY,
                       "PostgreSQL's answer makes no sense");
}

/* ---- The server ------------------------------------------------------- */

static void look_at_recovery(const looking *l)
{
    static const rf__verdict standby = {
        RF_CRITICAL,
        "This is a standby: it could not know the newest claim, so the guard "
        "refuses everything here (RF005).",
        "Connect to the primary (target_session_attrs=read-write)."
    };

    if (fact_is(l, RECOVERY, "t"))
        tell(l, "role", "standby", standby);
    else
        tell(l, "role", "primary", fine);
}

static void look_at_durability(const looking *l)
{
    static const rf__verdict unsafe = {
        RF_CRITICAL,
        "After a crash of the machine, claims and data may be gone or "
        "damaged; then an older holder is accepted again.",
        "ALTER SYSTEM SET fsync = on"
    };
    static const rf__verdict late = {
        RF_NOTICE,
        "Commits may be lost in a crash although they were acknowledged. "
        "Claims are not: they are flushed whatever this says.",
        "SET synchronous_commit = on where a write must not be lost."
    };

    tell(l, "fsync", fact(l, FSYNC), fact_is(l, FSYNC, "on") ? fine : unsafe);
    tell(l, "synchronous_commit", fact(l, COMMIT),
         fact_is(l, COMMIT, "off") ? late : fine);
}

static void look_at_standbys(const looking *l)
{
    static const rf__verdict lagging = {
        RF_WARNING,
        "After a fail-over to one of them the last claims may be missing, and "
        "the holder before them is accepted again.",
        "Set synchronous_standby_names, as for any commit that must not be "
        "lost."
    };
    char found[64];

    (void)snprintf(found, sizeof(found), "%s, synchronous: %s",
                   fact(l, STANDBYS), *fact(l, SYNC) != '\0' ? "yes" : "none");
    tell(l, "standbys", found,
         !fact_is(l, STANDBYS, "0") && *fact(l, SYNC) == '\0' ? lagging : fine);
}

static void look_at_timeouts(const looking *l)
{
    static const rf__verdict endless = {
        RF_NOTICE,
        "A holder that stops inside a transaction of plain SQL keeps newer "
        "ones waiting until that ends. The calls of the C library carry a "
        "lease and don't.",
        "ALTER ROLE ... SET idle_in_transaction_session_timeout = '30s', or "
        "give guard() a lease."
    };
    static const rf__verdict patient_lock = {
        RF_NOTICE, "A claim waits for the work of older holders without end.",
        "ALTER ROLE ... SET lock_timeout, where somebody would rather be told."
    };

    tell(l, "idle_in_transaction_session_timeout", fact(l, IDLE),
         fact_is(l, IDLE, "0") ? endless : fine);
    tell(l, "lock_timeout", fact(l, LOCK),
         fact_is(l, LOCK, "0") ? patient_lock : fine);
}

static void look_at_preload(const looking *l)
{
    static const rf__verdict absent = {
        RF_NOTICE,
        "stats() counts for each session alone, and a first claim in a "
        "statement that reads may fail with 40001 for others' commits.",
        "shared_preload_libraries = 'ringfence', if either matters."
    };

    if (PQgetisnull(l->facts, 0, PRELOAD))
        tell(l, "preload", "unknown: this role may not see it", fine);
    else
        tell(l, "preload", fact_is(l, PRELOAD, "t") ? "yes" : "no",
             fact_is(l, PRELOAD, "t") ? fine : absent);
}

static void look_at_clock(const looking *l)
{
    static const rf__verdict apart = {
        RF_NOTICE,
        "It ends locks that are kept here, and nothing else: set while they "
        "are held, it ends them early or late. Times in logs won't agree.",
        "Let ntpd or chrony slew both clocks."
    };
    char found[64];

    (void)snprintf(found, sizeof(found), "%s ms from ours", fact(l, APART));
    tell(l, "clock", found,
         llabs(strtoll(fact(l, APART), NULL, 10)) > 1000 ? apart : fine);
}

/* ---- The extension ---------------------------------------------------- */

/* 1 when it is there. */
static int look_at_extension(const looking *l)
{
    static const rf__verdict missing = { RF_CRITICAL,
                                         "Nothing is refused in this database.",
                                         "As a superuser: CREATE EXTENSION "
                                         "ringfence" };
    static const rf__verdict behind = { RF_WARNING,
                                        "A newer version is installed on this "
                                        "server, and not in this database.",
                                        "ALTER EXTENSION ringfence UPDATE" };
    const char *have = fact(l, INSTALLED), *could = fact(l, AVAILABLE);

    if (PQgetisnull(l->facts, 0, INSTALLED)) {
        tell(l, "extension", "none", missing);
        return 0;
    }
    tell(l, "extension", have,
         *could != '\0' && strcmp(have, could) != 0 ? behind : fine);
    return 1;
}

/* Whether this role may do a thing, as a query says; else what that means. */
static rf_status look_at_right(const looking *l, const char *subject,
                               const char *sql, rf__verdict none)
{
    PGresult *row;
    rf_status status = ask(l, sql, NULL, 1, &row);
    int may = status == RF_OK && strcmp(PQgetvalue(row, 0, 0), "t") == 0;

    PQclear(row);
    if (status == RF_RETRY || status == RF_NOMEM)
        return status;
    if (status != RF_OK)
        tell(l, subject, l->error->text, none);
    else
        tell(l, subject, may ? "all that is needed" : "missing",
             may ? fine : none);
    return RF_OK;
}

static rf_status look_at_privileges(const looking *l)
{
    static const rf__verdict none = {
        RF_CRITICAL, "This role can't claim: every section fails.",
        "As the extension's owner: SELECT ringfence.grant_to('ROLE')"
    };

    return look_at_right(
        l, "privileges",
        "SELECT has_schema_privilege('ringfence', 'USAGE') AND"
        " has_function_privilege('ringfence.guard(text, bigint, text,"
        " interval, boolean)', 'EXECUTE')",
        none);
}

static rf_status look_at_server(looking *l)
{
    char seconds[RF__DECIMAL_MAX + 4];
    int64_t now_ms = rf__wall_ms();
    rf_status status = RF_OK;

    name_place(l);
    (void)snprintf(seconds, sizeof(seconds), "%" PRId64 ".%03d", now_ms / 1000,
                   (int)(now_ms % 1000));
    status = ask(l, facts_sql, seconds, AVAILABLE + 1, &l->facts);
    if (status != RF_OK)
        return status;
    tell(l, "version", fact(l, VERSION), fine);
    look_at_recovery(l);
    look_at_durability(l);
    look_at_standbys(l);
    look_at_timeouts(l);
    look_at_preload(l);
    look_at_clock(l);
    if (look_at_extension(l))
        status = look_at_privileges(l);
    return status;
}

rf_status rf__pg_examine_server(PGconn *conn, const rf__examination *e,
                                rf__error *error)
{
    looking l = { .conn = conn, .e = e, .error = error };
    rf_status status = look_at_server(&l);

    PQclear(l.facts);
    return status;
}

rf_status rf_pg_examine(PGconn *conn, rf_on_finding on_finding, void *arg)
{
    rf__examination e = { .on_finding = on_finding,
                          .arg = arg,
                          .timeout_ms = ASK_MS };
    rf__error error;
    rf_status status = rf__pg_check_idle(conn, &error);

    if (on_finding == NULL)
        return RF_MISUSE;
    if (status != RF_OK)
        return status;
    return rf__pg_examine_server(conn, &e, &error);
}

/* ---- Locks that are kept here ------------------------------------------- */

static void look_at_waking(const looking *l, int pooled)
{
    static const rf__verdict polling = {
        RF_NOTICE,
        "Behind a pooler no session can listen, so nobody is woken: who waits "
        "asks again every 10 to 500 ms, and gets the lock that much later.",
        "Connect past the pooler for locks that are waited for, or let it pool "
        "by sessions."
    };

    tell(l, "waking", pooled ? "none, there is a pooler" : "by LISTEN",
         pooled ? polling : fine);
}

static rf_status look_at_notices(const looking *l)
{
    static const rf__verdict full = {
        RF_WARNING,
        "Somebody listens and does not read. When the queue is full no lock "
        "that is waited for can be given back: it has to run out.",
        "Look for the oldest transaction in pg_stat_activity, and end it."
    };
    PGresult *row;
    rf_status status = ask(
        l, "SELECT ceil(100 * pg_catalog.pg_notification_queue_usage())", NULL,
        1, &row);
    char found[64];

    if (status == RF_OK) {
        const char *percent = PQgetvalue(row, 0, 0);

        (void)snprintf(found, sizeof(found), "%.20s %% of the queue", percent);
        tell(l, "notices", found, strtol(percent, NULL, 10) > 50 ? full : fine);
    }
    PQclear(row);
    return status;
}

static rf_status look_at_locks(const looking *l, int pooled)
{
    static const rf__verdict none = {
        RF_CRITICAL, "This role can't take locks and give them back.",
        "As the extension's owner: SELECT ringfence.grant_to('ROLE')"
    };
    rf_status status = look_at_right(
        l, "locks",
        "SELECT bool_and(has_function_privilege(name, 'EXECUTE'))"
        " FROM unnest(ARRAY["
        "'ringfence.acquire(text, text, interval, bigint)',"
        "'ringfence.renew(text, bigint, text, interval)',"
        "'ringfence.release(text, bigint, text)',"
        "'ringfence.reissue(text, bigint, text, bigint)',"
        "'ringfence.listen(text)']) AS name",
        none);

    look_at_waking(l, pooled);
    return status == RF_OK ? look_at_notices(l) : status;
}

rf_status rf__pg_examine_locks(rf__pg_link *link, const rf__examination *e,
                               rf__error *error)
{
    rf_status status = rf__pg_link_open(link, rf__now_ms() + e->timeout_ms,
                                        error);
    looking l = { .conn = link->conn, .e = e, .error = error };

    if (status == RF_OK)
        status = look_at_server(&l);
    if (status == RF_OK && !PQgetisnull(l.facts, 0, INSTALLED))
        status = look_at_locks(&l, link->pooled);
    PQclear(l.facts);
    return status;
}
