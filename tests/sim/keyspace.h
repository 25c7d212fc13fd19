/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keyspace.h - what one small Redis has in its memory
 *
 * Keys, and their expiry by the server's own wall clock.  Knows strings, lists
 * and sorted sets, and no network.
 */
#ifndef SIM_KEYSPACE_H
#define SIM_KEYSPACE_H

#include <stddef.h>
#include <stdint.h>

#define KEYS_MAX  16
#define LIST_MAX  8
#define SET_MAX   8
#define NAME_SIZE 40

typedef enum entry_kind { STRING, LIST, SORTED } entry_kind;

typedef struct member {
    char name[NAME_SIZE];
    int64_t score;
} member;

typedef struct entry {
    char name[NAME_SIZE];
    size_t len;      /* of the name; 0: free            */
    int64_t expires; /* by the wall clock, -1: never    */
    entry_kind kind;
    int n; /* elements of a list, members of a set */
    char value[56];
    union {
        char list[LIST_MAX][24];
        member set[SET_MAX];
    };
} entry;

typedef struct keyspace {
    entry keys[KEYS_MAX];
    int count;        /* slots that were ever used since the last flush */
    int64_t step;     /* of the wall clock, off the truth               */
    unsigned scripts; /* a bit for each that its cache has              */
    int server;       /* whose it is                                    */
} keyspace;

void keyspace_flush(keyspace *ks);

/* What a replica has at this moment; expiry is by wall clock in both. */
void keyspace_copy(keyspace *to, const keyspace *from);

int64_t keyspace_wall(const keyspace *ks);

/* A live key, or NULL. */
entry *keyspace_find(keyspace *ks, const char *name, size_t len);
entry *keyspace_make(keyspace *ks, const char *name, size_t len);
void keyspace_remove(entry *e);
void keyspace_set(entry *e, const char *value, size_t len);

/* A list's first element is taken into out; 0 when there is none. */
int keyspace_pop(keyspace *ks, const char *name, char out[24]);

/* Of a sorted set; NULL when it is not in there. */
member *keyspace_member(entry *e, const char *name);
void keyspace_add(entry *e, const char *name, int64_t score);
int keyspace_drop(entry *e, member *m); /* 0 when there was nothing to drop */

/* Name of some key, which goes; NULL when there is none. */
const char *keyspace_evict(keyspace *ks);

#endif /* SIM_KEYSPACE_H */
