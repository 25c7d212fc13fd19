/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * give_back.h - what was granted and is not wanted after all
 */
#ifndef RF_GIVE_BACK_H
#define RF_GIVE_BACK_H

#include "source.h"

/* Up to RF_ALL_MAX.  1: they are gone, for certain; 0: some of them may not be. */
int rf__give_back(rf__source *s, rf__grant *grants, size_t n,
                  int64_t deadline_ms);

#endif /* RF_GIVE_BACK_H */
