/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_queue.h - waiting for a lock in etcd, in the order of coming
 */
#ifndef RF_ETCD_QUEUE_H
#define RF_ETCD_QUEUE_H

#include "etcd.h"

/* As wait of source.h.  timeout_ms is for each request. */
rf_status rf__etcd_queue_wait(rf__etcd *etcd, const char *prefix,
                              rf__grant *grant, int64_t for_ms, int timeout_ms);

#endif /* RF_ETCD_QUEUE_H */
