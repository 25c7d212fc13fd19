/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * libpq.c - the part of libpq that the client uses, over a network that fails
 *
 * Pipeline mode as libpq has it: for every step a result and a NULL, then the
 * result of the Sync.  A lost connection shows when it is read from, or as
 * EOF in poll().  client/postgres.c is linked unchanged on top.
 */
#include <libpq-events.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "internal.h"
#include "network.h"
#include "postgres.h"
#include "world.h"

#define FD_FIRST        LIBPQ_FD_FIRST
#define CONNECTIONS_MAX 192
#define QUEUE_MAX       (2 * STEPS_MAX + 4)

struct pg_result {
    ExecStatusType status;
    answer answer;
};

struct pg_conn {
    int broken; /* the client knows: CONNECTION_BAD     */
    int cut;    /* the network knows                    */
    int pipeline, nonblocking, outstanding, told_lost;
    int ready;    /* as in request                        */
    int64_t last; /* when the last message arrives        */
    request *building, *arrived;
    PGresult *queue[QUEUE_MAX]; /* NULL: a separator          */
    int first, n;
    int ready_next; /* comes with the Sync                  */
    sim_task *waiting;
    session *server;
    int pooled; /* somebody stands between                     */
    int has_events;
    void *instance; /* what the client knows of it             */
};

static PGconn connections[CONNECTIONS_MAX];
static int connection_count;

/* ---- Requests ----------------------------------------------------------------------- */

static request *new_request(void)
{
    request *r = malloc(sizeof(*r));

    if (r == NULL)
        abort();
    r->n = r->lost = 0;
    for (int i = 0; i <= STEPS_MAX; i++)
        r->answers[i].kind = ANSWER_NONE;
    return r;
}

void drop_request(request *r)
{
    free(r);
}

/* ---- The network ------------------------------------------------------------------ */

static int64_t arrival(PGconn *conn)
{
    int64_t when = sim_now() + (sim_strikes(SIM_SLOW) ? sim_between(3, 150)
                                                      : sim_between(0, 2));

    if (when < conn->last)
        when = conn->last;
    conn->last = when;
    return when;
}

static void is_gone(void *what, int64_t n)
{
    (void)n;
    server_client_gone(((PGconn *)what)->server);
}

static void is_cut(void *what, int64_t n)
{
    PGconn *conn = what;

    (void)n;
    conn->cut = 1;
    sim_wake(conn->waiting);
}

void client_is_cut(void *client)
{
    sim_at(arrival(client), is_cut, client, 0);
}

static void arrives(void *what, int64_t which)
{
    request *r = what;
    PGconn *conn = &connections[which];

    if (conn->cut || conn->broken || conn->arrived != NULL) {
        drop_request(r);
        return;
    }
    conn->arrived = r;
    sim_wake(conn->waiting);
}

void client_gets(void *client, request *r, int ready)
{
    PGconn *conn = client;

    r->ready = ready;
    if (r->lost == 1)
        client_is_cut(conn);
    if (r->lost != 0)
        drop_request(r);
    else
        sim_at(arrival(conn), arrives, r, conn - connections);
}

void client_gets_fatal(void *client, request *r, int at, const char *sqlstate)
{
    answer_error(r, at, sqlstate);
    r->answers[at].kind = ANSWER_FATAL;
    client_gets(client, r, 0);
    client_is_cut(client);
}

static void reaches_server(void *what, int64_t which)
{
    server_receives(connections[which].server, what);
}

static void dispatch(PGconn *conn)
{
    request *r = conn->building;

    conn->building = NULL;
    conn->outstanding = 1;
    if (conn->cut) {
        drop_request(r);
        return;
    }
    if (sim_strikes(SIM_CUT_REQUEST)) {
        client_is_cut(conn);
        sim_at(sim_now() + sim_between(0, 100), is_gone, conn, 0);
        drop_request(r);
        return;
    }
    if (sim_strikes(SIM_CUT_REPLY))
        r->lost = 1;
    else if (sim_strikes(SIM_SWALLOW))
        r->lost = 2;
    sim_at(arrival(conn), reaches_server, r, conn - connections);
}

