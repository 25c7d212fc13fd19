/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_release.c - give a lock back that acquire took
 */
#include "command.h"
#include "exit.h"
#include "output.h"

static int run(cli_call *call)
{
    rf_lock *lock = NULL;
    cli_grant grant;
    rf_status status;
    int code = cli_grant_read(call, &grant);

    if (code == 0)
        code = cli_open(call);
    if (code != 0)
        return code;
    status = rf_attach(call->client, grant.resource, grant.fence, grant.holder,
                       &lock);
    if (status == RF_OK)
        status = rf_release(lock);
    code = cli_tell(call, grant.resource, status);
    if (code == 0 && cli_json(call))
        code = cli_print_json(
            json_pack("{s:s, s:I, s:b}", "resource", grant.resource, "fence",
                      (json_int_t)grant.fence, "released", 1));
    return code;
}

static const cli_option_id options[] = { OPT_STDIN, CLI_LOCK_OPTIONS,
                                         CLI_ALL_OPTIONS };

const cli_command cli_release = {
    .name = "release",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "give a lock back",
    .text = "Gives the lock of the grant in RINGFENCE_RESOURCE, "
            "RINGFENCE_FENCE and RINGFENCE_HOLDER back, if it is still that "
            "grant's, and wakes the one who waits longest.",
    .example = "ringfence acquire job:nightly --json >grant\n"
               "ringfence release --stdin <grant",
    .options = options,
    .run = run,
};
