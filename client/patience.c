/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * patience.c - the rules of waiting, for those who block and those who don't
 */
#include "patience.h"

#include "backoff.h"

/* A woken waiter that never comes costs the others this much. */
#define KEPT_WAIT_MS 2000

#define PAUSE_LAST_MS 500

int rf__worth_waiting(rf_status status)
{
    return status == RF_BUSY || status == RF_RETRY || status == RF_UNKNOWN ||
           status == RF_REFUSED;
}

int64_t rf__pause_ms(int64_t *ceiling_ms)
{
    int64_t pause_ms = 1 + rf__jitter_ms(*ceiling_ms);

    *ceiling_ms *= 2;
    if (*ceiling_ms > PAUSE_LAST_MS)
        *ceiling_ms = PAUSE_LAST_MS;
    return pause_ms;
}

int64_t rf__sleep_limit_ms(const rf__grant *busy, int64_t left_ms)
{
    int64_t limit_ms = busy->busy_ms;

    if (busy->busy_by == RF__OWNER_KEPT)
        limit_ms = KEPT_WAIT_MS;
    if (limit_ms < 0)
        return left_ms;
    limit_ms += 1 + rf__jitter_ms(RF__PAUSE_FIRST_MS);
    return limit_ms < left_ms ? limit_ms : left_ms;
}

rf_status rf__learn_floor(const rf__grants *grants,
                          const rf_acquire_options *opts, rf_fence *out,
                          rf__error *error)
{
    rf_fence floor = 0, highest = 0;
    rf_status status = RF_OK;

    /* No script of ours says so to who did not ask. */
    if (opts->ask_floor == NULL) {
        rf__set_error(error, "Redis' answer makes no sense");
        return RF_UNKNOWN;
    }
    error->text[0] = '\0';
    for (size_t i = 0; i < grants->n && status == RF_OK; i++) {
        status = opts->ask_floor(opts->ask_floor_arg, grants->grant[i].resource,
                                 &floor);
        if (status == RF_OK && (floor < 0 || floor > RF_FENCE_MAX))
            status = RF_MISUSE;
        if (status == RF_OK && floor > highest)
            highest = floor;
    }
    if (status == RF_OK)
        *out = highest;
    else if (error->text[0] == '\0')
        rf__set_error(error, "the fence counter is missing, and its floor "
                             "could not be learned");
    return status == RF_UNKNOWN ? RF_RETRY : status;
}