/* ---- Answers ------------------------------------------------------------------------ */

void answer_row(request *r, int at, const char *value, const char *tag)
{
    answer *a = &r->answers[at];

    a->kind = ANSWER_ROW;
    a->has_row = value != NULL;
    a->sqlstate[0] = a->process[0] = '\0';
    sim_copy(a->value, sizeof(a->value), value != NULL ? value : "");
    sim_copy(a->tag, sizeof(a->tag), tag);
}

void answer_process(request *r, int at, int process)
{
    rf__decimal_write(r->answers[at].process, process);
}

void answer_error(request *r, int at, const char *sqlstate)
{
    r->answers[at].kind = ANSWER_ERROR;
    r->answers[at].has_row = 0;
    r->answers[at].tag[0] = '\0';
    sim_copy(r->answers[at].sqlstate, sizeof(r->answers[at].sqlstate),
             sqlstate);
}

void answer_skipped(request *r, int at)
{
    r->answers[at].kind = ANSWER_SKIPPED;
    r->answers[at].has_row = 0;
    r->answers[at].tag[0] = r->answers[at].sqlstate[0] = '\0';
}

static void enqueue(PGconn *conn, ExecStatusType status, const answer *a)
{
    PGresult *result = malloc(sizeof(*result));

    if (result == NULL)
        abort();
    result->status = status;
    if (a != NULL)
        result->answer = *a;
    else
        result->answer.has_row = result->answer.sqlstate[0] = 0;
    conn->queue[(conn->first + conn->n++) % QUEUE_MAX] = result;
}

static void enqueue_separator(PGconn *conn)
{
    conn->queue[(conn->first + conn->n++) % QUEUE_MAX] = NULL;
}

static void unpack(PGconn *conn)
{
    request *r = conn->arrived;

    conn->arrived = NULL;
    for (int i = 0; i <= r->n; i++) {
        const answer *a = &r->answers[i];

        if (a->kind == ANSWER_NONE)
            break;
        if (a->kind == ANSWER_ROW)
            enqueue(conn, a->has_row ? PGRES_TUPLES_OK : PGRES_COMMAND_OK, a);
        else if (a->kind == ANSWER_SKIPPED)
            enqueue(conn, PGRES_PIPELINE_ABORTED, a);
        else
            enqueue(conn, PGRES_FATAL_ERROR, a);
        enqueue_separator(conn);
        if (a->kind == ANSWER_FATAL) {
            drop_request(r);
            return; /* the end of the connection follows */
        }
    }
    enqueue(conn, PGRES_PIPELINE_SYNC, NULL);
    conn->ready_next = r->ready;
    drop_request(r);
}

/* ---- Connections ---------------------------------------------------------------------- */

static PGconn *connection_of(int fd)
{
    if (fd < FD_FIRST || fd >= FD_FIRST + connection_count)
        sim_fail("descriptor %d is not a connection to PostgreSQL", fd);
    return &connections[fd - FD_FIRST];
}

PGconn *postgres_connect(void)
{
    PGconn *conn = &connections[connection_count++];

    if (connection_count == CONNECTIONS_MAX)
        sim_fail("%s", "simulator: too many connections to PostgreSQL");
    memset(conn, 0, sizeof(*conn));
    conn->server = server_session(conn);
    conn->pooled = sim_strikes(SIM_POOLED);
    return conn;
}

static void drop_queue(PGconn *conn)
{
    for (; conn->n > 0; conn->n--) {
        free(conn->queue[conn->first]);
        conn->first = (conn->first + 1) % QUEUE_MAX;
    }
}

void PQfinish(PGconn *conn)
{
    drop_queue(conn);
    drop_request(conn->building);
    drop_request(conn->arrived);
    conn->building = conn->arrived = NULL;
    conn->broken = conn->cut = 1;
    sim_at(arrival(conn), is_gone, conn, 0);
}

void libpq_begin(void)
{
    connection_count = 0;
}

int PQsocket(const PGconn *conn)
{
    return conn->broken ? -1 : FD_FIRST + (int)(conn - connections);
}

