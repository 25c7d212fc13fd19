/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * due.c - things by the time at which they are due: a binary heap
 *
 * Each knows its place, so that it can be taken out again.
 */
#include "due.h"

#include <stdlib.h>

static void place(rf__due_queue *q, rf__due *due, size_t at)
{
    q->heap[at] = due;
    due->at = at;
}

static void sift_up(rf__due_queue *q, rf__due *due, size_t at)
{
    while (at > 1 && q->heap[at / 2]->ms > due->ms) {
        place(q, q->heap[at / 2], at);
        at /= 2;
    }
    place(q, due, at);
}

static void sift_down(rf__due_queue *q, rf__due *due, size_t at)
{
    for (;;) {
        size_t child = 2 * at;

        if (child < q->n && q->heap[child + 1]->ms < q->heap[child]->ms)
            child++;
        if (child > q->n || q->heap[child]->ms >= due->ms)
            break;
        place(q, q->heap[child], at);
        at = child;
    }
    place(q, due, at);
}

int rf__due_reserve(rf__due_queue *q, size_t n)
{
    size_t size = q->size == 0 ? 64 : q->size;
    rf__due **grown;

    while (size <= n)
        size *= 2;
    if (size == q->size)
        return 1;
    grown = realloc(q->heap, size * sizeof(*grown));
    if (grown == NULL)
        return 0;
    q->heap = grown;
    q->size = size;
    return 1;
}

void rf__due_put(rf__due_queue *q, rf__due *due)
{
    sift_up(q, due, ++q->n);
}

void rf__due_take(rf__due_queue *q, rf__due *due)
{
    size_t at = due->at;
    rf__due *last;

    if (at == 0)
        return;
    due->at = 0;
    last = q->heap[q->n--];
    if (last == due)
        return;
    if (at > 1 && q->heap[at / 2]->ms > last->ms)
        sift_up(q, last, at);
    else
        sift_down(q, last, at);
}

rf__due *rf__due_first(const rf__due_queue *q)
{
    return q->n > 0 ? q->heap[1] : NULL;
}
