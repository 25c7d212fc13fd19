/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * once.c - operations that leave a receipt, sent again until all is clear
 *
 * After an answer that was lost: the lock taken anew, and then either asked
 * what became of it or simply sent again.
 */
#include "section.h"

#include <stdio.h>
#include <string.h>

#define TRIES 5

typedef struct errand {
    int operation;
    char name[16]; /* of the operation */
    int unknown;   /* an attempt has no answer */
} errand;

/* RF_OK: it is done, now or before. */
static rf_status apply(section *s, errand *e)
{
    const char *values[] = { s->name, e->name };
    char first[16] = "";
    rf_status status = rf_pg_begin(s->w->conn, s->lock, RF_PG_READ_COMMITTED);

    if (status != RF_OK)
        return status;
    status = section_run(s, "SELECT ringfence.once($1, $2)", 2, values, first);
    if (status == RF_OK && first[0] == 't')
        status = section_write(s, e->operation);
    if (status == RF_OK && first[0] == 't')
        return rf_pg_commit(s->w->conn, s->lock);
    (void)rf_pg_rollback(s->w->conn, s->lock);
    return status;
}

/* What became of the attempts before?  1: it is done. */
static int ask(section *s, errand *e)
{
    rf_fence fence = rf_lock_fence(s->lock);
    int committed;
    rf_status status = rf_pg_resolve(s->w->conn, s->lock, e->name, &committed);

    sim_trace("resolve operation %d: %s, %d", e->operation,
              rf_status_name(status), committed);
    if (status != RF_OK)
        return 0;
    sums[SUM_RESOLVED]++;
    e->unknown = 0;
    if (committed)
        return 1;
    if (fence != 0)
        check_told_absent(e->operation, fence);
    return 0;
}

/* In one section.  1: it is done. */
static int attempt(section *s, errand *e)
{
    rf_status status;

    section_believes(s);
    if (e->unknown && sim_chance(500) && ask(s, e))
        return 1;
    sums[SUM_AGAIN] += e->unknown;
    status = apply(s, e);
    sim_trace("operation %d: %s", e->operation, rf_status_name(status));
    e->unknown |= status == RF_UNKNOWN;
    return status == RF_OK;
}

void work_once(worker *w, int resource, const rf_acquire_options *opts)
{
    errand e = { .operation = check_operation(resource) };
    section s;
    int done = 0;

    snprintf(e.name, sizeof(e.name), "op%d", e.operation);
    for (int i = 0; i < TRIES && !done; i++) {
        if (!section_begin(&s, w, resource, opts)) {
            mend(w);
            sim_sleep(sim_between(0, 40));
            continue;
        }
        done = attempt(&s, &e);
        section_end(&s);
        mend(w);
        /* A refusal is final; only what is unknown is worth the trouble. */
        if (!e.unknown)
            break;
    }
    if (done)
        check_told_done(e.operation);
    else if (e.unknown)
        check_told_unknown(e.operation);
    else
        check_told_refused(e.operation);
}
