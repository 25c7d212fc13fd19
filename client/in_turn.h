/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * in_turn.h - several locks, where no single script can see them all
 *
 * For the ops of sources that have no better way: see source.h for what each
 * promises.
 */
#ifndef RF_IN_TURN_H
#define RF_IN_TURN_H

#include "source.h"

rf_status rf__acquire_in_turn(rf__source *s, rf__grants *grants, rf_fence floor,
                              int64_t deadline_ms);
void rf__renew_in_turn(rf__source *s, rf__grant *grants, rf_status *results,
                       size_t n, int64_t deadline_ms);
void rf__release_in_turn(rf__source *s, rf__grant *grants, rf_status *results,
                         size_t n, int64_t deadline_ms);

/*
 * The pages of several sources one after the other: the cursor is "i:" and that
 * of source i, with i counting n more for each that could not be asked.  Up to
 * spare of them may be away, so that what all of a majority have is still seen.
 */
typedef struct rf__sources {
    rf__source **source;
    size_t n, spare;
    rf__error *error; /* whose text the caller sees */
} rf__sources;

rf_status rf__list_in_turn(const rf__sources *all, rf__page *page,
                           int64_t deadline_ms);

/*
 * Every one of them, also after one that can't be asked: that is a finding.
 */
rf_status rf__examine_in_turn(rf__source **sources, size_t n,
                              const rf__examination *e);

#endif /* RF_IN_TURN_H */
