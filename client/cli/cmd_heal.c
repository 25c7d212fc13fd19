/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_heal.c - raise counters that are below what the database has accepted
 *
 * By taking each lock for a moment with the database's fence as its floor: the
 * one way to raise a counter that every lock service has which can be raised.
 * Of the others it works out the base that their URL needs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "database.h"
#include "exit.h"
#include "output.h"

/* Long enough to be given back, short enough if that is lost. */
#define TTL_MS 5000

/* One answer after the other, whatever the size of the registry. */
#define PAGE "1000"

typedef struct healing {
    cli_call *call;
    int dry;   /* nothing is to be raised, or can be  */
    int fixed; /* it can't                            */
    int64_t wait_ms;
    int64_t seen, raised, left; /* left: below, and not raised  */
    rf_fence base;              /* the greatest fence of those   */
    json_t *json;               /* of what was below; or NULL   */
} healing;

static void tell(healing *h, const char *resource, int64_t counter,
                 rf_fence floor, const char *what)
{
    if (h->json != NULL)
        (void)json_array_append_new(
            h->json, json_pack("{s:s, s:I, s:I, s:s}", "resource", resource,
                               "counter", (json_int_t)counter, "database",
                               (json_int_t)floor, "outcome", what));
    else if (counter < 0)
        (void)printf("%s: bad counter, database %" PRId64 ": %s\n", resource,
                     floor, what);
    else
        (void)printf("%s: counter %" PRId64 ", database %" PRId64 ": %s\n",
                     resource, counter, floor, what);
}

/* Raise one counter.  What came of it, in words. */
static const char *raise_above(healing *h, const char *resource, rf_fence floor)
{
    rf_acquire_options opts = RF_ACQUIRE_INIT;
    rf_lock *lock;
    rf_status status;

    opts.ttl_ms = TTL_MS;
    opts.wait_ms = h->wait_ms;
    opts.floor = floor;
    status = rf_acquire(h->call->client, resource, &opts, &lock);
    if (status == RF_OK) {
        (void)rf_release(lock);
        h->raised++;
        return "raised";
    }
    h->left++;
    if (status == RF_BUSY || status == RF_TIMEOUT)
        return "held: its holder will be refused; heal again when it is free, "
               "or with --wait";
    return rf_message(h->call->client);
}

/* 0, or the exit code when nothing more can be asked. */
static int look_at(healing *h, const char *resource, rf_fence floor)
{
    rf_info info;
    rf_status status = rf_inspect(h->call->client, resource, &info);
    const char *what = "below";

    if (status != RF_OK)
        return cli_tell(h->call, resource, status);
    h->seen++;
    if (info.counter >= floor)
        return 0;
    if (info.counter < 0) {
        h->left++;
        what = "no counter of ours: delete its key, then heal again";
    } else if (h->dry) {
        h->left++;
        if (floor > h->base)
            h->base = floor;
    } else {
        what = raise_above(h, resource, floor);
    }
    tell(h, resource, info.counter, floor, what);
    return 0;
}

static int look_at_rows(healing *h, PGresult *rows)
{
    int code = 0;

    for (int row = 0; row < PQntuples(rows) && code == 0; row++)
        code = look_at(h, PQgetvalue(rows, row, 0),
                       strtoll(PQgetvalue(rows, row, 1), NULL, 10));
    return code;
}

static int heal_all(healing *h)
{
    char *after = NULL;
    int code = 0, rows;

    do {
        const char *value = after != NULL ? after : "";
        PGresult *page = cli_ask(
            h->call,
            "SELECT resource, fence FROM ringfence.registry WHERE "
            "resource > $1 ORDER BY resource LIMIT " PAGE,
            1, &value, &code);

        if (page == NULL)
            break;
        rows = PQntuples(page);
        code = look_at_rows(h, page);
        free(after);
        after = rows > 0 ? strdup(PQgetvalue(page, rows - 1, 0)) : NULL;
        PQclear(page);
    } while (code == 0 && after != NULL);
    free(after);
    return code;
}

