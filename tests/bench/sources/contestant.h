/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * contestant.h - who takes a lock and gives it back, and what that costs
 */
#ifndef CONTESTANT_H
#define CONTESTANT_H

#include <stddef.h>

#include "ringfence.h"

/* Of one pair, all servers of the contestant together. */
typedef struct cost {
    double requests; /* that the servers were asked        */
    double flushes;  /* of their logs: fsync or fdatasync  */
} cost;

typedef struct contestant {
    const char *name;
    const char *url; /* of this kind; NULL: none of ours */
    void (*start)(void);
    void (*pair)(void);
    cost (*cost_of)(size_t pairs);
    void (*stop)(void);
} contestant;

extern const contestant redis, redlock, postgresql, shedlock, advisory, etcd,
    zookeeper;

/* What each of them needs; a failure ends the program. */
rf_client *client_open(const char *url);
void client_pair(rf_client *client);

/* By what its servers have counted before and after so many pairs. */
cost cost_by(cost (*counted)(void), void (*pair)(void), size_t pairs);

/* The sum of the numbers that end the lines which begin like this. */
double sum_of(const char *text, const char *beginning);

#endif /* CONTESTANT_H */
