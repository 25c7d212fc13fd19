/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * topology.h - which source belongs to which URL
 */
#ifndef RF_TOPOLOGY_H
#define RF_TOPOLOGY_H

#include "url.h"

/* RF_OK, or RF_MISUSE when options and service don't go together. */
rf_status rf__topology_check(const rf__service *service, const rf_options *opts,
                             rf__error *error);

/* NULL when out of memory.  Copies what it needs of service and opts. */
rf__source *rf__topology_source(const rf__service *service,
                                const rf_options *opts, rf__error *error);

#endif /* RF_TOPOLOGY_H */
