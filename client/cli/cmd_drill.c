/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_drill.c - the drills and the demo, where the source is at hand
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "exit.h"

/* Where the demo is, there are the drills. */
static int is_source(const char *folder)
{
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s/tests/drills/run", folder);

    return len < (int)sizeof(path) && access(path, X_OK) == 0;
}

static int run(cli_call *call)
{
    const char *folder = call->operands > 0 ? call->operand[0] : ".";

    if (!is_source(folder))
        return cli_fail(RF_MISUSE,
                        "%s holds no source of ringfence: the drills play real "
                        "accidents on servers that they start themselves, and "
                        "come with the source (make demo, make drills)",
                        folder);
    (void)execlp("make", "make", "-C", folder,
                 call->value[OPT_ALL] != NULL ? "drills" : "demo",
                 (char *)NULL);
    return cli_fail_code(CLI_NOT_RUN, "make: %s", strerror(errno));
}

static const cli_option_id options[] = { OPT_ALL, OPT_HELP, OPT_END };

const cli_command cli_drill = {
    .name = "drill",
    .operands = "[FOLDER]",
    .least = 0,
    .most = 1,
    .summary = "see stale writes being refused",
    .text = "Plays the demo, or with --all every drill, from the source of "
            "ringfence in the folder (default: this one): holders that stop, "
            "a Redis that forgets, on servers of their own. It touches no "
            "server that is set anywhere.",
    .example = "ringfence drill ~/src/ringfence",
    .options = options,
    .run = run,
};
