/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * status.c - the one table of outcomes
 *
 * A name and one sentence for each.  Whoever adds an outcome adds it here;
 * the test walks the table.
 */
#include <stddef.h>

#include "ringfence.h"

static const struct {
    const char *name;
    const char *text;
} outcomes[] = {
    [RF_OK] = { "RF_OK", "done" },
    [RF_BUSY] = { "RF_BUSY", "held by another: wait or give up" },
    [RF_TIMEOUT] = { "RF_TIMEOUT",
                     "waited as long as allowed: the lock was never ours" },
    [RF_LOST] = { "RF_LOST", "it was ours and no longer is: stop" },
    [RF_STALE] = { "RF_STALE",
                   "the database knows a newer grant: stop, never retry" },
    [RF_COLLISION] = { "RF_COLLISION",
                       "the database knows this number from another holder: "
                       "stop" },
    [RF_UNKNOWN] = { "RF_UNKNOWN",
                     "sent but not answered: look before doing it again" },
    [RF_RETRY] = { "RF_RETRY", "nothing landed: safe to do again" },
    [RF_REFUSED] = { "RF_REFUSED", "refused by policy: nothing landed" },
    [RF_MISUSE] = { "RF_MISUSE",
                    "the call or the set-up is wrong: a person must look" },
    [RF_NOMEM] = { "RF_NOMEM", "out of memory: nothing landed" },
};

static int known(rf_status status)
{
    return (int)status >= 0 &&
           (size_t)status < sizeof(outcomes) / sizeof(outcomes[0]);
}

const char *rf_status_name(rf_status status)
{
    return known(status) ? outcomes[status].name : "RF_?";
}

const char *rf_status_text(rf_status status)
{
    return known(status) ? outcomes[status].text : "not an outcome";
}

const char *rf_version(void)
{
    return RF_VERSION;
}
