/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * worker.c - one holder in a drill: a service as anybody would write it
 *
 * worker NAME=VALUE...   what there is to set: the table "settings" below
 *
 * Takes the lock, reads who wrote last, thinks, and adds an operation of its
 * own.  At a named point it can stop itself like a process that is starved,
 * swapped out or debugged; the drill sees the stop, plays the world, and lets
 * it go on.  What it was told goes to its log, a line for each event, written
 * before the next step.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pg_proxy.h"
#include "proxy.h"
#include "recipe.h"
#include "ringfence_pg.h"

/* ---- Settings ------------------------------------------------------------- */

static const char *log_file, *name = "w", *item = "a", *redis, *stop = "",
                             *style = "statement", *fault = "",
                             *pg_fault_at = "", *say = "";
static long ttl = 1000, wait_ms = 0, sections = 1, think, timeout_ms = 2000,
            rounds = 1, again, renew, seed = 1, until_ms, gloomy, brief, want;

static const struct {
    const char *name;
    const char **text;
    long *number;
} settings[] = {
    { "log", &log_file, NULL },       /* where events go                     */
    { "name", &name, NULL },          /* begins the names of its operations  */
    { "item", &item, NULL },          /* what it works on                    */
    { "redis", &redis, NULL },        /* path of the socket                  */
    { "ttl", NULL, &ttl },            /* ms                                  */
    { "wait", NULL, &wait_ms },       /* ms                                  */
    { "timeout", NULL, &timeout_ms }, /* ms, of each talk to Redis         */
    { "sections", NULL, &sections },
    { "rounds", NULL, &rounds },       /* operations in a section             */
    { "think", NULL, &think },         /* ms, at most, between read and write */
    { "renew", NULL, &renew },         /* 1: renews after each operation      */
    { "style", &style, NULL },         /* statement, transaction, repeatable,
                                       serializable, recipe                */
    { "stop", &stop, NULL },           /* claim, read, write, commit, inside:
                                       stops before that is sent           */
    { "pgfault", &pg_fault_at, NULL }, /* NAME:SKIP, of pg_proxy.h */
    { "brief", NULL, &brief }, /* 1: tells of its belief ten times a second */
    { "want", NULL, &want },   /* operations that have to be done, then the end;
                                each with a receipt                         */
    { "gloomy", NULL, &gloomy }, /* 1: takes "unknown" for "refused" */
    { "fault", &fault, NULL },   /* NAME:SKIP:COUNT, of proxy.h         */
    { "again", NULL, &again },   /* after RF_UNKNOWN ask again: 1 with
                                       the same holder, 2 with a new one   */
    { "seed", NULL, &seed },
    { "until", NULL, &until_ms }, /* ms from now: no section after that  */
    { "say", &say, NULL },        /* only this goes to the log, and the time of
                                       the day in ms                       */
};

static void usage(const char *word)
{
    fprintf(stderr, "worker: what is %s?\n", word);
    exit(2);
}

static void read_setting(const char *word)
{
    const char *value = strchr(word, '=');

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        size_t n = strlen(settings[i].name);

        if (value != word + n || strncmp(word, settings[i].name, n) != 0)
            continue;
        if (settings[i].text != NULL)
            *settings[i].text = value + 1;
        else
            *settings[i].number = strtol(value + 1, NULL, 10);
        return;
    }
    usage(word);
}

/* ---- The log ---------------------------------------------------------------- */

static FILE *events;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t time_of_day_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (char *at = line; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    fprintf(events, "%" PRId64 "\t%s\t%s\n", now_ms(), name, line);
    fflush(events);
}

/* ---- Stopping ----------------------------------------------------------------- */

/* What the next request to PostgreSQL is for. */
static const char *purpose = "";
static int stopped;

static void stop_at(const char *point)
{
    if (stopped || strcmp(stop, point) != 0)
        return;
    stopped = 1;
    tell("stops\t%s", point);
    raise(SIGSTOP);
    tell("goes on\t%s", point);
}

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

static long below(long n)
{
    static uint64_t state;

    if (state == 0)
        state = (uint64_t)seed * 0x9e3779b97f4a7c15u + (uint64_t)getpid();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n > 0 ? (long)(state % (uint64_t)n) : 0;
}

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* ---- Read, think, write ---------------------------------------------------------- */

static const char read_sql[] = "SELECT newest FROM item WHERE name = $1";
static const char write_sql[] =
    "WITH own AS (UPDATE item SET newest = $2, fence = $4::bigint "
    "WHERE name = $1 RETURNING name) "
    "INSERT INTO work (op, resource, base, fence, holder) "
    "SELECT $2, name, $3, $4::bigint, $5 FROM own";

