/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * check.c - everything that comes from outside, before anything is sent
 *
 * One clear text for each mistake; RF_MISUSE throughout.
 */
#include "check.h"

#include <string.h>

rf_status rf__misuse(rf_client *client, const char *what)
{
    rf__set_error(&client->error, "%s", what);
    return RF_MISUSE;
}

rf_status rf__check_blocking(rf_client *client)
{
    if (!client->looped)
        return RF_OK;
    return rf__misuse(client, "an event loop drives this client: use the calls "
                              "of ringfence_async.h");
}

/* Length of the UTF-8 sequence at s, 0 when it is none. */
static size_t sequence_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, and what is above U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static int is_control(const unsigned char *s)
{
    return s[0] < ' ' || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

rf_status rf__check_resource(rf_client *client, const char *resource)
{
    const unsigned char *s = (const unsigned char *)resource;
    size_t at = 0;

    if (s == NULL || s[0] == '\0')
        return rf__misuse(client, "the resource has no name");
    while (s[at] != '\0') {
        size_t n = sequence_length(s + at);

        if (n == 0)
            return rf__misuse(client, "the resource's name is not valid UTF-8");
        if (is_control(s + at))
            return rf__misuse(client, "the resource's name has a control "
                                      "character");
        at += n;
        if (at > RF_RESOURCE_MAX)
            return rf__misuse(client, "the resource's name is longer than 255 "
                                      "bytes");
    }
    return RF_OK;
}

rf_status rf__check_ttl(rf_client *client, int64_t ttl_ms)
{
    if (ttl_ms < 1 || ttl_ms > RF_TTL_MAX_MS)
        return rf__misuse(client,
                          "ttl_ms must be from 1 to 86400000 (24 hours)");
    return RF_OK;
}

rf_status rf__check_floor(rf_client *client, rf_fence floor)
{
    if (floor < 0 || floor > RF_FENCE_MAX)
        return rf__misuse(client, "floor must be from 0 to 2^53-1");
    return RF_OK;
}

rf_status rf__check_acquire(rf_client *client, const char *resource,
                            const rf_acquire_options *opts)
{
    rf_status status;

    if (client->source == NULL)
        return rf__misuse(client, "the client is closed");
    status = rf__check_resource(client, resource);
    if (status == RF_OK)
        status = rf__check_ttl(client, opts->ttl_ms);
    if (status == RF_OK)
        status = rf__check_floor(client, opts->floor);
    if (status != RF_OK)
        return status;
    if (opts->wait_ms < 0 || opts->wait_ms > RF_TTL_MAX_MS)
        return rf__misuse(client,
                          "wait_ms must be from 0 to 86400000 (24 hours)");
    if (opts->holder != NULL && !rf__holder_valid(opts->holder))
        return rf__misuse(client, "holder must be 32 lower-case hex digits");
    if (client->counters_go && opts->ask_floor == NULL && !opts->shared)
        return rf__misuse(client, "with counter_idle_ms every lock needs "
                                  "ask_floor: its counter may be gone");
    return RF_OK;
}

rf_status rf__check_keep(rf_client *client, const rf_keep_options *opts)
{
    if (opts->ttl_ms != 0 && rf__check_ttl(client, opts->ttl_ms) != RF_OK)
        return RF_MISUSE;
    if (opts->hold_max_ms < 0)
        return rf__misuse(client, "hold_max_ms must not be negative");
    return RF_OK;
}
