/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_acquire.c - take a lock and print its grant, for shell scripts
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "exit.h"
#include "output.h"

/* In quotes that a shell takes away again, whatever is between them. */
static void print_quoted(const char *text)
{
    (void)putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else
            (void)putchar(*text);
    }
    (void)putchar('\'');
}

static int print_grant(const cli_call *call, const rf_lock *lock)
{
    if (cli_json(call))
        return cli_print_json(json_pack(
            "{s:s, s:I, s:s, s:I}", "resource", rf_lock_resource(lock), "fence",
            (json_int_t)rf_lock_fence(lock), "holder", rf_lock_holder(lock),
            "left_ms", (json_int_t)rf_lock_left_ms(lock)));
    (void)fputs("export RINGFENCE_RESOURCE=", stdout);
    print_quoted(rf_lock_resource(lock));
    (void)printf("\nexport RINGFENCE_FENCE=%" PRId64 "\n"
                 "export RINGFENCE_HOLDER=%s\n",
                 rf_lock_fence(lock), rf_lock_holder(lock));
    return 0;
}

/* What ends with this process is no grant for the next one. */
static int check_can_be_passed_on(cli_call *call)
{
    int code = cli_open(call);

    if (code != 0 || strncmp(call->settings.url, "zookeeper://", 12) != 0)
        return code;
    return cli_fail(RF_MISUSE, "a lock of ZooKeeper ends with the process that "
                               "took it: use \"ringfence run\"");
}

static int run(cli_call *call)
{
    rf_lock *lock = NULL;
    int code = check_can_be_passed_on(call);

    if (code == 0)
        code = cli_take(call, call->operand[0], &lock);
    if (code == 0)
        code = print_grant(call, lock);
    if (code == 0)
        code = cli_output_end(0);
    /* A grant that nobody got to know would only be in the way of others. */
    if (code != 0)
        (void)rf_release(lock);
    else
        (void)rf_detach(lock);
    return code;
}

static const cli_option_id options[] = { OPT_TTL, OPT_WAIT, CLI_PG_OPTIONS,
                                         CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_acquire = {
    .name = "acquire",
    .operands = "RESOURCE",
    .least = 1,
    .most = 1,
    .summary = "take a lock, print its grant",
    .text = "Takes the lock, claims it when a database is set, and prints its "
            "resource, fence and holder as lines for a shell to evaluate. "
            "Nobody renews it: it lives for --ttl, until \"ringfence renew\" "
            "or \"ringfence release\". Where one command does the work, "
            "\"ringfence run\" is simpler and safer.",
    .example = "eval \"$(ringfence acquire job:nightly --ttl 5m)\"\n"
               "ringfence renew --ttl 5m\n"
               "ringfence release",
    .options = options,
    .run = run,
};
