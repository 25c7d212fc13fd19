/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_link.c - a connection of the library's own to PostgreSQL
 *
 * libpq does the connecting; what is ours is that it is over in time, that a
 * refusal is told from a server that can't be reached, and that a pooler is
 * noticed.
 */
#include "pg_link.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rf_status rf__pg_link_check(const char *url, rf__error *error)
{
    char *problem = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &problem);
    rf_status status = RF_OK;

    if (options == NULL && problem == NULL)
        status = rf__pg_fail(error, RF_NOMEM, "out of memory");
    else if (options == NULL)
        status = rf__pg_fail(error, RF_MISUSE,
                             "URL of the lock service: libpq does not "
                             "understand it as a postgresql:// URL");
    PQconninfoFree(options);
    PQfreemem(problem);
    return status;
}

/* ---- Connecting --------------------------------------------------------------- */

/*
 * Names are UTF-8 on every side.  The text of a failure has to carry its code,
 * which libpq tells in no other way while it connects.
 */
static PGconn *start(const char *url)
{
    static const char *const names[] = { "dbname", "client_encoding",
                                         "fallback_application_name", NULL };
    const char *values[] = { url, "UTF8", "ringfence", NULL };
    PGconn *conn = PQconnectStartParams(names, values, 1);

    if (conn != NULL)
        PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    return conn;
}

/* 0: the deadline came first. */
static int finish(PGconn *conn, int64_t deadline_ms)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;

    while (step != PGRES_POLLING_OK && step != PGRES_POLLING_FAILED) {
        struct pollfd socket = {
            PQsocket(conn), step == PGRES_POLLING_READING ? POLLIN : POLLOUT, 0
        };
        int left = rf__left_ms(deadline_ms);

        if (left == 0)
            return 0;
        if (poll(&socket, 1, left) > 0)
            step = PQconnectPoll(conn);
    }
    return 1;
}

static int is_code(const char *text)
{
    size_t n = strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return n == 5 && text[5] == ':';
}

