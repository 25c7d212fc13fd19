/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * admin.c - for people: who has what, and taking it away
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static int64_t limit_ms(const rf_client *client)
{
    return rf__now_ms() + client->timeout_ms;
}

static rf_status check_client(rf_client *client)
{
    if (client == NULL)
        return RF_MISUSE;
    if (client->source == NULL)
        return rf__misuse(client, "the client is closed");
    return RF_OK;
}

rf_status rf_inspect(rf_client *client, const char *resource, rf_info *out)
{
    rf_status status = check_client(client);

    memset(out, 0, sizeof(*out));
    if (status == RF_OK)
        status = rf__check_resource(client, resource);
    if (status != RF_OK)
        return status;
    status = client->source->ops->inspect(client->source, resource, out,
                                          limit_ms(client));
    if (status != RF_OK)
        memset(out, 0, sizeof(*out));
    return status;
}

rf_status rf_force_release(rf_client *client, const char *resource,
                           rf_fence fence, const char *reason)
{
    rf_status status = check_client(client);

    if (status == RF_OK)
        status = rf__check_resource(client, resource);
    if (status != RF_OK)
        return status;
    if (fence < 1 || fence > RF_FENCE_MAX)
        return rf__misuse(client, "fence must be the one that the holder has");
    /* It goes to a log: the rules for names keep it on one line there. */
    if (rf__check_resource(client, reason) != RF_OK)
        return rf__misuse(client, "the reason must be 1 to 255 bytes of "
                                  "valid UTF-8 without control characters");
    return client->source->ops->force_release(client->source, resource, fence,
                                              reason, limit_ms(client));
}

/* *more: whether to go on. */
static rf_status show_page(rf_client *client, const rf__page *page,
                           rf_visit visit, void *arg, int *more)
{
    const char *name = page->names;

    for (size_t i = 0; i < page->n && *more; i++) {
        rf_info info;
        rf_status status = rf_inspect(client, name, &info);

        /* A key that no lock of ours can have: a foreign program's. */
        if (status == RF_MISUSE && rf__check_resource(client, name) != RF_OK)
            status = RF_OK;
        else if (status == RF_OK && info.held)
            *more = visit(name, &info, arg) == 0;
        if (status != RF_OK)
            return status;
        name += strlen(name) + 1;
    }
    return RF_OK;
}

rf_status rf_list(rf_client *client, rf_visit visit, void *arg)
{
    rf__page page = { .cursor = "0" };
    rf_status status = check_client(client);
    int more = 1;

    while (status == RF_OK && more) {
        /* A source that fails early sets nothing. */
        page.names = NULL;
        page.n = 0;
        status = client->source->ops->list(client->source, &page,
                                           limit_ms(client));
        if (status == RF_OK)
            status = show_page(client, &page, visit, arg, &more);
        free(page.names);
        more = more && strcmp(page.cursor, "0") != 0;
    }
    return status;
}

rf_status rf_examine(rf_client *client, rf_on_finding on_finding, void *arg)
{
    rf__examination e = { .on_finding = on_finding, .arg = arg, .probe = 1 };
    rf_status status = check_client(client);

    if (status != RF_OK)
        return status;
    if (on_finding == NULL)
        return rf__misuse(client, "on_finding is NULL");
    if (client->source->ops->examine == NULL)
        return RF_OK;
    e.timeout_ms = client->timeout_ms;
    return client->source->ops->examine(client->source, &e);
}

int rf_can_raise(const rf_client *client)
{
    return client != NULL && client->source != NULL &&
           !client->source->ops->is_fixed;
}
