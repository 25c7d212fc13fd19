/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_source.h - etcd as a source of locks and fences
 */
#ifndef RF_ETCD_SOURCE_H
#define RF_ETCD_SOURCE_H

#include "url.h"

/* RF_OK when these options are what this source can do. */
rf_status rf__etcd_source_check(const rf_options *opts, rf__error *error);

/* NULL: out of memory. */
rf__source *rf__etcd_source(const rf__service *service, const rf_options *opts,
                            rf__error *error);

#endif /* RF_ETCD_SOURCE_H */
