/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * open.c - opening and closing a client
 *
 * Knows which source belongs to which URL, and nothing of what sources do.
 */
#include <string.h>

#include "client.h"
#include "keeper.h"
#include "tls.h"
#include "topology.h"

rf_status rf_open(const char *url, const rf_options *opts, rf_client **out)
{
    static const rf_options defaults = RF_OPTIONS_INIT;
    rf_client *client;
    rf__service where; /* 20 kB: the parser clears what it has to */
    rf_status status;

    *out = NULL;
    if (opts == NULL)
        opts = &defaults;
    if (url == NULL) {
        rf__set_error(rf__open_error(), "URL of the lock service: it is NULL");
        return RF_MISUSE;
    }
    status = rf__service_parse(url, &where, rf__open_error());
    if (status == RF_OK)
        status = rf__topology_check(&where, opts, rf__open_error());
    if (status == RF_OK)
        status = rf__tls_open(&where, rf__open_error());
    if (status == RF_OK)
        status = rf__client_new(opts, &client);
    if (status != RF_OK)
        goto cleanup;
    client->source = rf__topology_source(&where, opts, &client->error);
    if (client->source != NULL) {
        *out = client;
    } else {
        rf__client_free(client);
        rf__set_error(rf__open_error(), "out of memory");
        status = RF_NOMEM;
    }

cleanup:
    rf__tls_drop(where.data.tls);
    explicit_bzero(&where, sizeof(where));
    return status;
}

void rf_close(rf_client *client)
{
    rf__source *source;

    if (client == NULL || client->source == NULL)
        return;
    rf__keeper_free(client->keeper);
    client->keeper = NULL;
    /* No more is asked of it, not even by who is called back meanwhile. */
    source = client->source;
    client->source = NULL;
    source->ops->close(source);
    rf__client_free(client);
}
