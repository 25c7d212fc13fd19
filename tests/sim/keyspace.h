/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keyspace.h - a small Redis: keys, expiry by its wall clock, and the scripts
 *
 * The scripts are the real ones, run by the same Lua that Redis embeds.  Knows
 * the commands that they and the client use, and no other.
 */
#ifndef SIM_KEYSPACE_H
#define SIM_KEYSPACE_H

#include <stddef.h>
#include <stdint.h>

#define KEYS_MAX       (RESOURCES_KEYS * 4)
#define RESOURCES_KEYS 4
#define LIST_MAX       8
#define REPLY_MAX      1024
#define ARGS_MAX       24

/* A reply as it goes over the wire. */
typedef struct reply {
    char bytes[REPLY_MAX];
    size_t len;
} reply;

void reply_text(reply *r, const char *text, size_t len);
void reply_error(reply *r, const char *text);
void reply_number(reply *r, long long number);
void reply_nil(reply *r);
void reply_array(reply *r, int n);

void keyspace_open(void);
void keyspace_flush(void);
void keyspace_keep(void);   /* what a lagging replica has */
void keyspace_rewind(void); /* ... becomes the truth      */
void keyspace_evict(int64_t which);
void keyspace_step(int64_t ms); /* the wall clock jumps; 0: it is right again */
void keyspace_forget_scripts(void);

/* The value of a live string key, or NULL. */
const char *keyspace_string(const char *key);

/* A list's first element is taken into out; 0 when there is none. */
int keyspace_pop(const char *key, char *out, size_t size);

/* Called whenever a key got an element. */
extern void (*keyspace_pushed)(const char *key);

/* Any command but BLPOP. */
void keyspace_command(int argc, char **argv, const size_t *len, reply *out);

#endif /* SIM_KEYSPACE_H */
