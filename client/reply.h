/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * reply.h - what Redis answered, as a flat list
 */
#ifndef RF_REPLY_H
#define RF_REPLY_H

#include <stddef.h>

/* More than any of our replies can be: who sends more is no Redis of ours. */
#define RF__REPLY_ITEMS_MAX 16384
#define RF__REPLY_BYTES_MAX (1 << 18)

typedef enum rf__reply_type {
    RF__NIL,
    RF__STRING,
    RF__ERROR,
    RF__INTEGER,
    RF__ARRAY
} rf__reply_type;

typedef struct rf__item {
    rf__reply_type type;
    size_t at;        /* RF__STRING, RF__ERROR: where in text             */
    long long number; /* RF__INTEGER: value; otherwise bytes or elements  */
} rf__item;

/*
 * In the order in which it came: [0] is the whole, and the elements of an array
 * follow it.  Begins with all zero.
 */
typedef struct rf__reply {
    rf__item *items;
    size_t count, items_size;
    char *text;
    size_t used, text_size;
    int oversize; /* it was refused because it is too large */
} rf__reply;

void rf__reply_clear(rf__reply *reply);
void rf__reply_free(rf__reply *reply);

/* Put an item behind the others.  0 when it is too large, or no memory. */
int rf__reply_add(rf__reply *reply, rf__reply_type type, long long number);
int rf__reply_add_text(rf__reply *reply, rf__reply_type type, const char *text,
                       size_t len);

/* How many items there are. */
size_t rf__reply_count(const rf__reply *reply);
rf__reply_type rf__reply_kind(const rf__reply *reply, size_t i);

/* Of an integer, its value; of an array, how many elements; else 0. */
long long rf__reply_number(const rf__reply *reply, size_t i);

/* Text of item i, zero-terminated, without a zero inside; else NULL. */
const char *rf__reply_text(const rf__reply *reply, size_t i);

#endif /* RF_REPLY_H */
