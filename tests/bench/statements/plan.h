/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * plan.h - what is to be measured, as a file says it
 *
 * The file is SQL in sections, each begun by a line "--: WORD VALUE":
 *
 *   rounds N       turns of every contestant (the environment's ROUNDS wins)
 *   batch_ms N     how long a turn lasts; without it, one execution is a turn
 *   clients N      at the same time; then throughput counts, not time
 *   processors N   for client and server's process together; without it, all
 *   rows N         what is told is the time of one of these, not of all
 *   cost_above X   of interest is what a contestant costs more than X
 *   session        run on each connection
 *   setup          run once
 *   each           run once for each contestant
 *   before         run before each execution, not measured
 *   statement      measured; several are one transaction in one round trip
 *   ours NAME [X]  a contestant of ours begins, compared with X or with all
 *   theirs NAME    one to compare with begins
 *   database NAME  where this contestant plays; made by others, setup and each
 *                  run in the usual one
 *
 * Sections above the first contestant hold for all that have none of their
 * own; setup and each are run in addition.  {name} stands for the contestant's
 * name, {client} for the client's number, {tmp} for a folder for files.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PLAN_CONTESTANTS = 16,
    PLAN_STATEMENTS = 8,
    PLAN_CLIENTS = 64,
    PLAN_ROUNDS = 1000
};

typedef struct contestant {
    char *name;
    bool ours;
    char *against;  /* NULL: all */
    char *database; /* NULL: the usual one */
    char *setup;    /* any of these may be NULL */
    char *before;
    char *statement;
} contestant;

typedef struct plan {
    const char *name;
    size_t rounds, batch_ms, clients;
    size_t processors; /* 0: all */
    double rows;       /* 0: not told by the row */
    char *cost_above;  /* NULL: whole times are compared */
    char *session, *setup, *each, *before, *statement;
    contestant who[PLAN_CONTESTANTS];
    size_t n;
} plan;

/* Read the file, or end the program with the reason. */
plan *plan_read(const char *file, const char *name);

/* Copy of text with every mark replaced; free() it. */
char *plan_replace(const char *text, const char *mark, const char *with);

/* Cut after each ";" at the end of a line; returns how many parts. */
size_t plan_split(char *text, char **parts, size_t max);

#endif /* PLAN_H */
