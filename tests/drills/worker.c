/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * worker.c - one holder in a drill: a service as anybody would write it
 *
 * worker NAME=VALUE...   what there is to set: settings.c
 *
 * Takes the lock, reads who wrote last, thinks, and adds an operation of its
 * own.  At a named point it can stop itself (process.c); the drill sees the
 * stop, plays the world, and lets it go on.  What it was told goes to its log
 * (events.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "faults.h"
#include "process.h"
#include "recipe.h"
#include "ringfence_pg.h"
#include "settings.h"

/* What the next request to PostgreSQL is for. */
static const char *purpose = "";

/*
 * The library has looked on its clock and found the lock alive; nothing has
 * been sent yet.  Here a pause hurts most.
 */
int __real_PQpipelineSync(PGconn *conn);
int __wrap_PQpipelineSync(PGconn *conn);

int __wrap_PQpipelineSync(PGconn *conn)
{
    stop_at(purpose);
    return __real_PQpipelineSync(conn);
}

/* Drawn from the seed and the name: the same in every run. */
static uint64_t draw(void)
{
    static uint64_t state;

    if (state == 0) {
        state = (uint64_t)set.seed * 0x9e3779b97f4a7c15u;
        for (const char *at = set.name; *at != '\0'; at++)
            state = (state ^ (unsigned char)*at) * 0x100000001b3u;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static long below(long n)
{
    uint64_t drawn = draw();

    return n > 0 ? (long)(drawn % (uint64_t)n) : 0;
}

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* ---- The database: a server that recovers from a crash is waited for ---------- */

static void connect_again(PGconn *conn)
{
    for (int i = 0; i < 300 && PQstatus(conn) != CONNECTION_OK; i++) {
        pause_ms(i > 0 ? 100 : 0);
        PQreset(conn);
    }
    if (PQstatus(conn) == CONNECTION_OK)
        return;
    fprintf(stderr, "worker: %s", PQerrorMessage(conn));
    exit(1);
}

/* Committed, said the server, and that something is not as it should be. */
static int warned;

static void on_notice(void *arg, const PGresult *notice)
{
    (void)arg;
    warned = 1;
    tell("notice\t%s", PQresultErrorMessage(notice));
}

static PGconn *connect_database(void)
{
    PGconn *conn = PQconnectdb("");

    if (conn == NULL)
        abort();
    connect_again(conn);
    PQsetNoticeReceiver(conn, on_notice, NULL);
    return conn;
}

/* ---- Read, think, write ---------------------------------------------------------- */

static const char read_sql[] = "SELECT newest FROM item WHERE name = $1";
static const char write_sql[] =
    "WITH own AS (UPDATE item SET newest = $2, fence = $4::bigint "
    "WHERE name = $1 RETURNING name) "
    "INSERT INTO work (op, resource, base, fence, holder) "
    "SELECT $2, name, $3, $4::bigint, $5 FROM own";

/* With a style of recipe.h: no library. */
static recipe *plain;

static const char once_sql[] =
    "WITH receipt AS MATERIALIZED (SELECT ringfence.once($1, $2) AS first), "
    "own AS (UPDATE item SET newest = $2, fence = $4::bigint "
    "WHERE name = $1 AND (SELECT first FROM receipt) RETURNING name) "
    "INSERT INTO work (op, resource, base, fence, holder) "
    "SELECT $2, name, $3, $4::bigint, $5 FROM own";

/* When this worker began, on a clock that never goes back. */
static int64_t began;

/* With "want": how many are done, and the one whose outcome is not known. */
static long done;
static char unknown_op[64];

typedef struct section {
    PGconn *conn;
    rf_lock *lock; /* NULL with the recipe: no library, no guard */
    char fence[24];
    const char *holder;
    char base[64], op[64];
    int64_t since;
} section;

static rf_status own_statement(section *s, const char *sql, int n,
                               const char *const *values, PGresult **result)
{
    int inside = PQtransactionStatus(s->conn) == PQTRANS_INTRANS;
    const char *code;

    *result = PQexecParams(s->conn, sql, n, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(*result) == PGRES_TUPLES_OK ||
        PQresultStatus(*result) == PGRES_COMMAND_OK)
        return RF_OK;
    tell("error\t%s", PQresultErrorMessage(*result));
    code = PQresultErrorField(*result, PG_DIAG_SQLSTATE);
    if (code != NULL)
        return rf_pg_status(code);
    return inside ? RF_RETRY : RF_UNKNOWN; /* its COMMIT was never sent */
}

static rf_status statement(section *s, const char *sql, int n,
                           const char *const *values, PGresult **result)
{
    const rf_pg_statement fenced = { sql, n, values };

    if (s->lock == NULL || PQtransactionStatus(s->conn) == PQTRANS_INTRANS)
        return own_statement(s, sql, n, values, result);
    return rf_pg_exec(s->conn, s->lock, &fenced, result);
}

static rf_status read_newest(section *s)
{
    const char *values[] = { set.item };
    PGresult *result = NULL;
    rf_status status;

    purpose = "read";
    status = statement(s, read_sql, 1, values, &result);
    if (status == RF_OK && PQntuples(result) == 1)
        snprintf(s->base, sizeof(s->base), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

static rf_status write_own(section *s)
{
    const char *values[] = { set.item, s->op, s->base, s->fence, s->holder };
    PGresult *result = NULL;
    rf_status status;

    purpose = "write";
    if (s->lock == NULL && !recipe_trusted(plain))
        return RF_LOST;
    if (s->lock == NULL)
        stop_at(purpose);
    status = statement(s, set.want > 0 ? once_sql : write_sql, 5, values,
                       &result);
    PQclear(result);
    return status;
}

/* The API has just said that the lock is ours, or it has said 0. */
static void believe(section *s)
{
    static int64_t told;
    int64_t now = now_ms();

    if (set.brief && now - told < 100)
        return;
    told = now;
    if (s->lock == NULL || rf_lock_fence(s->lock) != 0)
        tell("believes\t%s\t%s\t%s\t%" PRId64, set.item, s->fence, s->holder,
             s->since);
}

static void new_operation(section *s)
{
    static long operations;

    if (unknown_op[0] != '\0') {
        memcpy(s->op, unknown_op, sizeof(s->op));
        unknown_op[0] = '\0';
        return;
    }
    /* Not the process id: in a long soak it comes again. */
    snprintf(s->op, sizeof(s->op), "%s-%" PRId64 "-%ld", set.name, began,
             ++operations);
}

static const char *in_words(rf_status status)
{
    if (status == RF_OK)
        return "done";
    if (set.gloomy)
        return "refused";
    return status == RF_UNKNOWN ? "unknown" : "refused";
}

static void note(section *s, rf_status status)
{
    if (status == RF_OK && set.careful && warned)
        status = RF_UNKNOWN;
    tell("told\t%s\t%s\t%s", s->op, in_words(status), rf_status_name(status));
    if (status == RF_OK)
        done++;
    if (status == RF_UNKNOWN && set.want > 0 && !set.gloomy)
        memcpy(unknown_op, s->op, sizeof(unknown_op));
}

/* Under a new lock: what became of it? */
static void resolve(section *s)
{
    int committed = 0;
    rf_status status;

    if (unknown_op[0] == '\0')
        return;
    purpose = "resolve";
    status = rf_pg_resolve(s->conn, s->lock, unknown_op, &committed);
    tell("resolved\t%s\t%s\t%d", unknown_op, rf_status_name(status), committed);
    if (status != RF_OK || !committed)
        return;
    unknown_op[0] = '\0';
    done++;
}

static rf_status add_by_statements(section *s)
{
    rf_status status = read_newest(s);

    if (status != RF_OK)
        return status;
    pause_ms(below(set.think));
    new_operation(s);
    stop_at("think");
    believe(s);
    warned = 0;
    status = write_own(s);
    note(s, status);
    return status;
}

static rf_pg_isolation isolation(void)
{
    if (strcmp(set.style, "repeatable") == 0)
        return RF_PG_REPEATABLE_READ;
    return strcmp(set.style, "serializable") == 0 ? RF_PG_SERIALIZABLE
                                                  : RF_PG_READ_COMMITTED;
}

static rf_status end_transaction(section *s, rf_status status)
{
    purpose = "commit";
    if (status == RF_OK)
        return rf_pg_commit(s->conn, s->lock);
    (void)rf_pg_rollback(s->conn, s->lock);
    return status;
}

/* What was read is still in memory, so the same write is sent again. */
static rf_status insist(section *s)
{
    rf_status status;

    connect_again(s->conn);
    status = rf_pg_begin(s->conn, s->lock, isolation());
    tell("insists\t%s", rf_status_name(status));
    if (status != RF_OK)
        return status;
    return end_transaction(s, write_own(s));
}

static rf_status add_by_transaction(section *s)
{
    rf_status status;

    purpose = "begin";
    status = rf_pg_begin(s->conn, s->lock, isolation());
    if (status != RF_OK)
        return status;
    status = read_newest(s);
    pause_ms(below(set.think));
    new_operation(s);
    believe(s);
    stop_at("inside");
    warned = 0;
    if (status == RF_OK)
        status = write_own(s);
    status = end_transaction(s, status);
    if (set.stubborn && PQstatus(s->conn) != CONNECTION_OK)
        status = insist(s);
    note(s, status);
    return status;
}

static void work(section *s)
{
    rf_status status = RF_OK;

    resolve(s);
    for (long i = 0; i < set.rounds && status == RF_OK; i++) {
        if (set.want > 0 && done >= set.want)
            return;
        if (s->lock == NULL || strcmp(set.style, "statement") == 0)
            status = add_by_statements(s);
        else
            status = add_by_transaction(s);
        if (status == RF_OK && set.renew && s->lock != NULL)
            tell("renew\t%s", rf_status_name(rf_renew(s->lock, set.ttl)));
        if (status == RF_OK && set.renew && s->lock == NULL)
            tell("renew\t%s",
                 recipe_renew(plain, set.item, set.ttl) ? "RF_OK" : "RF_LOST");
    }
}

/* ---- A section -------------------------------------------------------------------- */

/* As some libraries do: the generator is in memory, and cloned with it. */
static const char *seeded_holder(char out[RF_HOLDER_LEN + 1])
{
    uint64_t high = draw();

    snprintf(out, RF_HOLDER_LEN + 1, "%016" PRIx64 "%016" PRIx64, high, draw());
    return out;
}

static rf_status take(rf_client *client, PGconn *conn, section *s)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    char holder[RF_HOLDER_LEN + 1];
    rf_status status;

    opts.ttl_ms = set.ttl;
    opts.wait_ms = set.wait;
    if (set.again == 1 && rf_holder_new(holder) == RF_OK)
        opts.holder = holder;
    if (set.seeded)
        opts.holder = seeded_holder(holder);
    purpose = "claim";
    status = rf_pg_acquire(client, conn, set.item, &opts, &s->lock);
    for (int i = 0; i < 10 && status == RF_UNKNOWN && set.again != 0; i++) {
        tell("acquire\t%s\t%s", rf_status_name(status), rf_message(client));
        status = rf_pg_acquire(client, conn, set.item, &opts, &s->lock);
    }
    tell("acquire\t%s\t%s", rf_status_name(status),
         status == RF_OK ? "" : rf_message(client));
    return status;
}

static void fenced_section(rf_client *client, PGconn *conn)
{
    section s = { .conn = conn, .since = now_ms() };

    if (take(client, conn, &s) != RF_OK)
        return;
    snprintf(s.fence, sizeof(s.fence), "%" PRId64, rf_lock_fence(s.lock));
    s.holder = rf_lock_holder(s.lock);
    tell("granted\t%s\t%s\t%s", set.item, s.fence, s.holder);
    if (strcmp(s.fence, "0") != 0)
        work(&s);
    stop_at("release");
    tell("release\t%s", rf_status_name(rf_release(s.lock)));
}

/* The same by the usual recipe: a lock, a number, and trust. */
static void recipe_section(PGconn *conn)
{
    section s = { .conn = conn, .since = now_ms() };

    if (!recipe_acquire(plain, set.item, set.ttl, s.fence, sizeof(s.fence))) {
        tell("acquire\tRF_BUSY\t");
        return;
    }
    s.holder = recipe_holder(plain);
    stop_at("claim"); /* there is none: right after the lock */
    tell("granted\t%s\t%s\t%s", set.item, s.fence, s.holder);
    work(&s);
    stop_at("release");
    recipe_release(plain, set.item);
}

static rf_client *open_locks(const char *url)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client = NULL;

    opts.timeout_ms = (int)set.timeout;
    plain = recipe_open(set.style, strchr(url, '/') + 2, set.timeout);
    if (plain == NULL && rf_open(url, &opts, &client) != RF_OK)
        settings_refuse(rf_message(NULL));
    return client;
}

static int is_over(int64_t end)
{
    return (set.until != 0 && now_ms() >= end) ||
           (set.want > 0 && done >= set.want);
}

static void run_sections(const char *url)
{
    rf_client *client = open_locks(url);
    PGconn *conn = connect_database();
    int64_t end = now_ms() + set.until;

    for (long i = 0; i < set.sections && !is_over(end); i++) {
        connect_again(conn);
        if (plain != NULL)
            recipe_section(conn);
        else
            fenced_section(client, conn);
        pause_ms(below(set.think));
        /* The child leaves its parent's connection to the database alone. */
        if (i == 0 && (set.clone || *set.fork != '\0') && process_divide())
            conn = connect_database();
    }
    PQfinish(conn);
    recipe_close(plain);
    rf_close(client);
}

int main(int argc, char **argv)
{
    const char *url;

    settings_read(argc, argv);
    events_open();
    if (*set.say != '\0') {
        tell("%s\t%" PRId64, set.say, time_of_day_ms());
        return 0;
    }
    began = now_ms();
    url = faults_start();
    tell("begins\t%d", (int)getpid());
    process_interrupt();
    run_sections(url);
    process_join();
    faults_stop();
    tell("ends\t%d", (int)getpid());
    return 0;
}
