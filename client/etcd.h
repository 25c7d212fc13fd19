/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd.h - one conversation with etcd, over its JSON gateway
 *
 * Knows endpoints, tokens, time limits and what a failure proves; nothing of
 * locks.
 */
#ifndef RF_ETCD_H
#define RF_ETCD_H

#include <jansson.h>

#include "url.h"

typedef struct rf__etcd rf__etcd;

/* NULL: out of memory.  The copy asks the same servers over its own. */
rf__etcd *rf__etcd_new(const rf__service *service, rf__error *error);
rf__etcd *rf__etcd_again(const rf__etcd *e, rf__error *error);
void rf__etcd_free(rf__etcd *e);

/* The same, but of one server alone: its number in the URL. */
rf__etcd *rf__etcd_only(const rf__etcd *e, size_t server, rf__error *error);

/* Where the servers are, and who we are there. */
const rf__service *rf__etcd_service(const rf__etcd *e);

/* What is asked; the body is taken over. */
typedef struct rf__etcd_call {
    const char *path; /* such as "/v3/kv/txn"                               */
    json_t *body;     /* NULL: there was no memory for it                   */
    int64_t deadline_ms;
    json_t *reply; /* out: on RF_OK, the caller's                           */
    int code;      /* out: gRPC's number for etcd's refusal, 0: none        */
} rf__etcd_call;

/* Numbers of gRPC that mean something to us. */
enum {
    RF__ETCD_NOT_FOUND = 5,
    RF__ETCD_PRECONDITION = 9,
    RF__ETCD_COMPACTED = 11
};

/*
 * Ask the servers in turn until one answers.  Returns RF_OK, RF_RETRY (nothing
 * landed), RF_UNKNOWN (perhaps), RF_REFUSED (etcd has no room), RF_MISUSE
 * (refused for good; code tells) or RF_NOMEM.
 */
rf_status rf__etcd_run(rf__etcd *e, rf__etcd_call *call);

/*
 * Sleep until something happens to the key at or after the revision (both as
 * the gateway writes them), cancel_fd is readable, or it is until_ms.  RF_OK, or
 * RF_RETRY when the servers could not be watched.
 */
rf_status rf__etcd_watch(rf__etcd *e, const char *key, json_int_t revision,
                         int cancel_fd, int64_t until_ms);

/* A number that the gateway wrote as text; missing means 0. */
json_int_t rf__etcd_number(const json_t *object, const char *key);

#endif /* RF_ETCD_H */
