/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.h - a critical section over several articles, kept while it lasts
 */
#ifndef INVENTORY_SECTION_H
#define INVENTORY_SECTION_H

#include <ringfence.h>
#include <ringfence_pg.h>

#include "request.h"

typedef struct section {
    rf_lock *locks[LINES_MAX]; /* one for each line, in its order       */
    size_t n;
    int bell[2]; /* bell[0] can be read once a lock is lost */
} section;

/* Make the bell; 0 when the system has none to give. */
int section_init(section *s);

/*
 * Lock, keep and claim every article of the request, or none.  Whatever is read
 * from here on can't be changed by an older section any more.  End it with
 * section_close(), whatever the outcome.
 */
rf_status section_open(section *s, rf_client *client, PGconn *conn,
                       const request *r);

/* Begin the transaction that writes: all the claims, in it. */
rf_status section_begin(section *s, PGconn *conn);

void section_close(section *s);

#endif /* INVENTORY_SECTION_H */
