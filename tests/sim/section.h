/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.h - work under a lock, written as any service would do it
 */
#ifndef SIM_SECTION_H
#define SIM_SECTION_H

#include "check.h"
#include "pg_internal.h"
#include "world.h"

typedef struct worker {
    int id;
    sim_host *host;
    rf_client *client; /* NULL: it has gone home */
    PGconn *conn;
} worker;

typedef struct keeping keeping;

/* One section under way. */
typedef struct section {
    worker *w;
    rf_lock *lock;
    int resource;
    char name[4];   /* of the resource for the client...  */
    char number[4]; /* ... and for the statements         */
    int64_t ttl_ms;
    keeping *keeping; /* NULL: it is not kept             */
    int shared;       /* with others who only read        */
} section;

/* How long Redis remembers a counter that nobody uses, ms; 0: for ever. */
extern int64_t idle_ms;

/* In a crowded world locks run out all the time, and claims queue up. */
extern int crowded;

/* The status is one of these bits, or the run ends. */
void expect(rf_status status, unsigned allowed, const char *what,
            const worker *w);
#define ONE_OF(a, b, c, d) (1u << (a) | 1u << (b) | 1u << (c) | 1u << (d))

/* section.c: 1 when it could begin; then it has to end. */
int section_begin(section *s, worker *w, int resource,
                  const rf_acquire_options *opts);
void section_work(section *s);
void section_write_once(section *s);
void section_end(section *s);

/* The application's own statement, without a guard of its own. */
rf_status section_run(section *s, const char *sql, int n, const char **values,
                      char out[16]);
void section_compute(void);
void section_believes(section *s); /* here it asks */

/* Read the newest operation in a fenced transaction, and write this one. */
rf_status section_write(section *s, int operation);

/* once.c: an operation that is sent again until it is known what became of it. */
void work_once(worker *w, int resource, const rf_acquire_options *opts);

/* kept.c: hand the lock to the keeper, or not; and before it is released. */
void keeping_begins(section *s);
void keeping_ends(section *s);
void keepings_begin(void);

/* alone.c: locks without a database. */
void work_alone(worker *w, const rf_acquire_options *wish);
void told_nothing(const worker *w, int resource, const char *holder);

/* shared.c: one beside others who read. */
void work_shared(worker *w, const rf_acquire_options *wish);

/* What there is to tell when Redis has forgotten a counter: asked by some, and by
 * all where that can be. */
void may_ask(worker *w, rf_acquire_options *opts);

/* many.c: all of them at once. */
void work_on_all(worker *w, const rf_acquire_options *wish);

/* A connection that was lost is made anew. */
void mend(worker *w);

/* weak.c: what is weakened in the client itself. */
void weaken(rf_client *client);

/* holders.c */
void holders_begin(void);

#endif /* SIM_SECTION_H */
