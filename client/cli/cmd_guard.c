/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_guard.c - ask the database whether a grant is the newest
 */
#include <inttypes.h>

#include "command.h"
#include "database.h"
#include "exit.h"
#include "output.h"

static int ask(cli_call *call, const cli_grant *grant)
{
    char fence[24];
    const char *values[] = { grant->resource, fence, grant->holder };
    PGresult *answer;
    int code;

    (void)snprintf(fence, sizeof(fence), "%" PRId64, grant->fence);
    answer = cli_ask(call, "SELECT ringfence.guard($1, $2, $3)", 3, values,
                     &code);
    PQclear(answer);
    return code;
}

static int run(cli_call *call)
{
    cli_grant grant;
    int code = cli_grant_read(call, &grant);

    if (code == 0)
        code = cli_settings_read(call);
    if (code == 0)
        code = cli_connect(call);
    if (code == 0)
        code = ask(call, &grant);
    if (code != 0)
        return code;
    if (cli_json(call))
        return cli_print_json(
            json_pack("{s:s, s:I, s:b}", "resource", grant.resource, "fence",
                      (json_int_t)grant.fence, "accepted", 1));
    (void)printf("%s: fence %" PRId64 " is the newest\n", grant.resource,
                 grant.fence);
    return 0;
}

static const cli_option_id options[] = { OPT_STDIN, OPT_PG, OPT_CONFIG,
                                         CLI_ALL_OPTIONS };

const cli_command cli_guard = {
    .name = "guard",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "ask the database about a grant",
    .text = "Shows the grant in RINGFENCE_RESOURCE, RINGFENCE_FENCE and "
            "RINGFENCE_HOLDER to ringfence.guard(): 0 when it is the newest "
            "or newer, and from then on every older one is refused; 104 when "
            "the database knows a newer one; 105 when it knows this number "
            "from another holder. The answer is about this moment. What is "
            "written later has to show its grant again, in its own "
            "transaction.",
    .example = "ringfence run job:nightly -- sh -c 'ringfence guard && echo "
               "go on'",
    .options = options,
    .run = run,
};
