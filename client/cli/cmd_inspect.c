/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_inspect.c - look at one resource
 */
#include <inttypes.h>

#include "command.h"
#include "exit.h"
#include "info.h"

static void line(const char *name, const char *value)
{
    (void)printf("%s%-10s%s %s\n", cli_colour_on(CLI_BOLD), name,
                 cli_colour_off(CLI_BOLD), value);
}

static void number(const char *name, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    line(name, text);
}

/* What somebody who looks would ask next. */
static const char *advice(const rf_info *info)
{
    if (info->counter < 0)
        return "the counter is no counter of ours: no lock is granted; delete "
               "its key, then \"ringfence heal\"";
    if (info->held && info->left_ms < 0 && info->fence == 0)
        return "another program's lock, and without an end: if that program "
               "is gone, delete the key in Redis";
    if (info->held && info->left_ms < 0)
        return "somebody took its end away: \"ringfence force-release\"";
    if (info->held && info->fence == 0 && info->readers == 0)
        return "another program's lock: it has no fence";
    return NULL;
}

static void show(const char *resource, const rf_info *info)
{
    char left[CLI_TIME_MAX];

    line("resource", resource);
    line("state", cli_info_state(info));
    if (info->fence > 0) {
        number("fence", info->fence);
        line("holder", info->holder);
    }
    if (info->readers > 0)
        number("readers", info->readers);
    if (info->held)
        line("left", cli_time(left, info->left_ms));
    if (info->counter > 0)
        number("counter", info->counter);
    else
        line("counter", info->counter < 0 ? "bad" : "none");
    line("waited for", info->waited_for ? "yes" : "no");
    if (advice(info) != NULL)
        line("note", advice(info));
}

static int run(cli_call *call)
{
    const char *resource = call->operand[0];
    rf_info info;
    int code = cli_open(call);

    if (code == 0)
        code = cli_tell(call, resource,
                        rf_inspect(call->client, resource, &info));
    if (code != 0)
        return code;
    if (cli_json(call))
        return cli_print_json(cli_info_json(resource, &info));
    show(resource, &info);
    return 0;
}

static const cli_option_id options[] = { CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_inspect = {
    .name = "inspect",
    .operands = "RESOURCE",
    .least = 1,
    .most = 1,
    .summary = "look at one resource",
    .text = "Shows who has the lock, with which fence, for how long, what the "
            "counter has come to, and whether somebody has asked to wait. "
            "Changes nothing. A state \"foreign\" is a lock of another "
            "program, which has no fence.",
    .example = "ringfence inspect job:nightly",
    .options = options,
    .run = run,
};
