/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * verdict.c - what a finding comes to, and telling of it
 */
#include "verdict.h"

void rf__verdict_tell(const rf__examination *e, const char *where,
                      const char *subject, const char *found, rf__verdict v)
{
    rf_finding finding = { .severity = v.severity,
                           .where = where,
                           .subject = subject,
                           .found = found,
                           .meaning = v.meaning,
                           .remedy = v.remedy };

    e->on_finding(&finding, e->arg);
}
