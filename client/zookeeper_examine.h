/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_examine.h - what a person wants to know of a ZooKeeper
 */
#ifndef RF_ZOOKEEPER_EXAMINE_H
#define RF_ZOOKEEPER_EXAMINE_H

#include "zookeeper.h"

/* source takes its locks from zoo, under this prefix. */
rf_status rf__zoo_examine(rf__zoo *zoo, rf__source *source, const char *prefix,
                          const rf__examination *e);

#endif /* RF_ZOOKEEPER_EXAMINE_H */
