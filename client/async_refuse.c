/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_refuse.c - calls that block, on a client that must not
 *
 * It is a client like any other, so it can be handed to them; each ends here.
 */
#include "async.h"

#include "check.h"

static rf_status refuse(rf__source *s)
{
    return rf__check_blocking(((rf__async *)s)->client);
}

static rf_status acquire(rf__source *s, rf__grant *grant, rf_fence floor,
                         int64_t deadline_ms)
{
    (void)grant, (void)floor, (void)deadline_ms;
    return refuse(s);
}

static rf_status acquire_all(rf__source *s, rf__grants *grants, rf_fence floor,
                             int64_t deadline_ms)
{
    (void)grants, (void)floor, (void)deadline_ms;
    return refuse(s);
}

/* Renew and release. */
static rf_status step(rf__source *s, rf__grant *grant, int64_t deadline_ms)
{
    (void)grant, (void)deadline_ms;
    return refuse(s);
}

static rf_status inspect(rf__source *s, const char *resource, rf_info *info,
                         int64_t deadline_ms)
{
    (void)resource, (void)info, (void)deadline_ms;
    return refuse(s);
}

static rf_status force_release(rf__source *s, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    (void)resource, (void)fence, (void)reason, (void)deadline_ms;
    return refuse(s);
}

static rf_status list(rf__source *s, rf__page *page, int64_t deadline_ms)
{
    (void)page, (void)deadline_ms;
    return refuse(s);
}

/* The others are never reached without one of these. */
const rf__source_ops rf__refusing_ops = {
    .acquire = acquire,
    .acquire_all = acquire_all,
    .renew = step,
    .release = step,
    .reissue = acquire,
    .inspect = inspect,
    .force_release = force_release,
    .list = list,
};