static int heal_named(healing *h)
{
    int code = 0;

    for (int i = 0; i < h->call->operands && code == 0; i++) {
        const char *resource = h->call->operand[i];
        PGresult *row = cli_ask(h->call,
                                "SELECT $1::text, ringfence.high_water($1)", 1,
                                &resource, &code);

        if (row != NULL)
            code = look_at_rows(h, row);
        PQclear(row);
    }
    return code;
}

/* A name that nobody has used stands for every one that was retired. */
static int look_at_retired(healing *h)
{
    char unused[RF_HOLDER_LEN + 1];
    const char *value = unused;
    int code = 0;
    PGresult *row;

    if (rf_holder_new(unused) != RF_OK)
        return cli_fail(RF_RETRY, "the system has no random bytes to give");
    row = cli_ask(h->call, "SELECT ringfence.high_water($1)", 1, &value, &code);
    if (row != NULL)
        code = look_at(h, "what was retired",
                       strtoll(PQgetvalue(row, 0, 0), NULL, 10));
    PQclear(row);
    return code;
}

static int heal(healing *h)
{
    int code;

    if (h->call->operands > 0)
        return heal_named(h);
    code = heal_all(h);
    return code == 0 && h->fixed ? look_at_retired(h) : code;
}

static void tell_base(const healing *h)
{
    if (!h->fixed || h->left == 0)
        return;
    (void)printf("The numbers of this lock service can't be raised. Stop every "
                 "client of it, put\n"
                 "    base=%" PRId64 "\n"
                 "into the URL of each (...?base=%" PRId64
                 "), and start them again.\n",
                 h->base, h->base);
}

static int end(healing *h, int code)
{
    if (code != 0) {
        json_decref(h->json);
        return code;
    }
    if (h->json != NULL)
        (void)cli_print_json(json_pack(
            "{s:I, s:I, s:I, s:o, s:o}", "seen", (json_int_t)h->seen, "raised",
            (json_int_t)h->raised, "left", (json_int_t)h->left, "base",
            h->fixed && h->left > 0 ? json_integer((json_int_t)h->base)
                                    : json_null(),
            "below", h->json));
    else
        (void)printf("%" PRId64 " looked at, %" PRId64 " raised, %" PRId64
                     " still below\n",
                     h->seen, h->raised, h->left);
    if (h->json == NULL)
        tell_base(h);
    return h->left > 0 ? CLI_NO : CLI_DONE;
}

static int run(cli_call *call)
{
    healing h = { .call = call, .dry = call->value[OPT_DRY_RUN] != NULL };
    int code = cli_duration(call, OPT_WAIT, 0, &h.wait_ms);

    if (code == 0)
        code = cli_open(call);
    if (code == 0)
        code = cli_connect(call);
    if (code != 0)
        return code;
    h.fixed = !rf_can_raise(call->client);
    h.dry |= h.fixed;
    if (cli_json(call))
        h.json = json_array();
    return end(&h, heal(&h));
}

static const cli_option_id options[] = { OPT_DRY_RUN, OPT_WAIT, OPT_PG,
                                         CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_heal = {
    .name = "heal",
    .operands = "[RESOURCE...]",
    .least = 0,
    .most = -1,
    .summary = "raise counters above the database's fences",
    .text =
        "After the lock service has lost its memory its counters are below "
        "what the database has accepted. rf_pg_acquire() and \"ringfence "
        "run\" raise them one by one, as they meet them; other clients "
        "are refused until their counter has caught up. This raises all "
        "of them at once: those of every resource in the registry, or of "
        "those that are named. Each lock is taken for a moment. Where numbers "
        "can't be raised (etcd, ZooKeeper), nothing is changed: it tells the "
        "base=n that the URL needs. 1 when one could not be raised, or with "
        "--dry-run when one is below.",
    .example = "ringfence heal --dry-run\nringfence heal",
    .options = options,
    .run = run,
};
