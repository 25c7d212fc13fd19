/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_doctor.c - what the fence is worth here, and what to change
 */
#include <inttypes.h>
#include <stdlib.h>

#include "database.h"
#include "doctor_pg.h"
#include "exit.h"
#include "finding.h"
#include "held.h"

/* Of the registry, the newest: old ones are seldom asked for. */
#define SAMPLE "1000"

static void tell(cli_findings *all, rf_severity severity, const char *subject,
                 const char *found, const char *const words[2])
{
    cli_finding f = { .severity = severity,
                      .where = "",
                      .subject = subject,
                      .found = found,
                      .meaning = words[0],
                      .remedy = words[1] };

    cli_findings_add(all, &f);
}

/* ---- The lock service ------------------------------------------------- */

/* Locks without an end: nobody else will ever have them. */
static void look_for_endless(cli_call *call, cli_findings *all)
{
    static const char *const words[2] = {
        "Held for ever: it has no time to live, so nobody else gets it.",
        "\"ringfence inspect\" it; then force-release, or delete another "
        "program's key."
    };
    cli_held held = { 0 };

    if (cli_held_ask(call, &held) == RF_OK) {
        for (size_t i = 0; i < held.n; i++) {
            if (held.lock[i].info.left_ms < 0)
                tell(all, RF_WARNING, "lock", held.lock[i].resource, words);
        }
    }
    cli_held_free(&held);
}

/* 1 when it can be asked. */
static int look_at_locks(cli_call *call, cli_findings *all)
{
    static const char *const words[2] = {
        "The lock service can't be asked: no lock can be had.",
        "Look at its address, its user and whether it runs."
    };
    static const char *const unknown[2] = {
        "Nothing is known here of how a lock service of this kind should be "
        "set up.",
        ""
    };
    int before = all->told;
    rf_status status = rf_examine(call->client, cli_findings_pass_on, all);

    if (status != RF_OK) {
        tell(all, RF_CRITICAL, "lock service", rf_message(call->client), words);
        return 0;
    }
    if (all->told == before)
        tell(all, RF_NOTICE, "lock service", "is not looked at", unknown);
    look_for_endless(call, all);
    return 1;
}

/* ---- Both together ---------------------------------------------------- */

/* How many, and the greatest number that the database has of those. */
static int64_t count_below(cli_call *call, const PGresult *rows,
                           int64_t *greatest)
{
    int64_t below = 0;

    *greatest = 0;
    for (int row = 0; row < PQntuples(rows); row++) {
        int64_t fence = strtoll(PQgetvalue(rows, row, 1), NULL, 10);
        rf_info info;

        if (rf_inspect(call->client, PQgetvalue(rows, row, 0), &info) !=
                RF_OK ||
            info.counter >= fence)
            continue;
        below++;
        if (fence > *greatest)
            *greatest = fence;
    }
    return below;
}

static void tell_below(cli_call *call, cli_findings *all, const char *found,
                       int64_t greatest)
{
    static const char *const raised[2] = {
        "The lock service has forgotten what the database has accepted. "
        "rf_pg_acquire() raises such a number at its first claim; other "
        "clients are refused (RF001). Of counters that run out when idle "
        "(counter_idle_ms) some are always gone: that is meant.",
        "ringfence heal"
    };
    char remedy[96];
    const char *const fixed[2] = {
        "The lock service numbers from below what the database has accepted, "
        "as after a rebuild or a move, and can't be raised: its locks are "
        "stale at birth and refused (RF_MISUSE, RF001).",
        remedy
    };

    (void)snprintf(remedy, sizeof(remedy),
                   "base=%" PRId64 " or more in the URL; ringfence heal looks "
                   "at all and tells it",
                   greatest);
    tell(all, RF_WARNING, "counters", found,
         rf_can_raise(call->client) ? raised : fixed);
}

/* Does the lock service remember what the database has accepted? */
static void compare(cli_call *call, cli_findings *all)
{
    static const char *const nothing[2] = { "", "" };
    PGresult *rows = PQexec(call->conn,
                            "SELECT resource, fence FROM ringfence.registry "
                            "ORDER BY claimed_at DESC LIMIT " SAMPLE);
    char found[96];
    int64_t below, greatest;

    /* Without the privilege there is nothing to compare. */
    if (PQresultStatus(rows) == PGRES_TUPLES_OK) {
        below = count_below(call, rows, &greatest);
        (void)snprintf(found, sizeof(found),
                       "%" PRId64 " of the newest %d are below the database",
                       below, PQntuples(rows));
        if (below > 0)
            tell_below(call, all, found, greatest);
        else
            tell(all, RF_FINE, "counters", found, nothing);
    }
    PQclear(rows);
}

static void conclude(cli_findings *all, int locks, int database)
{
    static const char *const alone[2] = {
        "No database is set: nothing refuses a holder that comes late. For "
        "work that ends in PostgreSQL, set one.",
        "--pg, RINGFENCE_PG or PGHOST and so on"
    };
    static const char *const open[2] = {
        "What is critical above can let a stale write pass, or keeps locks "
        "from being had.",
        ""
    };
    static const char *const closed[2] = {
        "A stale holder is refused by the protected tables, whatever becomes "
        "of the locks.",
        ""
    };

    if (!database)
        tell(all, RF_WARNING, "the fence", "is checked by nobody", alone);
    else if (all->worst == RF_CRITICAL || !locks)
        tell(all, RF_CRITICAL, "the fence", "is not what it should be", open);
    else
        tell(all, RF_FINE, "the fence", "holds", closed);
}

static int look(cli_call *call, cli_findings *all)
{
    int locks = look_at_locks(call, all), database = 0;

    if (call->settings.pg != NULL) {
        static const char *const words[2] = {
            "The database can't be asked: nothing can be claimed.",
            "Look at its address, its user and whether it runs."
        };

        database = cli_connect_only(call) == 0;
        if (database)
            cli_doctor_pg(call, all);
        else
            tell(all, RF_CRITICAL, "database", "can't be asked", words);
        if (database && locks)
            compare(call, all);
    }
    conclude(all, locks, call->settings.pg != NULL);
    return cli_findings_end(all);
}

static int run(cli_call *call)
{
    cli_findings all;
    int code = cli_open(call);

    if (code == 0)
        code = cli_findings_begin(&all, call);
    return code == 0 ? look(call, &all) : code;
}

static const cli_option_id options[] = { CLI_PG_OPTIONS, CLI_LOCK_OPTIONS,
                                         CLI_ALL_OPTIONS };

const cli_command cli_doctor = {
    .name = "doctor",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "what the fence is worth here",
    .text =
        "Looks at the lock service (Redis: version, role, eviction, memory, "
        "persistence, replicas, permissions, clock, counters; PostgreSQL: as "
        "below, and how who waits is woken; etcd: version, members, leader, "
        "alarms, room, compaction, TLS, user, permissions; ZooKeeper: version, "
        "members, leader, sessions, numbers, TLS, user, permissions, folders "
        "open to anybody; locks without an end) and at the database (version, "
        "role, durability, standbys, "
        "timeouts, the extension, privileges, protected tables, what audit() "
        "finds), and says in plain words what each means for the fence and "
        "what to change. 1 when something is critical, 2 when there are "
        "warnings, 0 otherwise. Leaves nothing behind.",
    .example = "ringfence doctor || echo 'not yet'",
    .options = options,
    .run = run,
};
