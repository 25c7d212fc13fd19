/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_examine.h - what a person wants to know of an etcd
 */
#ifndef RF_ETCD_EXAMINE_H
#define RF_ETCD_EXAMINE_H

#include "etcd.h"

/* source takes its locks from etcd, under this prefix. */
rf_status rf__etcd_examine(rf__etcd *etcd, rf__source *source,
                           const char *prefix, const rf__examination *e);

#endif /* RF_ETCD_EXAMINE_H */
