/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wake.h - the question that sleeps in Redis until a lock is given back
 */
#ifndef RF_WAKE_H
#define RF_WAKE_H

#include "answer.h"

/* Put it behind other commands, for the list of this name.  0: no memory. */
int rf__wake_write(rf__words *w, const char *key, int64_t for_ms);

/*
 * Its answer, if it is no error: RF_OK with the token that woke us, or with
 * none when time was over; otherwise RF__NONSENSE.
 */
rf_status rf__wake_read(const rf__reply *reply, const char *key,
                        rf__grant *grant);

#endif /* RF_WAKE_H */
