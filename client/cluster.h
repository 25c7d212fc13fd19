/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cluster.h - a Redis Cluster as a source of locks and fences
 */
#ifndef RF_CLUSTER_H
#define RF_CLUSTER_H

#include "url.h"

/* NULL when out of memory. */
rf__source *rf__cluster_source(const rf__service *service,
                               const rf_options *opts, rf__error *error);

/* slot.c: the slot of a resource's keys. */
#define RF__SLOTS 16384
int rf__slot(const char *prefix, const char *resource);

#endif /* RF_CLUSTER_H */
