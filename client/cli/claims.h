/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * claims.h - what the database has accepted last, beside each lock
 */
#ifndef CLI_CLAIMS_H
#define CLI_CLAIMS_H

#include "held.h"
#include "output.h"

typedef struct cli_claims {
    PGresult *rows; /* NULL: none could be read */
} cli_claims;

/*
 * Read those of these locks.  When they can't be read, note says why; a
 * connection that was lost is tried again the next time.
 */
void cli_claims_read(cli_call *call, const cli_held *held, cli_claims *out,
                     char *note, size_t size);

/* The claim of a lock as a cell, coloured by what it means for the lock. */
void cli_claims_cell(cli_table *table, const cli_claims *claims,
                     const cli_lock *lock);

/* As JSON: an object, or null. */
json_t *cli_claims_json(const cli_claims *claims, const cli_lock *lock);

void cli_claims_free(cli_claims *claims);

#endif /* CLI_CLAIMS_H */
