/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keep.c - locks that are renewed until they are released
 *
 * The calls that hand a lock to its client's keeper and take it away again.
 */
#include "check.h"
#include "keeper.h"
#include "lock.h"

#include <stdlib.h>

rf_status rf_keep(rf_lock *lock, const rf_keep_options *opts)
{
    static const rf_keep_options defaults = RF_KEEP_INIT;
    rf_client *client = lock->client;
    rf_status status = rf__lock_check(lock);

    if (opts == NULL)
        opts = &defaults;
    if (status == RF_OK)
        status = rf__check_blocking(client);
    if (status == RF_OK)
        status = rf__check_keep(client, opts);
    if (status != RF_OK)
        return status;
    if (lock->kept != NULL)
        return rf__misuse(client, "the lock is being kept already");

    status = RF_NOMEM;
    if (client->keeper == NULL)
        client->keeper = rf__keeper_new(client);
    if (client->keeper != NULL)
        lock->kept = rf__kept_new(lock, opts);
    if (lock->kept != NULL)
        status = rf__keeper_add(client->keeper, lock->kept);
    if (status == RF_OK)
        return RF_OK;
    free(lock->kept);
    lock->kept = NULL;
    rf__set_error(&client->error, status == RF_NOMEM
                                      ? "out of memory"
                                      : "the system gives no thread");
    return status;
}

int rf__may_unkeep(const rf_lock *lock)
{
    return lock->kept == NULL || lock->client->keeper == NULL ||
           !rf__keeper_calls(lock->client->keeper);
}

int rf__unkeep(rf_lock *lock)
{
    if (lock->kept == NULL)
        return 1;
    if (lock->client->keeper != NULL &&
        !rf__keeper_remove(lock->client->keeper, lock->kept))
        return 0;
    free(lock->kept);
    lock->kept = NULL;
    return 1;
}
