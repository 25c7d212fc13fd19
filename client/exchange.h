/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * exchange.h - requests to several servers, all at once
 */
#ifndef RF_EXCHANGE_H
#define RF_EXCHANGE_H

#include "script.h"

/* With one server: all its requests travel together. */
typedef struct rf__exchange {
    rf__redis *redis; /* NULL: it has no part in this                     */
    rf__call *const *calls;
    size_t n, at; /* how many, and which one's turn it is             */
    rf__error *error;

    /*
     * Of calls[at], as of rf__script_run(); RF__PENDING: not yet; RF__UNSENT, when
     * there are several: the server didn't know the script, and nothing was done.
     */
    rf_status status;
    const rf__reply *reply; /* RF_OK: what was answered                     */
    enum { RF__CONNECT, RF__SEND, RF__TAKE } stage;
    int by_text;
    char tag[RF__TAG_LEN + 1];
} rf__exchange;

typedef struct rf__round rf__round;
struct rf__round {
    rf__exchange *x; /* status RF__PENDING, stage RF__CONNECT */
    size_t n;
    int64_t deadline_ms;

    /*
     * Called when calls[at] of x[i] is over.  1: all that matters is known, and
     * the others are only waited for a moment longer.
     */
    int (*over)(rf__round *round, size_t i);
    void *arg;
};

/* What is not answered in time is given up: RF_UNKNOWN, or RF_RETRY. */
void rf__exchange_all(rf__round *round);

#endif /* RF_EXCHANGE_H */
