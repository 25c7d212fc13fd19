/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * ballot.h - one step asked of all masters of a quorum, and counted
 */
#ifndef RF_BALLOT_H
#define RF_BALLOT_H

#include "exchange.h"
#include "redis_steps.h"

typedef struct rf__quorum {
    rf__source base;
    size_t n, majority;
    rf__source *node[RF__QUORUM_MAX]; /* each a Redis of its own */
    rf__error error[RF__QUORUM_MAX];
} rf__quorum;

typedef struct rf__ballot {
    rf__quorum *q;
    rf__grant grant[RF__QUORUM_MAX];
    rf_info info[RF__QUORUM_MAX];     /* of an inspect                   */
    rf_status result[RF__QUORUM_MAX]; /* RF__PENDING: was not asked      */
    int replayed[RF__QUORUM_MAX];     /* of an acquire: it had it before */
    rf_fence floor;
    size_t enough; /* this many RF_OK are all that matters; and no more is
                      waited for when they can't be had any more          */
    size_t asked, ok, lost, taken, failed;
    int64_t sent_ms;              /* before the first request went out */
    int has_part[RF__QUORUM_MAX]; /* it is asked by the next hold */
    int settled;                  /* all that matters is known    */
    rf__request request[RF__QUORUM_MAX];
} rf__ballot;

/* A ballot on grant; nobody is asked yet. */
void rf__ballot_init(rf__ballot *b, rf__quorum *q, const rf__grant *grant);

/* Ask node i with the next rf__ballot_hold(). */
void rf__ballot_ask(rf__ballot *b, size_t i, const rf__script *script);
void rf__ballot_hold(rf__ballot *b, int64_t deadline_ms);

/*
 * The same for up to RF__BALLOTS_MAX at once: what is asked of one master travels
 * together.
 */
#define RF__BALLOTS_MAX 32
void rf__ballots_hold(rf__ballot *b, size_t n, int64_t deadline_ms);

size_t rf__ballot_count(const rf__ballot *b, rf_status result);

/*
 * What it came to, for a step that lives by its majority: RF_OK; RF_LOST;
 * otherwise what kept it from a majority.  With a text, and taken.
 */
rf_status rf__ballot_judge(rf__ballot *b, rf__grant *grant);

/* Text of the first node with this result. */
void rf__ballot_explain(rf__ballot *b, rf_status result);

#endif /* RF_BALLOT_H */
