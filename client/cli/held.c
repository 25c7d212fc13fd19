/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * held.c - the locks that are held, in the order of their names
 */
#include "held.h"

#include <ringfence_pg.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "exit.h"

static int collect(const char *resource, const rf_info *info, void *arg)
{
    cli_held *held = arg;
    cli_lock *grown = realloc(held->lock, (held->n + 1) * sizeof(*held->lock));

    if (grown == NULL)
        return 1;
    held->lock = grown;
    memcpy(grown[held->n].resource, resource, strlen(resource) + 1);
    grown[held->n].info = *info;
    held->n++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cli_lock *)a)->resource,
                  ((const cli_lock *)b)->resource);
}

/* A scan may show one twice. */
static void drop_doubles(cli_held *held)
{
    size_t kept = 0;

    for (size_t i = 0; i < held->n; i++) {
        if (kept > 0 &&
            strcmp(held->lock[kept - 1].resource, held->lock[i].resource) == 0)
            continue;
        held->lock[kept++] = held->lock[i];
    }
    held->n = kept;
}

rf_status cli_held_ask(cli_call *call, cli_held *out)
{
    rf_status status = rf_list(call->client, collect, out);

    if (status != RF_OK)
        return status;
    if (out->n > 0)
        qsort(out->lock, out->n, sizeof(*out->lock), by_name);
    drop_doubles(out);
    return RF_OK;
}

int cli_held_fail(cli_call *call, rf_status status)
{
    return cli_fail(status, "%s; %s%s", rf_message(call->client),
                    rf_status_text(status),
                    cli_remedy(rf_pg_sqlstate(call->client)));
}

int cli_held_read(cli_call *call, cli_held *out)
{
    rf_status status = cli_held_ask(call, out);

    return status == RF_OK ? 0 : cli_held_fail(call, status);
}

void cli_held_free(cli_held *held)
{
    free(held->lock);
    held->lock = NULL;
    held->n = 0;
}