ConnStatusType PQstatus(const PGconn *conn)
{
    return conn->broken ? CONNECTION_BAD : CONNECTION_OK;
}

PGTransactionStatusType PQtransactionStatus(const PGconn *conn)
{
    static const PGTransactionStatusType by_ready[] = { PQTRANS_IDLE,
                                                        PQTRANS_INTRANS,
                                                        PQTRANS_INERROR };

    if (conn->broken)
        return PQTRANS_UNKNOWN;
    return conn->outstanding ? PQTRANS_ACTIVE : by_ready[conn->ready];
}

PGpipelineStatus PQpipelineStatus(const PGconn *conn)
{
    return conn->pipeline ? PQ_PIPELINE_ON : PQ_PIPELINE_OFF;
}

char *PQerrorMessage(const PGconn *conn)
{
    (void)conn;
    return "the connection is lost";
}

int PQisnonblocking(const PGconn *conn)
{
    return conn->nonblocking;
}

int PQsetnonblocking(PGconn *conn, int on)
{
    conn->nonblocking = on;
    return conn->broken ? -1 : 0;
}

int PQenterPipelineMode(PGconn *conn)
{
    if (conn->broken || conn->outstanding)
        return 0;
    conn->pipeline = 1;
    return 1;
}

int PQexitPipelineMode(PGconn *conn)
{
    if (conn->outstanding || conn->n > 0)
        return 0;
    conn->pipeline = 0;
    return 1;
}

/* ---- What the client keeps in a connection --------------------------------------------- */

int PQbackendPID(const PGconn *conn)
{
    return server_process(conn->server) + (conn->pooled ? 1000 : 0);
}

int PQregisterEventProc(PGconn *conn, PGEventProc proc, const char *name,
                        void *argument)
{
    (void)proc, (void)name, (void)argument;
    return conn->has_events ? 0 : (conn->has_events = 1);
}

int PQsetInstanceData(PGconn *conn, PGEventProc proc, void *data)
{
    (void)proc;
    if (conn->has_events)
        conn->instance = data;
    return conn->has_events;
}

void *PQinstanceData(const PGconn *conn, PGEventProc proc)
{
    (void)proc;
    return conn->instance;
}

/* ---- Sending --------------------------------------------------------------------------- */

/* NULL: the connection is none any more. */
static step *new_step(PGconn *conn, step_kind kind)
{
    step *s;

    if (conn->broken || !conn->pipeline)
        return NULL;
    if (conn->building == NULL)
        conn->building = new_request();
    if (conn->building->n == STEPS_MAX)
        sim_fail("%s", "simulator: a conversation is too long");
    if (kind != STEP_TEXT && conn->pooled)
        sim_fail("%s", "a name is used in somebody else's connection");
    s = &conn->building->steps[conn->building->n++];
    s->kind = kind;
    s->sql[0] = '\0';
    s->n = 0;
    return s;
}

static void set_values(step *s, int n, const char *const *values)
{
    if (n > VALUES_MAX)
        sim_fail("%s", "simulator: too many values");
    s->n = n;
    for (int i = 0; i < n; i++)
        sim_copy(s->values[i], sizeof(s->values[i]), values[i]);
}

int PQsendQueryParams(PGconn *conn, const char *sql, int n, const Oid *types,
                      const char *const *values, const int *lengths,
                      const int *formats, int format)
{
    step *s = new_step(conn, STEP_TEXT);

    (void)types, (void)lengths, (void)formats, (void)format;
    if (s == NULL)
        return 0;
    sim_copy(s->sql, sizeof(s->sql), sql);
    set_values(s, n, values);
    return 1;
}

int PQsendPrepare(PGconn *conn, const char *name, const char *sql, int n,
                  const Oid *types)
{
    (void)name, (void)sql, (void)n, (void)types;
    return new_step(conn, STEP_PREPARE) != NULL;
}

int PQsendQueryPrepared(PGconn *conn, const char *name, int n,
                        const char *const *values, const int *lengths,
                        const int *formats, int format)
{
    step *s = new_step(conn, STEP_NAMED);

    (void)name, (void)lengths, (void)formats, (void)format;
    if (s == NULL)
        return 0;
    set_values(s, n, values);
    return 1;
}