/* "FATAL:  28P01: password authentication failed", in whatever language. */
static rf_status refusal(PGconn *conn, rf__error *error)
{
    const char *text = PQerrorMessage(conn), *at = text;
    rf_status status = RF_RETRY;

    rf__pg_fail(error, RF_RETRY, text);
    while ((at = strstr(at, ":  ")) != NULL) {
        at += 3;
        if (!is_code(at))
            continue;
        (void)snprintf(error->sqlstate, sizeof(error->sqlstate), "%.5s", at);
        status = rf_pg_status(error->sqlstate);
    }
    if (PQconnectionNeedsPassword(conn))
        status = RF_MISUSE;
    /* Nothing was asked for yet. */
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

/* A pooler makes up the process that it names when one connects. */
static rf_status look_for_pooler(rf__pg_link *link, int64_t deadline_ms,
                                 rf__error *error)
{
    static const rf__pg_step step = { "SELECT pg_catalog.pg_backend_pid()", 0,
                                      NULL, NULL };
    rf__pg_talk talk = {
        .steps = &step, .n = 1, .until_ms = deadline_ms, .error = error
    };
    rf_status status = rf__pg_converse(link->conn, &talk);
    int64_t pid = 0;

    if (status == RF_OK)
        link->pooled = !rf__decimal_read(PQgetvalue(talk.last, 0, 0), 1,
                                         INT32_MAX, &pid) ||
                       pid != PQbackendPID(link->conn);
    PQclear(talk.last);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

static rf_status connect_to(rf__pg_link *link, int64_t deadline_ms,
                            rf__error *error)
{
    rf_status status;

    link->conn = start(link->url);
    link->pid = rf__process_id();
    link->nameless = 0;
    link->n_known = 0;
    if (link->conn == NULL)
        return rf__pg_fail(error, RF_NOMEM, "out of memory");
    if (PQstatus(link->conn) == CONNECTION_BAD)
        return refusal(link->conn, error);
    if (!finish(link->conn, deadline_ms))
        return rf__pg_fail(error, RF_RETRY,
                           "PostgreSQL was not reached in time");
    if (PQstatus(link->conn) != CONNECTION_OK)
        return refusal(link->conn, error);
    PQsetErrorVerbosity(link->conn, PQERRORS_DEFAULT);
    status = look_for_pooler(link, deadline_ms, error);
    return status;
}

rf_status rf__pg_link_open(rf__pg_link *link, int64_t deadline_ms,
                           rf__error *error)
{
    rf_status status;

    if (link->conn != NULL && link->pid == rf__process_id() &&
        PQstatus(link->conn) == CONNECTION_OK)
        return RF_OK;
    rf__pg_link_close(link);
    status = connect_to(link, deadline_ms, error);
    if (status != RF_OK)
        rf__pg_link_close(link);
    return status;
}

/*
 * PQfinish() says goodbye to the server; a child says it to nobody, or it would
 * end the parent's session.
 */
static void mute(PGconn *conn)
{
    int nobody = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nobody < 0 || PQsocket(conn) < 0)
        return;
    (void)dup2(nobody, PQsocket(conn));
    close(nobody);
}

void rf__pg_link_close(rf__pg_link *link)
{
    if (link->conn == NULL)
        return;
    if (link->pid != rf__process_id())
        mute(link->conn);
    PQfinish(link->conn);
    link->conn = NULL;
}

/* ---- Planned once -------------------------------------------------------------- */

static int is_known(const rf__pg_link *link, const char *name)
{
    for (int i = 0; i < link->n_known; i++)
        if (strcmp(link->known[i], name) == 0)
            return 1;
    return 0;
}

/* What was parsed stays, whatever became of the step. */
static void learn(rf__pg_link *link, const rf__pg_named *named)
{
    if (named->refused)
        link->nameless = 1;
    else if (!named->prepare && !is_known(link, named->name) &&
             link->n_known < RF__PG_KNOWN_MAX)
        link->known[link->n_known++] = named->name;
}

/*
 * Nobody but us can discard what this session has planned.  Should it have
 * happened all the same, or something like a pooler have passed for the server,
 * then nothing was done, and all is sent again without a name.
 */
static rf_status converse_as(rf__pg_link *link, const char *name,
                             rf__pg_talk *talk)
{
    rf__pg_named named = { .name = name, .prepare = !is_known(link, name) };
    rf_status status;

    talk->named = &named;
    status = rf__pg_converse(link->conn, talk);
    talk->named = NULL;
    learn(link, &named);
    if (status == RF_OK) {
        PQclear(talk->last); /* the parsing's own answer */
        talk->last = named.result;
    } else {
        PQclear(named.result);
    }
    if (!named.refused)
        return status;
    talk->error->text[0] = '\0';
    talk->error->sqlstate[0] = '\0';
    return rf__pg_converse(link->conn, talk);
}

/* ---- Talking ------------------------------------------------------------------- */

rf_status rf__pg_link_talk(rf__pg_link *link, rf__pg_talk *talk)
{
    return rf__pg_link_talk_as(link, NULL, talk);
}

rf_status rf__pg_link_talk_as(rf__pg_link *link, const char *name,
                              rf__pg_talk *talk)
{
    rf_status status = RF_RETRY;

    for (int tries = 0; tries < 2; tries++) {
        talk->last = NULL;
        status = rf__pg_link_open(link, talk->until_ms, talk->error);
        if (status != RF_OK)
            return status;
        status = name == NULL || link->pooled || link->nameless
                     ? rf__pg_converse(link->conn, talk)
                     : converse_as(link, name, talk);
        if (status != RF_RETRY || PQstatus(link->conn) == CONNECTION_OK)
            break;
    }
    return status;
}

/* ---- Sleeping ------------------------------------------------------------------ */

static int is_told(PGconn *conn, const char *channel)
{
    PGnotify *notice;
    int told = 0;

    while ((notice = PQnotifies(conn)) != NULL) {
        told |= strcmp(notice->relname, channel) == 0;
        PQfreemem(notice);
    }
    return told;
}

void rf__pg_link_sleep(rf__pg_link *link, const char *channel, int cancel_fd,
                       int64_t until_ms)
{
    int left;

    while (!is_told(link->conn, channel) &&
           (left = rf__left_ms(until_ms)) > 0) {
        struct pollfd p[2] = { { .fd = PQsocket(link->conn), .events = POLLIN },
                               { .fd = cancel_fd, .events = POLLIN } };

        if (poll(p, 2, left) <= 0)
            continue;
        if (p[1].revents != 0 || !PQconsumeInput(link->conn))
            return;
    }
}
