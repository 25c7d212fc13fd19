/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * backoff.h - pauses between attempts
 */
#ifndef RF_BACKOFF_H
#define RF_BACKOFF_H

#include "internal.h"

/* Anything from 0 to most. */
int64_t rf__jitter_ms(int64_t most);

typedef struct rf__pauses {
    int64_t ceiling_ms; /* of the next pause */
    int64_t most_ms;
} rf__pauses;

/* Pause; 0, at once, when the pause would last beyond the deadline. */
int rf__backoff(rf__pauses *p, int64_t deadline_ms);

#endif /* RF_BACKOFF_H */
