/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_keys.h - what the nodes of a resource are called
 *
 * /PREFIX/RESOURCE is the folder of a resource; in it, each who has the lock or
 * waits for it has a node HOLDER-NUMBER, and the lowest number has the lock.
 */
#ifndef RF_ZOOKEEPER_KEYS_H
#define RF_ZOOKEEPER_KEYS_H

#include "internal.h"
#include "script.h"

/* HOLDER-NUMBER, and somewhat more for those of other programs. */
#define RF__ZOO_NAME_MAX 128

/* Every byte may become three; two slashes, a name and the zero. */
#define RF__ZOO_PATH_MAX \
    (3 * (RF__PREFIX_MAX + RF_RESOURCE_MAX) + RF__ZOO_NAME_MAX + 4)

typedef struct rf__zoo_path {
    char text[RF__ZOO_PATH_MAX];
} rf__zoo_path;

/* The folder of all resources, of one, and a node in it. */
void rf__zoo_root(rf__zoo_path *out, const char *prefix);
void rf__zoo_folder(rf__zoo_path *out, const char *prefix,
                    const char *resource);
void rf__zoo_in_folder(rf__zoo_path *out, const char *prefix,
                       const char *resource, const char *name);

/* What a holder's nodes begin with; the server adds the number. */
void rf__zoo_first_part(char out[RF__ZOO_NAME_MAX], const char *holder);

/* The resource that a folder's name stands for.  0: none of ours. */
int rf__zoo_read_folder(const char *name, char out[RF_RESOURCE_MAX + 1]);

/*
 * What stands in a node: for how long its lock is, from when it was written, and
 * how long the servers keep its session unheard of.  0: none of ours wrote that.
 */
#define RF__ZOO_WORDS_MAX 64
void rf__zoo_write_words(char out[RF__ZOO_WORDS_MAX], int64_t ttl_ms,
                         int session_ms);
int rf__zoo_read_words(const char *text, int64_t *ttl_ms, int64_t *session_ms);

/* The number at the end of a name, whoever made it.  0: there is none. */
int rf__zoo_number(const char *name, int32_t *out);

/*
 * Was a numbered before b?  Numbers go on from the greatest to the least, so
 * the nearer way round decides.
 */
int rf__zoo_is_before(int32_t a, int32_t b);

/* The holder of a node of ours: 0 when it is none. */
int rf__zoo_read_holder(const char *name, char out[RF_HOLDER_LEN + 1]);

#endif /* RF_ZOOKEEPER_KEYS_H */
