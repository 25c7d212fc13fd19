/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_nodes.h - our nodes in ZooKeeper, and when each is to go
 *
 * A session keeps its nodes for as long as it lives, so somebody has to take
 * those away whose time is over, whose holder gave up, or whose creation was
 * never answered: a thread of ours.  Nobody else's nodes are ever touched.
 * A client and its keeper share one of these, and one session.
 */
#ifndef RF_ZOOKEEPER_NODES_H
#define RF_ZOOKEEPER_NODES_H

#include "zookeeper.h"

typedef struct rf__zoo_nodes rf__zoo_nodes;

typedef struct rf__zoo_node {
    char resource[RF_RESOURCE_MAX + 1];
    char holder[RF_HOLDER_LEN + 1];
    char name[RF__ZOO_NAME_MAX]; /* "": made perhaps, and never answered */
    long session;                /* it goes with this one                */
    int64_t czxid;
    int64_t made_ms;  /* by the leader's clock                      */
    int64_t until_ms; /* by ours: then it is to go                  */
    int is_granted;   /* it is a lock; else a place in the line     */
    int is_foreign;   /* another client's of this holder: it goes by itself */
} rf__zoo_node;

/* NULL: out of memory, or no descriptor.  The last one to drop it ends it. */
rf__zoo_nodes *rf__zoo_nodes_new(const rf__service *service,
                                 const char *prefix);
rf__zoo_nodes *rf__zoo_nodes_share(rf__zoo_nodes *n);
void rf__zoo_nodes_drop(rf__zoo_nodes *n);

int rf__zoo_nodes_is_ours(const rf__zoo_nodes *n);

rf__zoo *rf__zoo_of(rf__zoo_nodes *n);
const char *rf__zoo_prefix(const rf__zoo_nodes *n);

/* 1, and a copy, when there is one of this session; 0 after its end. */
int rf__zoo_nodes_get(rf__zoo_nodes *n, const char *resource,
                      const char *holder, rf__zoo_node *out);

/* Note it, new or changed.  RF_OK, RF_NOMEM, or RF_RETRY: no thread. */
rf_status rf__zoo_nodes_put(rf__zoo_nodes *n, const rf__zoo_node *node);

/*
 * Does its lock still stand?  0 once it is gone, or its session may be: the
 * servers keep one that they don't hear of for a while only.  0 is final.
 */
int rf__zoo_nodes_stands(rf__zoo_nodes *n, const char *resource,
                         const char *holder);

/* It is gone. */
void rf__zoo_nodes_remove(rf__zoo_nodes *n, const rf__zoo_node *node);

#endif /* RF_ZOOKEEPER_NODES_H */
