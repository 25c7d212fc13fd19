/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_force_release.c - take a lock away from whoever has it
 */
#include <inttypes.h>

#include "command.h"
#include "exit.h"
#include "output.h"

static int say(const cli_call *call, rf_fence fence)
{
    const char *resource = call->operand[0];

    if (cli_json(call))
        return cli_print_json(json_pack("{s:s, s:I, s:b}", "resource", resource,
                                        "fence", (json_int_t)fence, "released",
                                        1));
    (void)printf("%s: taken away from the holder of fence %" PRId64 "\n",
                 resource, fence);
    return 0;
}

static int run(cli_call *call)
{
    const char *resource = call->operand[0];
    const char *reason = call->value[OPT_REASON];
    rf_fence fence;
    rf_status status;
    int code;

    if (call->value[OPT_FENCE] == NULL || reason == NULL)
        return cli_fail(RF_MISUSE,
                        "force-release wants --fence, so that it can't hit a "
                        "later holder, and --reason; \"ringfence inspect\" "
                        "shows the fence");
    code = cli_number(call, OPT_FENCE, 0, &fence);
    if (code == 0)
        code = cli_open(call);
    if (code != 0)
        return code;
    status = rf_force_release(call->client, resource, fence, reason);
    if (status == RF_LOST)
        return cli_fail(status, "%s: %s; \"ringfence inspect\" shows who has",
                        resource, rf_message(call->client));
    code = cli_tell(call, resource, status);
    return code == 0 ? say(call, fence) : code;
}

static const cli_option_id options[] = { OPT_FENCE, OPT_REASON,
                                         CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_force_release = {
    .name = "force-release",
    .operands = "RESOURCE",
    .least = 1,
    .most = 1,
    .summary = "take a lock away from its holder",
    .text = "For people, when a holder is gone and its lock lives for too "
            "long. The fence must be the holder's; the reason goes to the log "
            "of the lock service. The holder is not asked: the database "
            "refuses what it writes as soon as another has claimed, and not "
            "before.",
    .example = "ringfence force-release job:nightly --fence 34 --reason "
               "'host db7 is gone'",
    .options = options,
    .run = run,
};