/* With the style "recipe" or "cached": no library. */
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
    const char *code;

    *result = PQexecParams(s->conn, sql, n, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(*result) == PGRES_TUPLES_OK ||
        PQresultStatus(*result) == PGRES_COMMAND_OK)
        return RF_OK;
    tell("error\t%s", PQresultErrorMessage(*result));
    code = PQresultErrorField(*result, PG_DIAG_SQLSTATE);
    return code == NULL ? RF_UNKNOWN : rf_pg_status(code);
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
    const char *values[] = { item };
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
    const char *values[] = { item, s->op, s->base, s->fence, s->holder };
    PGresult *result = NULL;
    rf_status status;

    purpose = "write";
    if (s->lock == NULL)
        stop_at(purpose);
    status = statement(s, want > 0 ? once_sql : write_sql, 5, values, &result);
    PQclear(result);
    return status;
}

/* The API has just said that the lock is ours, or it has said 0. */
static void believe(section *s)
{
    static int64_t told;
    int64_t now = now_ms();

    if (brief && now - told < 100)
        return;
    told = now;
    if (s->lock == NULL || rf_lock_fence(s->lock) != 0)
        tell("believes\t%s\t%s\t%s\t%" PRId64, item, s->fence, s->holder,
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
    snprintf(s->op, sizeof(s->op), "%s-%" PRId64 "-%ld", name, began,
             ++operations);
}

static const char *in_words(rf_status status)
{
    if (status == RF_OK)
        return "done";
    if (gloomy)
        return "refused";
    return status == RF_UNKNOWN ? "unknown" : "refused";
}

static void note(section *s, rf_status status)
{
    tell("told\t%s\t%s\t%s", s->op, in_words(status), rf_status_name(status));
    if (status == RF_OK)
        done++;
    if (status == RF_UNKNOWN && want > 0 && !gloomy)
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
    pause_ms(below(think));
    new_operation(s);
    believe(s);
    status = write_own(s);
    note(s, status);
    return status;
}

static rf_pg_isolation isolation(void)
{
    if (strcmp(style, "repeatable") == 0)
        return RF_PG_REPEATABLE_READ;
    return strcmp(style, "serializable") == 0 ? RF_PG_SERIALIZABLE
                                              : RF_PG_READ_COMMITTED;
}

static rf_status add_by_transaction(section *s)
{
    rf_status status;

    purpose = "begin";
    status = rf_pg_begin(s->conn, s->lock, isolation());
    if (status != RF_OK)
        return status;
    status = read_newest(s);
    pause_ms(below(think));
    new_operation(s);
    believe(s);
    stop_at("inside");
    if (status == RF_OK)
        status = write_own(s);
    purpose = "commit";
    if (status == RF_OK)
        status = rf_pg_commit(s->conn, s->lock);
    else
        (void)rf_pg_rollback(s->conn, s->lock);
    note(s, status);
    return status;
}

static void work(section *s)
{
    rf_status status = RF_OK;

    resolve(s);
    for (long i = 0; i < rounds && status == RF_OK; i++) {
        if (want > 0 && done >= want)
            return;
        if (s->lock == NULL || strcmp(style, "statement") == 0)
            status = add_by_statements(s);
        else
            status = add_by_transaction(s);
        if (status == RF_OK && renew && s->lock != NULL)
            tell("renew\t%s", rf_status_name(rf_renew(s->lock, ttl)));
        if (status == RF_OK && renew && s->lock == NULL)
            tell("renew\t%s",
                 recipe_renew(plain, item, ttl) ? "RF_OK" : "RF_LOST");
    }
}

/* ---- A section -------------------------------------------------------------------- */

static rf_status take(rf_client *client, PGconn *conn, section *s)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    char holder[RF_HOLDER_LEN + 1];
    rf_status status;

    opts.ttl_ms = ttl;
    opts.wait_ms = wait_ms;
    if (again == 1 && rf_holder_new(holder) == RF_OK)
        opts.holder = holder;
    purpose = "claim";
    status = rf_pg_acquire(client, conn, item, &opts, &s->lock);
    for (int i = 0; i < 10 && status == RF_UNKNOWN && again != 0; i++) {
        tell("acquire\t%s\t%s", rf_status_name(status), rf_message(client));
        status = rf_pg_acquire(client, conn, item, &opts, &s->lock);
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
    tell("granted\t%s\t%s\t%s", item, s.fence, s.holder);
    if (strcmp(s.fence, "0") != 0)
        work(&s);
    tell("release\t%s", rf_status_name(rf_release(s.lock)));
}

/* The same by the usual recipe: a lock, a number, and trust. */
static void recipe_section(PGconn *conn)
{
    section s = { .conn = conn, .since = now_ms() };

    if (!recipe_acquire(plain, item, ttl, s.fence, sizeof(s.fence))) {
        tell("acquire\tRF_BUSY\t");
        return;
    }
    s.holder = recipe_holder(plain);
    stop_at("claim"); /* there is none: right after the lock */
    tell("granted\t%s\t%s\t%s", item, s.fence, s.holder);
    work(&s);
    recipe_release(plain, item);
}

/* A server that recovers from a crash is waited for. */
static PGconn *connect_database(void)
{
    PGconn *conn = PQconnectdb("");

    for (int i = 0; i < 300 && PQstatus(conn) != CONNECTION_OK; i++) {
        PQfinish(conn);
        pause_ms(100);
        conn = PQconnectdb("");
    }
    if (PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "worker: %s", PQerrorMessage(conn));
        exit(1);
    }
    return conn;
}

