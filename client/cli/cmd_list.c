/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_list.c - every lock that is held
 */
#include "command.h"
#include "exit.h"
#include "held.h"
#include "info.h"

static int print_json(const cli_held *held)
{
    json_t *all = json_array();

    for (size_t i = 0; i < held->n; i++) {
        if (json_array_append_new(all, cli_info_json(held->lock[i].resource,
                                                     &held->lock[i].info))) {
            json_decref(all);
            return cli_fail(RF_NOMEM, "out of memory");
        }
    }
    return cli_print_json(all);
}

static int print_table(const cli_held *held)
{
    cli_table table;
    int code;

    cli_table_begin(&table, CLI_INFO_COLUMNS);
    cli_info_titles(&table);
    for (size_t i = 0; i < held->n; i++)
        cli_info_cells(&table, held->lock[i].resource, &held->lock[i].info);
    code = cli_table_print(&table, 0, "\n");
    cli_table_end(&table);
    return code;
}

static int run(cli_call *call)
{
    cli_held held = { 0 };
    int code = cli_open(call);

    if (code == 0)
        code = cli_held_read(call, &held);
    if (code == 0)
        code = cli_json(call) ? print_json(&held) : print_table(&held);
    cli_held_free(&held);
    return code;
}

static const cli_option_id options[] = { CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_list = {
    .name = "list",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "every lock that is held",
    .text = "Shows every lock that is held under the prefix, by name. Locks "
            "that come or go meanwhile may be missed.",
    .example = "ringfence list",
    .options = options,
    .run = run,
};
