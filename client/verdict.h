/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * verdict.h - what a finding comes to, and telling of it
 */
#ifndef RF_VERDICT_H
#define RF_VERDICT_H

#include "source.h"

typedef struct rf__verdict {
    rf_severity severity;
    const char *meaning, *remedy;
} rf__verdict;

/* Whoever examines is told: at where, subject is as found. */
void rf__verdict_tell(const rf__examination *e, const char *where,
                      const char *subject, const char *found, rf__verdict v);

/* Of a service that agrees by majority: so many members, so many in the URL. */
rf__verdict rf__verdict_on_members(size_t members, size_t named);

/* Is a version, such as "3.4.23-x", below that?  What is none is. */
int rf__version_is_below(const char *version, long major, long minor);

#endif /* RF_VERDICT_H */
