/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_source.h - ZooKeeper as a source of locks and fences
 */
#ifndef RF_ZOOKEEPER_SOURCE_H
#define RF_ZOOKEEPER_SOURCE_H

#include "url.h"

/* RF_OK when these options are what this source can do. */
rf_status rf__zookeeper_source_check(const rf_options *opts, rf__error *error);

/* NULL: out of memory. */
rf__source *rf__zookeeper_source(const rf__service *service,
                                 const rf_options *opts, rf__error *error);

#endif /* RF_ZOOKEEPER_SOURCE_H */
