/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * grant.c - taking a lock, and going on with one that was taken before
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <ringfence_pg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "database.h"
#include "exit.h"

/* ---- Taking ----------------------------------------------------------- */

static int busy(cli_call *call, const char *resource, rf_status status)
{
    int64_t left_ms = rf_busy_ms(call->client);

    if (left_ms < 0)
        return cli_fail(status,
                        "%s is held by a lock that never runs out; look with "
                        "\"ringfence inspect\", and take away what was "
                        "forgotten",
                        resource);
    return cli_fail(status,
                    "%s is held by another for up to %" PRId64 ".%" PRId64
                    " s; wait with --wait, or come again",
                    resource, left_ms / 1000, left_ms % 1000 / 100);
}

int cli_tell(cli_call *call, const char *resource, rf_status status)
{
    const char *message = rf_message(call->client);

    if (status == RF_OK)
        return CLI_DONE;
    if (status == RF_BUSY || status == RF_TIMEOUT)
        return busy(call, resource, status);
    return cli_fail(status, "%s: %s%s%s%s", resource, message,
                    *message != '\0' ? "; " : "", rf_status_text(status),
                    cli_remedy(rf_pg_sqlstate(call->client)));
}

static int read_options(cli_call *call, rf_acquire_options *out)
{
    int code = cli_duration(call, OPT_TTL, 30000, &out->ttl_ms);

    if (code == 0)
        code = cli_duration(call, OPT_WAIT, 0, &out->wait_ms);
    out->shared = call->value[OPT_SHARED] != NULL;
    return code;
}

int cli_take(cli_call *call, const char *resource, rf_lock **out)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_status status;
    int code = read_options(call, &opts);

    if (code == 0)
        code = cli_open(call);
    if (code != 0)
        return code;
    /* Who only reads has nothing to claim with. */
    if (call->settings.pg == NULL || opts.shared) {
        status = rf_acquire(call->client, resource, &opts, out);
        return cli_tell(call, resource, status);
    }
    code = cli_connect(call);
    if (code != 0)
        return code;
    status = rf_pg_acquire(call->client, call->conn, resource, &opts, out);
    return cli_tell(call, resource, status);
}

/* ---- Going on --------------------------------------------------------- */

static int incomplete(const char *where)
{
    return cli_fail(RF_MISUSE,
                    "%s is no grant: resource, fence and holder, as "
                    "\"ringfence acquire\" prints them",
                    where);
}

/* 0 when it does not fit. */
static int copy(char *out, size_t size, const char *text)
{
    size_t len = text != NULL ? strlen(text) : size;

    if (len >= size)
        return 0;
    memcpy(out, text, len + 1);
    return 1;
}

static int read_environment(cli_grant *out)
{
    const char *fence = getenv("RINGFENCE_FENCE");
    char *end;

    if (fence == NULL)
        return cli_fail(RF_MISUSE, "no grant: RINGFENCE_RESOURCE, "
                                   "RINGFENCE_FENCE and RINGFENCE_HOLDER are "
                                   "not set; \"ringfence acquire\" prints "
                                   "them, and --stdin reads JSON");
    errno = 0;
    out->fence = strtoll(fence, &end, 10);
    if (errno != 0 || end == fence || *end != '\0' ||
        !copy(out->resource, sizeof(out->resource),
              getenv("RINGFENCE_RESOURCE")) ||
        !copy(out->holder, sizeof(out->holder), getenv("RINGFENCE_HOLDER")))
        return incomplete("the environment");
    return 0;
}

static int read_stdin(cli_grant *out)
{
    json_error_t error;
    json_t *grant = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
    json_int_t fence = 0;
    const char *resource = NULL, *holder = NULL;
    int fine = grant != NULL &&
               json_unpack(grant, "{s:s, s:I, s:s}", "resource", &resource,
                           "fence", &fence, "holder", &holder) == 0 &&
               copy(out->resource, sizeof(out->resource), resource) &&
               copy(out->holder, sizeof(out->holder), holder);

    out->fence = fence;
    json_decref(grant);
    return fine ? 0 : incomplete("standard input");
}

int cli_grant_read(cli_call *call, cli_grant *out)
{
    return call->value[OPT_STDIN] != NULL ? read_stdin(out)
                                          : read_environment(out);
}

int cli_grant_attach(cli_call *call, rf_lock **out)
{
    cli_grant grant;
    int code = cli_grant_read(call, &grant);

    if (code == 0)
        code = cli_open(call);
    if (code != 0)
        return code;
    return cli_tell(call, grant.resource,
                    rf_attach(call->client, grant.resource, grant.fence,
                              grant.holder, out));
}
