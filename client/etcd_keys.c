/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_keys.c - what the keys of a resource are called, in the gateway's form
 */
#include "etcd_keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Control characters keep ours apart from any resource's name. */
#define QUEUE  "\001q"
#define REASON "\001r"
#define END    "\001"
#define BEYOND "\002"

__attribute__((format(printf, 2, 3))) static void write_key(rf__etcd_key *out,
                                                            const char *format,
                                                            ...)
{
    char key[RF__ETCD_KEY_MAX];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(key, sizeof(key), format, args);
    va_end(args);
    rf__base64_write(out->text, key, (size_t)len);
}

void rf__etcd_lock_key(rf__etcd_key *out, const char *prefix,
                       const char *resource)
{
    write_key(out, "%s%s", prefix, resource);
}

void rf__etcd_place_key(rf__etcd_key *out, const char *prefix,
                        const char *resource, const char *holder)
{
    write_key(out, "%s" QUEUE "%s" END "%s", prefix, resource, holder);
}

void rf__etcd_queue_range(rf__etcd_key *from, rf__etcd_key *to,
                          const char *prefix, const char *resource)
{
    write_key(from, "%s" QUEUE "%s" END, prefix, resource);
    write_key(to, "%s" QUEUE "%s" BEYOND, prefix, resource);
}

void rf__etcd_reason_key(rf__etcd_key *out, const char *prefix,
                         const char *resource)
{
    write_key(out, "%s" REASON "%s", prefix, resource);
}

void rf__etcd_locks_range(rf__etcd_key *from, rf__etcd_key *to,
                          const char *prefix)
{
    size_t last = strlen(prefix) - 1;

    write_key(from, "%s" BEYOND, prefix);
    write_key(to, "%.*s%c", (int)last, prefix, prefix[last] + 1);
}

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

int64_t rf__etcd_lease_id(const char *purpose, const char *resource,
                          const char *holder)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    hash = mix(mix(mix(hash, purpose), resource), holder);
    /* Exact in every JSON; and 0 asks the server for a number. */
    return (int64_t)(hash >> 11 | 1);
}
