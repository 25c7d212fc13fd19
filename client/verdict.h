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

#endif /* RF_VERDICT_H */
