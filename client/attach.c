/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * attach.c - a grant that goes from one process to another
 *
 * A handle belongs to the process that took the lock; the grant itself is a
 * resource, a fence and a holder, and whoever has the three may go on with it.
 */
#include "check.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

static rf_status check_source(rf_client *client)
{
    if (client->source == NULL)
        return rf__misuse(client, "the client is closed");
    if (client->source->ops->goes_with_client)
        return rf__misuse(client, "ZooKeeper ends a lock with the client that "
                                  "took it: it can't be passed on");
    return RF_OK;
}

static rf_status check_grant(rf_client *client, const char *resource,
                             rf_fence fence, const char *holder)
{
    rf_status status = check_source(client);

    if (status == RF_OK)
        status = rf__check_resource(client, resource);
    if (status != RF_OK)
        return status;
    if (fence < 1 || fence > RF_FENCE_MAX)
        return rf__misuse(client, "fence must be the one that was granted");
    if (holder == NULL || !rf__holder_valid(holder))
        return rf__misuse(client, "holder must be 32 lower-case hex digits");
    return RF_OK;
}

/* RF_OK while this grant has the lock, with what is left of it. */
static rf_status look(rf_client *client, const rf_lock *lock, rf_fence fence,
                      rf__grant *grant)
{
    rf_info info;
    rf_status status;

    grant->sent_ms = rf__now_ms();
    status = rf_inspect(client, lock->resource, &info);
    if (status != RF_OK)
        return status;
    if (!info.held || info.fence != fence ||
        strcmp(info.holder, lock->holder) != 0) {
        rf__set_error(&client->error, info.held ? "another has the lock now"
                                                : "nobody has the lock now");
        return RF_LOST;
    }
    grant->fence = fence;
    grant->ttl_ms = info.left_ms;
    /* No lock of ours is without an end: somebody has taken it away. */
    if (info.left_ms < 0 || info.left_ms > RF_TTL_MAX_MS)
        grant->ttl_ms = RF_TTL_MAX_MS;
    if (rf__left_ms(rf__deadline_ms(grant->sent_ms, grant->ttl_ms)) > 0)
        return RF_OK;
    rf__set_error(&client->error, "the lock is past its deadline");
    return RF_LOST;
}

rf_status rf_attach(rf_client *client, const char *resource, rf_fence fence,
                    const char *holder, rf_lock **out)
{
    rf_lock *lock = NULL;
    rf__grant grant = { 0 };
    rf_status status;

    *out = NULL;
    if (client == NULL)
        return RF_MISUSE;
    status = check_grant(client, resource, fence, holder);
    if (status == RF_OK)
        status = rf__lock_new(client, resource, holder, &lock);
    if (status != RF_OK)
        return status;
    status = look(client, lock, fence, &grant);
    if (status != RF_OK) {
        free(lock);
        return status;
    }
    rf__lock_granted(lock, &grant, grant.ttl_ms);
    lock->attached = 1;
    *out = lock;
    return RF_OK;
}

rf_status rf_detach(rf_lock *lock)
{
    rf_status status;

    if (lock == NULL)
        return RF_OK;
    if (rf__check_blocking(lock->client) != RF_OK)
        return RF_MISUSE;
    if (lock->client->source != NULL && check_source(lock->client) != RF_OK)
        return RF_MISUSE;
    if (rf__lock_released_before(lock, &status))
        return RF_OK;
    if (!rf__unkeep(lock))
        return rf__misuse(lock->client, "a lock can't be detached in "
                                        "on_lost()");
    rf__lock_free(lock);
    return RF_OK;
}
