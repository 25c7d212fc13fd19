/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_keys.h - what the keys of a resource are called, in the gateway's form
 */
#ifndef RF_ETCD_KEYS_H
#define RF_ETCD_KEYS_H

#include "base64.h"
#include "internal.h"
#include "script.h"

/* Prefix, resource, holder, a word of ours, and what is between them. */
#define RF__ETCD_KEY_MAX (RF__PREFIX_MAX + RF_RESOURCE_MAX + RF_HOLDER_LEN + 16)

typedef struct rf__etcd_key {
    char text[RF__BASE64_SIZE(RF__ETCD_KEY_MAX)];
} rf__etcd_key;

/* The lock itself: its value is the holder. */
void rf__etcd_lock_key(rf__etcd_key *out, const char *prefix,
                       const char *resource);

/*
 * The place of a holder in the queue, and the queue as a range.  Names hold no
 * control characters, so these keys are nobody's lock.
 */
void rf__etcd_place_key(rf__etcd_key *out, const char *prefix,
                        const char *resource, const char *holder);
void rf__etcd_queue_range(rf__etcd_key *from, rf__etcd_key *to,
                          const char *prefix, const char *resource);

/* Why a lock was taken from its holder last. */
void rf__etcd_reason_key(rf__etcd_key *out, const char *prefix,
                         const char *resource);

/* All locks, without the queues. */
void rf__etcd_locks_range(rf__etcd_key *from, rf__etcd_key *to,
                          const char *prefix);

/*
 * A lease's number is made of what it is for, so that asking twice makes one
 * lease.  The holder is random, so the number is as good as random.
 */
int64_t rf__etcd_lease_id(const char *purpose, const char *resource,
                          const char *holder);

#endif /* RF_ETCD_KEYS_H */
