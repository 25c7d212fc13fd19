/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * due.h - things by the time at which they are due
 */
#ifndef RF_DUE_H
#define RF_DUE_H

#include <stddef.h>
#include <stdint.h>

/* First member of each of them. */
typedef struct rf__due {
    int64_t ms;
    size_t at; /* place in the queue, from 1; 0: not in it */
} rf__due;

/* Begins with all zero.  [1] is due first. */
typedef struct rf__due_queue {
    rf__due **heap;
    size_t n, size;
} rf__due_queue;

/* Room for n of them, so that putting one in can't fail.  0: no memory. */
int rf__due_reserve(rf__due_queue *q, size_t n);

void rf__due_put(rf__due_queue *q, rf__due *due);

/* One that is not in it is left alone. */
void rf__due_take(rf__due_queue *q, rf__due *due);

/* NULL when it is empty. */
rf__due *rf__due_first(const rf__due_queue *q);

#endif /* RF_DUE_H */
