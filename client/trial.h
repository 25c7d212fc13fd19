/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * trial.h - may locks be taken here?
 */
#ifndef RF_TRIAL_H
#define RF_TRIAL_H

#include "verdict.h"

typedef struct rf__trial {
    char name[RF_HOLDER_LEN + 1];
    rf_fence fence; /* 0: it was not granted, or not given back */
} rf__trial;

/*
 * Take a lock of a name that nobody else uses and give it back, and tell of it:
 * none is what it means when that can't be done.  RF_OK, or what keeps us from
 * trying.
 */
rf_status rf__trial_of_locks(rf__source *source, const rf__examination *e,
                             const char *where, rf__verdict none,
                             rf__trial *out);

#endif /* RF_TRIAL_H */