static void run_sections(const char *url)
{
    rf_options opts = RF_OPTIONS_INIT;
    rf_client *client = NULL;
    PGconn *conn = connect_database();
    int64_t end = now_ms() + until_ms;

    opts.timeout_ms = (int)timeout_ms;
    if (strcmp(style, "recipe") == 0 || strcmp(style, "cached") == 0)
        plain = recipe_open(strchr(url, '/') + 2, timeout_ms,
                            strcmp(style, "cached") == 0);
    else if (rf_open(url, &opts, &client) != RF_OK)
        usage(rf_message(NULL));
    for (long i = 0; i < sections && (until_ms == 0 || now_ms() < end); i++) {
        if (want > 0 && done >= want)
            break;
        if (PQstatus(conn) != CONNECTION_OK) {
            PQfinish(conn);
            conn = connect_database();
        }
        if (plain != NULL)
            recipe_section(conn);
        else
            fenced_section(client, conn);
        pause_ms(below(think));
    }
    PQfinish(conn);
    recipe_close(plain);
    rf_close(client);
}

/* ---- Faults ------------------------------------------------------------------------- */

static proxy_fault fault_of(const char *text)
{
    static const char *const names[] = {
        [PROXY_PASS] = "pass",
        [PROXY_DELAY] = "delay",
        [PROXY_SWALLOW] = "swallow",
        [PROXY_MUTE] = "mute",
        [PROXY_CUT_BEFORE] = "cut-before",
        [PROXY_CUT_AFTER] = "cut-after",
        [PROXY_CUT_INSIDE] = "cut-inside",
        [PROXY_DUPLICATE] = "duplicate",
        [PROXY_SWAP] = "swap",
        [PROXY_STALE] = "stale",
        [PROXY_DRIBBLE] = "dribble",
        [PROXY_HALF_CLOSE] = "half-close",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(text, names[i], strcspn(text, ":")) == 0)
            return (proxy_fault)i;
    }
    usage(text);
    return PROXY_PASS;
}

static proxy *start_proxy(void)
{
    proxy *p;
    char *at = strchr(fault, ':');
    long skip, count;

    if (*fault == '\0')
        return NULL;
    if (at == NULL)
        usage(fault);
    skip = strtol(at + 1, &at, 10);
    count = *at == ':' ? strtol(at + 1, NULL, 10) : 1;
    p = proxy_start(redis);
    if (fault_of(fault) == PROXY_DELAY)
        proxy_set_delay(p, (int)skip, (int)count, (int)ttl * 2);
    else
        proxy_set(p, fault_of(fault), (int)skip, (int)count);
    return p;
}

static pg_proxy *start_pg_proxy(void)
{
    pg_proxy *p;
    const char *at = strchr(pg_fault_at, ':');

    if (*pg_fault_at == '\0')
        return NULL;
    if (at == NULL || strncmp(pg_fault_at, "cut-", 4) != 0)
        usage(pg_fault_at);
    p = pg_proxy_start();
    pg_proxy_set(p, pg_fault_at[4] == 'a' ? PG_CUT_AFTER : PG_CUT_BEFORE,
                 (int)strtol(at + 1, NULL, 10));
    setenv("PGHOST", pg_proxy_folder(p), 1);
    setenv("PGPORT", "5432", 1);
    return p;
}

int main(int argc, char **argv)
{
    char url[160];
    proxy *p;
    pg_proxy *pg;

    for (int i = 1; i < argc; i++)
        read_setting(argv[i]);
    if (redis == NULL && *say == '\0')
        usage("redis (it is missing)");
    events = log_file != NULL ? fopen(log_file, "a") : stdout;
    if (events == NULL)
        usage(log_file);
    if (*say != '\0') {
        tell("%s\t%" PRId64, say, time_of_day_ms());
        return 0;
    }
    began = now_ms();
    p = start_proxy();
    pg = start_pg_proxy();
    snprintf(url, sizeof(url), "redis+unix://%s", redis);
    tell("begins\t%d", (int)getpid());
    run_sections(p != NULL ? proxy_url(p) : url);
    if (p != NULL)
        proxy_stop(p);
    if (pg != NULL)
        pg_proxy_stop(pg);
    tell("ends\t%d", (int)getpid());
    return 0;
}
