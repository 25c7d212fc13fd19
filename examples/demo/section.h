/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.h - what the two runs of the demo do differently, and nothing else
 *
 * A critical section begins by taking the lock and ends by giving it back; in
 * between, one statement writes.  plain.c, plain_table.c and fenced.c each answer
 * this interface; worker.c, which does the work, can't tell them apart.
 */
#ifndef DEMO_SECTION_H
#define DEMO_SECTION_H

#include <libpq-fe.h>
#include <ringfence.h>
#include <ringfence_pg.h>

typedef struct section section;

/* Why a write was refused, ready to be shown. */
typedef struct section_refusal {
    char sqlstate[6]; /* "" when nothing was sent to the database */
    char message[256];
    char detail[256];
} section_refusal;

/* Fill *refusal from a failed result, which may be NULL; say what it means. */
rf_status section_refused(PGconn *conn, const PGresult *result,
                          section_refusal *refusal);

typedef struct section_kind {
    const char *name;

    /*
     * style tells two kinds of callers apart where the lock has an interface
     * for both ("library" or "sql").  NULL when it can't be set up.
     */
    section *(*open)(const char *url, PGconn *conn, const char *style);
    void (*close)(section *s);

    /*
     * Take the lock, waiting at most wait_ms.  Anything but RF_OK means that
     * there is no section; text() tells why.
     */
    rf_status (*begin)(section *s, const char *resource, int ttl_ms,
                       int wait_ms);

    /* The number to write beside the data: a fence, or 0 without one. */
    rf_fence (*fence)(const section *s);

    /* Run the section's write and commit it.  Not RF_OK: *refusal tells. */
    rf_status (*write)(section *s, const rf_pg_statement *statement,
                       section_refusal *refusal);

    /* Give the lock back.  RF_LOST: it was no longer ours. */
    rf_status (*end)(section *s);

    /* Text of the last failure. */
    const char *(*text)(const section *s);
} section_kind;

extern const section_kind plain_section;
extern const section_kind plain_table_section;
extern const section_kind fenced_section;

#endif /* DEMO_SECTION_H */
