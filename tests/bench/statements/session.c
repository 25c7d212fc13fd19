/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * session.c - one connection, on which every contestant of a database is
 * prepared
 */
#include "session.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "die.h"

typedef struct prepared {
    size_t n;
    char names[PLAN_STATEMENTS][48];
    char *before_text; /* cut into the parts of before */
    char *before[PLAN_STATEMENTS];
    size_t n_before;
} prepared;

struct session {
    PGconn *pg;
    char schedstat[64];
    prepared who[PLAN_CONTESTANTS];
};

static void run(session *s, const char *sql)
{
    PGresult *result = PQexec(s->pg, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
        status != PGRES_EMPTY_QUERY) {
        fprintf(stderr, "%s\n", sql);
        die("failed", PQresultErrorMessage(result));
    }
    PQclear(result);
}

/*
 * Client and server take turns, so one processor is all that they can use; on
 * two, most of the time is what it takes to wake the other one up.
 */
static void share_processors(session *s, size_t n)
{
    if (n == 0)
        return;
    bind_to(n, 0);
    bind_to(n, PQbackendPID(s->pg));
}

/* The backend's processor time; the kernel keeps it to the nanosecond. */
static void find_cpu_clock(session *s)
{
    snprintf(s->schedstat, sizeof(s->schedstat), "/proc/%d/schedstat",
             PQbackendPID(s->pg));
}

double session_cpu_us(const session *s)
{
    FILE *file = fopen(s->schedstat, "r");
    unsigned long long ns;

    if (file == NULL || fscanf(file, "%llu", &ns) != 1)
        die("cannot read", s->schedstat);
    fclose(file);
    return (double)ns / 1e3;
}

double session_wal(session *s)
{
    PGresult *result = PQexec(s->pg,
                              "SELECT pg_current_wal_insert_lsn() - '0/0'");
    double bytes;

    if (PQntuples(result) != 1)
        die("no position in the log", PQerrorMessage(s->pg));
    bytes = strtod(PQgetvalue(result, 0, 0), NULL);
    PQclear(result);
    return bytes;
}

static void prepare(session *s, const plan *p, size_t i, size_t client)
{
    prepared *it = &s->who[i];
    char *parts[PLAN_STATEMENTS];
    char number[16], *text;

    snprintf(number, sizeof(number), "%zu", client);
    text = plan_replace(p->who[i].statement, "{client}", number);
    it->n = plan_split(text, parts, PLAN_STATEMENTS);
    for (size_t j = 0; j < it->n; j++) {
        PGresult *result;

        snprintf(it->names[j], sizeof(it->names[j]), "s%zu_%zu", i, j);
        result = PQprepare(s->pg, it->names[j], parts[j], 0, NULL);
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            die(parts[j], PQresultErrorMessage(result));
        PQclear(result);
    }
    free(text);
    if (p->who[i].before == NULL)
        return;
    it->before_text = plan_replace(p->who[i].before, "{client}", number);
    it->n_before = plan_split(it->before_text, it->before, PLAN_STATEMENTS);
}

bool session_is_of(const plan *p, size_t contestant, size_t other)
{
    const char *a = p->who[contestant].database;
    const char *b = p->who[other].database;

    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

session *session_open(const plan *p, size_t contestant, size_t client)
{
    const char *database = p->who[contestant].database;
    session *s = calloc(1, sizeof(*s));

    if (s == NULL)
        die("out of memory", NULL);
    s->pg = PQsetdb(NULL, NULL, NULL, NULL, database);
    if (PQstatus(s->pg) != CONNECTION_OK)
        die("cannot connect", PQerrorMessage(s->pg));
    share_processors(s, p->processors);
    find_cpu_clock(s);
    if (p->session)
        run(s, p->session);
    if (client == 0 && database == NULL)
        session_setup(s, p);
    for (size_t i = 0; i < p->n; i++)
        if (session_is_of(p, i, contestant))
            prepare(s, p, i, client);
    return s;
}

void session_close(session *s)
{
    for (size_t i = 0; i < PLAN_CONTESTANTS; i++)
        free(s->who[i].before_text);
    PQfinish(s->pg);
    free(s);
}

void session_setup(session *s, const plan *p)
{
    run(s, "SET client_min_messages = warning");
    if (p->setup)
        run(s, p->setup);
    for (size_t i = 0; i < p->n; i++)
        if (p->who[i].setup)
            run(s, p->who[i].setup);
}

void session_before(session *s, size_t contestant)
{
    prepared *it = &s->who[contestant];

    for (size_t i = 0; i < it->n_before; i++)
        run(s, it->before[i]);
}

static void check(session *s, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die("failed",
            result ? PQresultErrorMessage(result) : PQerrorMessage(s->pg));
    PQclear(result);
}

/* In one round trip, and up to the Sync at its end one transaction. */
static void execute_pipeline(session *s, const prepared *it)
{
    PGresult *result;

    if (!PQenterPipelineMode(s->pg))
        die("no pipeline", PQerrorMessage(s->pg));
    for (size_t i = 0; i < it->n; i++)
        if (!PQsendQueryPrepared(s->pg, it->names[i], 0, NULL, NULL, NULL, 0))
            die("cannot send", PQerrorMessage(s->pg));
    if (!PQpipelineSync(s->pg))
        die("cannot send", PQerrorMessage(s->pg));
    for (size_t i = 0; i < it->n; i++) {
        check(s, PQgetResult(s->pg));
        PQclear(PQgetResult(s->pg)); /* NULL: the end of this statement */
    }
    result = PQgetResult(s->pg);
    if (PQresultStatus(result) != PGRES_PIPELINE_SYNC)
        die("pipeline out of step", PQerrorMessage(s->pg));
    PQclear(result);
    PQexitPipelineMode(s->pg);
}

void session_execute(session *s, size_t contestant)
{
    const prepared *it = &s->who[contestant];

    if (it->n > 1)
        execute_pipeline(s, it);
    else
        check(s, PQexecPrepared(s->pg, it->names[0], 0, NULL, NULL, NULL, 0));
}
