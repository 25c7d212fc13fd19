/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.c - acquire and claim, read, compute, write, release
 *
 * One fenced statement at a time or whole transactions.  What a holder is told
 * is noted, and compared with what was committed.
 */
#include "section.h"

#include <stdio.h>
#include <string.h>

#include "postgres.h"

void expect(rf_status status, unsigned allowed, const char *what,
            const worker *w)
{
    if (!(allowed & 1u << status))
        sim_fail("%s returns %s: %s", what, rf_status_name(status),
                 rf_message(w->client));
}

/* ---- Reading and writing --------------------------------------------------------- */

void section_believes(section *s)
{
    int ours = s->shared ? rf_lock_left_ms(s->lock) > 0
                         : rf_lock_fence(s->lock) != 0;

    check_told(s->w->id, s->resource, ours);
}

rf_status section_run(section *s, const char *sql, int n, const char **values,
                      char out[16])
{
    const rf__pg_step step = { sql, n, NULL, values };
    rf__error error;
    rf__pg_talk talk = { .steps = &step, .n = 1, .error = &error };
    rf_status status;

    talk.until_ms = rf__now_ms() + 300;
    status = rf__pg_converse(s->w->conn, &talk);
    if (status == RF_OK && out != NULL)
        sim_copy(out, 16, PQgetvalue(talk.last, 0, 0));
    PQclear(talk.last);
    return status;
}

/* Fenced as well: unless nothing was claimed, which is the weakness. */
static rf_status read_newest(section *s, char newest[16])
{
    const char *values[] = { s->number };
    rf_pg_statement statement = { "sim read", 1, values };
    PGresult *result;
    rf_status status;

    if (weakness == SIM_NO_CLAIM)
        return section_run(s, statement.sql, 1, values, newest);
    status = rf_pg_exec(s->w->conn, s->lock, &statement, &result);
    if (status == RF_OK)
        sim_copy(newest, 16, PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

/* Now and then it takes longer than the lock lives. */
void section_compute(void)
{
    int longer = sim_chance(crowded ? 700 : 150);

    sim_sleep(longer ? sim_between(0, 150) : sim_between(0, 10));
}

static void note(int operation, rf_status status)
{
    sim_trace("operation %d: %s", operation, rf_status_name(status));
    if (status == RF_OK)
        check_told_done(operation);
    else if (status == RF_UNKNOWN)
        check_told_unknown(operation);
    else
        check_told_refused(operation);
}

/* Two fenced statements, a round trip each. */
static rf_status add_by_statements(section *s)
{
    char number[RF__DECIMAL_MAX], base[16];
    const char *values[] = { s->number, number, base };
    rf_pg_statement statement = { "sim write", 3, values };
    rf_status status = read_newest(s, base);
    int operation;

    if (status != RF_OK)
        return status;
    section_compute();
    section_believes(s);
    operation = check_operation(s->resource);
    rf__decimal_write(number, operation);
    status = rf_pg_exec(s->w->conn, s->lock, &statement, NULL);
    note(operation, status);
    return status;
}

rf_status section_write(section *s, int operation)
{
    char number[RF__DECIMAL_MAX], base[16];
    const char *values[] = { s->number, number, base };
    rf_status status = section_run(s, "sim read", 1, values, base);

    section_compute();
    section_believes(s);
    rf__decimal_write(number, operation);
    if (status == RF_OK)
        status = section_run(s, "sim write", 3, values, NULL);
    return status;
}

/* Begin, read, compute, write, commit. */
static rf_status add_by_transaction(section *s)
{
    rf_status status = rf_pg_begin(s->w->conn, s->lock, RF_PG_READ_COMMITTED);
    int operation;

    if (status != RF_OK)
        return status;
    operation = check_operation(s->resource);
    status = section_write(s, operation);
    if (status != RF_OK) {
        check_told_refused(operation);
        (void)rf_pg_rollback(s->w->conn, s->lock);
        return status;
    }
    status = rf_pg_commit(s->w->conn, s->lock);
    note(operation, status);
    return status;
}

/* ---- A section -------------------------------------------------------------------- */

static rf_status acquire(section *s, const rf_acquire_options *opts)
{
    worker *w = s->w;
    rf_acquire_options options = *opts;
    rf_status status;

    if (weakness != SIM_NO_CLAIM)
        return rf_pg_acquire(w->client, w->conn, s->name, opts, &s->lock);
    may_ask(w, &options);
    status = rf_acquire(w->client, s->name, &options, &s->lock);
    if (status == RF_OK)
        rf__lock_set_claimed(s->lock);
    return status;
}

/* The weakened ones may well hand out what they must not. */
static int grants_count(void)
{
    return weakness == SIM_SOUND || weakness >= SIM_ANY_NODE;
}

int section_begin(section *s, worker *w, int resource,
                  const rf_acquire_options *opts)
{
    check_mark before = check_before(resource, opts);
    rf_status status;

    memset(s, 0, sizeof(*s));
    s->w = w;
    s->resource = resource;
    s->ttl_ms = opts->ttl_ms;
    s->number[0] = (char)('0' + resource);
    s->name[0] = 'r';
    s->name[1] = s->number[0];
    status = acquire(s, opts);
    sums[SUM_SECTIONS]++;
    sums[SUM_SHORT] += status == RF_REFUSED;
    sim_trace("acquire %d: %s%s%s", resource, rf_status_name(status),
              status == RF_OK ? "" : ", ",
              status == RF_OK ? "" : rf_message(w->client));
    if (status != RF_OK) {
        expect(status,
               ONE_OF(RF_BUSY, RF_TIMEOUT, RF_UNKNOWN, RF_RETRY) |
                   ONE_OF(RF_LOST, RF_STALE, RF_COLLISION, RF_REFUSED),
               "acquire", w);
        return 0;
    }
    if (rf_lock_fence(s->lock) != 0 && grants_count())
        check_granted(&before, s->lock,
                      weakness == SIM_SOUND || weakness == SIM_SILENT);
    check_has(w->id, resource, s->lock, 0);
    keeping_begins(s);
    return 1;
}

void section_write_once(section *s)
{
    (void)add_by_statements(s);
}

void section_work(section *s)
{
    int rounds = (int)sim_between(1, 3);
    rf_status status = RF_OK;

    while (status == RF_OK && rounds-- > 0) {
        section_believes(s);
        status = sim_chance(crowded ? 100 : 600) ? add_by_statements(s)
                                                 : add_by_transaction(s);
        if (status == RF_OK && s->keeping == NULL && sim_chance(300)) {
            status = rf_renew(s->lock, s->ttl_ms);
            expect(status, ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY),
                   "rf_renew", s->w);
            if (status != RF_LOST)
                status = RF_OK;
        }
    }
}

void section_end(section *s)
{
    char holder[RF_HOLDER_LEN + 1];

    memcpy(holder, rf_lock_holder(s->lock), sizeof(holder));
    check_forgets(s->w->id);
    keeping_ends(s);
    expect(rf_release(s->lock), ONE_OF(RF_OK, RF_LOST, RF_UNKNOWN, RF_RETRY),
           "rf_release", s->w);
    check_released(holder);
}

void mend(worker *w)
{
    if (PQstatus(w->conn) == CONNECTION_OK)
        return;
    PQfinish(w->conn);
    w->conn = postgres_connect();
}
