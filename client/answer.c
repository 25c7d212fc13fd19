/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * answer.c - what the scripts' answers say
 *
 * Turns the outcome in a reply into an rf_status.  Knows no connection: the same
 * for those that block and those that don't.
 */
#include "answer.h"

#include <string.h>

int rf__answer_is(const rf__reply *reply, const char *outcome)
{
    return strcmp(rf__reply_text(reply, RF__OUTCOME), outcome) == 0;
}

const char *rf__answer_detail(const rf__reply *reply)
{
    return rf__reply_text(reply, RF__OUTCOME + 1);
}

int rf__answer_number(const rf__reply *reply, size_t i, int64_t least,
                      int64_t *out)
{
    const char *text = rf__reply_text(reply, i);

    return text != NULL && rf__decimal_read(text, least, RF_FENCE_MAX, out);
}

int rf__answer_owner(const rf__reply *reply, size_t i, rf__owner *out)
{
    const char *text = rf__reply_text(reply, i);

    if (text == NULL)
        return 0;
    if (strcmp(text, "ours") == 0)
        *out = RF__OWNER_OURS;
    else if (strcmp(text, "kept") == 0)
        *out = RF__OWNER_KEPT;
    else if (strcmp(text, "foreign") == 0)
        *out = RF__OWNER_FOREIGN;
    else
        return 0;
    return 1;
}

/* Outcomes that several scripts share and that are not success. */
static rf_status failed(rf__grant *grant, const rf__reply *reply,
                        rf__error *error)
{
    if (rf__answer_is(reply, "LOST")) {
        grant->taken = strcmp(rf__answer_detail(reply), "taken") == 0;
        rf__set_error(error, grant->taken ? "another has the lock now"
                                          : "the lock has run out");
        return RF_LOST;
    }
    if (rf__answer_is(reply, "NEEDS_FLOOR")) {
        grant->needs_floor = 1;
        rf__set_error(error, "the fence counter is missing");
        return RF_RETRY;
    }
    if (rf__answer_is(reply, "COUNTER_BAD"))
        rf__set_error(error, "the fence counter is not ours: %.64s",
                      rf__answer_detail(reply));
    else if (rf__answer_is(reply, "LOCK_BAD"))
        rf__set_error(error, "the lock's key is not a lock: %.64s",
                      rf__answer_detail(reply));
    else if (rf__answer_is(reply, "EXHAUSTED"))
        rf__set_error(error, "the fences of this resource are used up");
    else if (rf__answer_is(reply, "ARGUMENT_BAD"))
        rf__set_error(error, "the script refuses its argument %.64s",
                      rf__answer_detail(reply));
    else
        return RF__NONSENSE;
    return RF_MISUSE;
}

rf_status rf__answer_done(rf__grant *grant, const rf__reply *reply,
                          rf__error *error)
{
    return rf__answer_is(reply, "OK") ? RF_OK : failed(grant, reply, error);
}

/* What both scripts that take one lock answer. */
rf_status rf__answer_acquired(rf__grant *grant, const rf__reply *reply,
                              rf__error *error)
{
    int64_t left;

    if (rf__answer_is(reply, "BUSY")) {
        if (!rf__answer_number(reply, RF__OUTCOME + 1, -1, &grant->busy_ms) ||
            !rf__answer_owner(reply, RF__OUTCOME + 2, &grant->busy_by))
            return RF__NONSENSE;
        rf__set_error(error, "held by another");
        return RF_BUSY;
    }
    if (!rf__answer_is(reply, "OK") && !rf__answer_is(reply, "REPLAY"))
        return failed(grant, reply, error);
    if (!rf__answer_number(reply, RF__OUTCOME + 1, grant->shared ? 0 : 1,
                           &grant->fence) ||
        !rf__answer_number(reply, RF__OUTCOME + 2, -1, &left) ||
        (grant->shared && grant->fence != 0))
        return RF__NONSENSE;
    /* -1: somebody has taken its time limit away.  Ours stays, as the longest. */
    if (left >= 0 && left < grant->ttl_ms)
        grant->ttl_ms = left;
    return RF_OK;
}

rf_status rf__answer_reissued(rf__grant *grant, rf_fence floor,
                              const rf__reply *reply, rf__error *error)
{
    int64_t issued;

    if (!rf__answer_is(reply, "OK") && !rf__answer_is(reply, "REPLAY"))
        return failed(grant, reply, error);
    if (!rf__answer_number(reply, RF__OUTCOME + 1, 1, &issued) ||
        issued <= floor || issued <= grant->fence)
        return RF__NONSENSE;
    grant->fence = issued;
    return RF_OK;
}

/*
 * {"inspect", "", tag, state, fence, holder, left_ms, counter, readers,
 * waited_for, counter_left_ms}
 */
int rf__answer_info(const rf__reply *reply, rf_info *info)
{
    const char *holder = rf__reply_text(reply, 6);
    const char *counter = rf__reply_text(reply, 8);
    int64_t readers, waited_for;

    if (rf__reply_count(reply) != 12 ||
        !rf__answer_number(reply, 10, 0, &waited_for) ||
        !rf__answer_number(reply, 11, 0, &info->counter_left_ms))
        return 0;
    info->waited_for = waited_for != 0;
    if (strcmp(counter, "bad") == 0)
        info->counter = -1;
    else if (*counter != '\0' &&
             !rf__answer_number(reply, 8, 1, &info->counter))
        return 0;
    if (!rf__answer_number(reply, 7, -1, &info->left_ms))
        return 0;
    if (rf__answer_is(reply, "free"))
        return 1;
    info->held = 1;
    if (rf__answer_is(reply, "shared")) {
        if (!rf__answer_number(reply, 9, 0, &readers))
            return 0;
        info->readers = (int)readers;
        return 1;
    }
    if (rf__answer_is(reply, "foreign"))
        return 1;
    if (!rf__answer_is(reply, "held") || !rf__holder_valid(holder) ||
        !rf__answer_number(reply, 5, 1, &info->fence))
        return 0;
    memcpy(info->holder, holder, sizeof(info->holder));
    return 1;
}
