/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * release.c - giving a lock back
 *
 * The one step that has to be kept apart from the keeper's: it comes after the
 * last renewal, or not at all.
 */
#include "check.h"
#include "lock.h"

/*
 * Sent again when the answer was lost.  A lock that is then no longer there
 * was given back by the first request, or had been lost before it.
 */
static rf_status give_back(rf_lock *lock)
{
    rf_client *client = lock->client;
    rf__source *source = client->source;
    rf__grant grant = rf__grant_of(lock);
    int64_t until_ms = rf__now_ms() + client->timeout_ms;
    rf_status status = source->ops->release(source, &grant, until_ms);

    if (status != RF_UNKNOWN || rf__left_ms(until_ms) == 0)
        return status;
    status = source->ops->release(source, &grant, until_ms);
    if (status == RF_LOST)
        rf__set_error(&client->error, "no longer ours, but whether this "
                                      "release ended it can't be told");
    return status == RF_OK ? RF_OK : RF_UNKNOWN;
}

rf_status rf_release(rf_lock *lock)
{
    int64_t begin_us = rf__now_us();
    rf_status status;

    if (lock == NULL)
        return RF_OK;
    if (rf__check_blocking(lock->client) != RF_OK)
        return RF_MISUSE;
    if (rf__lock_released_before(lock, &status))
        return status;
    /* First of all: a lock that was given back must never be renewed again. */
    if (!rf__unkeep(lock))
        return rf__misuse(lock->client, "a lock can't be released in "
                                        "on_lost()");
    status = rf__lock_check_release(lock);
    if (status == RF_OK)
        status = give_back(lock);
    rf__lock_note_call(lock, RF_CALL_RELEASE, status, begin_us);
    rf__lock_free(lock);
    return status;
}
