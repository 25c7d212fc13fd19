/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * quorum.h - independent masters, of which a majority must agree
 */
#ifndef RF_QUORUM_H
#define RF_QUORUM_H

#include "url.h"

/* NULL when out of memory. */
rf__source *rf__quorum_source(const rf__service *service,
                              const rf_options *opts, rf__error *error);

#endif /* RF_QUORUM_H */
