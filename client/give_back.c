/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * give_back.c - what was granted and is not wanted after all
 */
#include "give_back.h"

int rf__give_back(rf__source *s, rf__grant *grants, size_t n,
                  int64_t deadline_ms)
{
    rf_status results[RF_ALL_MAX];
    int gone = 1;

    s->ops->release_all(s, grants, results, n, deadline_ms);
    for (size_t i = 0; i < n; i++)
        gone = gone && (results[i] == RF_OK || results[i] == RF_LOST);
    return gone;
}
