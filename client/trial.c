/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * trial.c - may locks be taken here?
 */
#include "trial.h"

#include "internal.h"

#define TTL_MS 5000

static rf_status take_and_give_back(rf__source *source,
                                    const rf__examination *e, rf__grant *grant)
{
    const rf__source_ops *ops = source->ops;
    rf_status status = ops->acquire(source, grant, 0,
                                    rf__now_ms() + e->timeout_ms);

    if (status == RF_OK)
        status = ops->release(source, grant, rf__now_ms() + e->timeout_ms);
    return status;
}

rf_status rf__trial_of_locks(rf__source *source, const rf__examination *e,
                             const char *where, rf__verdict none,
                             rf__trial *out)
{
    static const rf__verdict fine = { RF_FINE, "", "" };
    rf__grant grant = { .ttl_ms = TTL_MS };
    rf_status status = rf_holder_new(out->name);

    out->fence = 0;
    if (status != RF_OK)
        return status;
    grant.resource = grant.holder = out->name;
    status = take_and_give_back(source, e, &grant);
    if (status == RF_NOMEM)
        return status;
    if (status == RF_OK) {
        out->fence = grant.fence;
        rf__verdict_tell(e, where, "permissions", "all that locks need", fine);
    } else {
        rf__verdict_tell(e, where, "permissions", source->error->text, none);
    }
    return RF_OK;
}
