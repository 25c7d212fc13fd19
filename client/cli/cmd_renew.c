/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_renew.c - let a lock live on that acquire took
 */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "exit.h"
#include "output.h"

static int print_left(const cli_call *call, const rf_lock *lock)
{
    char left[CLI_TIME_MAX];
    int64_t left_ms = rf_lock_left_ms(lock);

    if (cli_json(call))
        return cli_print_json(json_pack(
            "{s:s, s:I, s:s, s:I}", "resource", rf_lock_resource(lock), "fence",
            (json_int_t)rf_lock_fence(lock), "holder", rf_lock_holder(lock),
            "left_ms", (json_int_t)left_ms));
    (void)printf("%s: fence %" PRId64 ", %s left\n", rf_lock_resource(lock),
                 rf_lock_fence(lock), cli_time(left, left_ms));
    return 0;
}

static int run(cli_call *call)
{
    rf_lock *lock = NULL;
    int64_t ttl_ms;
    int code = cli_duration(call, OPT_TTL, 30000, &ttl_ms);

    if (code == 0)
        code = cli_grant_attach(call, &lock);
    if (code == 0)
        code = cli_tell(call, rf_lock_resource(lock), rf_renew(lock, ttl_ms));
    if (code == 0)
        code = print_left(call, lock);
    (void)rf_detach(lock);
    return code;
}

static const cli_option_id options[] = { OPT_TTL, OPT_STDIN, CLI_LOCK_OPTIONS,
                                         CLI_ALL_OPTIONS };

const cli_command cli_renew = {
    .name = "renew",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "let a lock live on",
    .text = "Lets the lock of the grant in RINGFENCE_RESOURCE, RINGFENCE_FENCE "
            "and RINGFENCE_HOLDER live for --ttl from now, if it is still "
            "that grant's. A lock that is gone is not taken again: 103.",
    .example = "eval \"$(ringfence acquire job:nightly)\"\n"
               "ringfence renew --ttl 10m || exit",
    .options = options,
    .run = run,
};
