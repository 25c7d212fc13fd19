/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * told.h - what an examination has told
 */
#ifndef TOLD_H
#define TOLD_H

#include "ringfence.h"

typedef struct told {
    int of[RF_SEVERITIES];
    char all[8192]; /* "subject=found;" one after the other */
} told;

/* For rf_examine(), with a told as arg.  Whatever is not well is explained. */
void told_note(const rf_finding *finding, void *arg);

/* How often this stands there, such as "role=leader;". */
int told_times(const told *t, const char *what);

#endif /* TOLD_H */