int PQpipelineSync(PGconn *conn)
{
    sim_maybe_pause();
    if (conn->broken)
        return 0;
    if (!conn->cut && sim_strikes(SIM_CUT_BEFORE)) {
        conn->cut = 1;
        sim_at(sim_now() + sim_between(0, 100), is_gone, conn, 0);
        if (sim_chance(500)) {
            conn->broken = 1;
            return 0;
        }
    }
    dispatch(conn);
    return 1;
}

int PQflush(PGconn *conn)
{
    return conn->broken ? -1 : 0;
}

/* ---- Receiving --------------------------------------------------------------------------- */

int PQconsumeInput(PGconn *conn)
{
    if (conn->broken)
        return 0;
    if (conn->arrived != NULL) {
        unpack(conn);
        return 1;
    }
    if (conn->cut) {
        conn->broken = 1;
        return 0;
    }
    return 1;
}

int PQisBusy(PGconn *conn)
{
    return !conn->broken && conn->outstanding && conn->n == 0;
}

PGresult *PQgetResult(PGconn *conn)
{
    PGresult *result;

    if (conn->n == 0) {
        if (!conn->broken || conn->told_lost)
            return NULL;
        conn->told_lost = 1;
        enqueue(conn, PGRES_FATAL_ERROR, NULL);
    }
    result = conn->queue[conn->first];
    conn->first = (conn->first + 1) % QUEUE_MAX;
    conn->n--;
    if (result != NULL && result->status == PGRES_PIPELINE_SYNC) {
        conn->outstanding = 0;
        conn->ready = conn->ready_next;
    }
    return result;
}

void PQclear(PGresult *result)
{
    free(result);
}

ExecStatusType PQresultStatus(const PGresult *result)
{
    return result != NULL ? result->status : PGRES_FATAL_ERROR;
}

char *PQresultErrorField(const PGresult *result, int field)
{
    int known = result->answer.sqlstate[0] != '\0';

    switch (field) {
    case PG_DIAG_SQLSTATE:
        return known ? (char *)result->answer.sqlstate : NULL;
    case PG_DIAG_MESSAGE_PRIMARY: return "refused";
    case PG_DIAG_SEVERITY_NONLOCALIZED:
        if (!known)
            return NULL;
        return result->answer.kind == ANSWER_FATAL ? "FATAL" : "ERROR";
    default: return NULL;
    }
}

char *PQresultErrorMessage(const PGresult *result)
{
    (void)result;
    return "the connection is lost";
}

int PQntuples(const PGresult *result)
{
    return result->answer.has_row;
}

int PQgetisnull(const PGresult *result, int row, int column)
{
    (void)row, (void)column;
    return !result->answer.has_row;
}

int PQnfields(const PGresult *result)
{
    return result->answer.process[0] != '\0' ? 2 : 1;
}

char *PQgetvalue(const PGresult *result, int row, int column)
{
    (void)row;
    return (char *)(column == 0 ? result->answer.value
                                : result->answer.process);
}

char *PQcmdStatus(PGresult *result)
{
    return result->answer.tag;
}

/* ---- poll() and shutdown() of client/postgres.c ------------------------------------------- */

int __wrap_shutdown(int fd, int how);

/* Readable: an answer, or the end.  Writable: always. */
short libpq_ready(int fd, short events)
{
    const PGconn *conn = connection_of(fd);
    short all = POLLOUT;

    if (conn->arrived != NULL || conn->cut)
        all |= POLLIN;
    return events & all;
}

void libpq_set_waiting(int fd, sim_task *task)
{
    connection_of(fd)->waiting = task;
}

int __wrap_shutdown(int fd, int how)
{
    PGconn *conn;

    (void)how;
    if (fd < 0)
        return -1;
    conn = connection_of(fd);
    drop_request(conn->arrived);
    conn->arrived = NULL;
    conn->cut = 1;
    sim_at(arrival(conn), is_gone, conn, 0);
    return 0;
}
