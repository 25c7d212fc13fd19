/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * info.c - how a lock is shown, by every command that shows one
 */
#include "info.h"

#include <inttypes.h>

const char *cli_info_state(const rf_info *info)
{
    if (!info->held)
        return "free";
    if (info->fence > 0)
        return "held";
    return info->readers > 0 ? "shared" : "foreign";
}

/* Not known, or none: null. */
static json_t *number_or_null(int64_t value)
{
    return value > 0 ? json_integer((json_int_t)value) : json_null();
}

json_t *cli_info_json(const char *resource, const rf_info *info)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:i, s:b}",
                     "resource", resource, "state", cli_info_state(info),
                     "fence", number_or_null(info->fence), "holder",
                     info->holder[0] != '\0' ? json_string(info->holder)
                                             : json_null(),
                     "left_ms",
                     info->held && info->left_ms >= 0
                         ? json_integer((json_int_t)info->left_ms)
                         : json_null(),
                     "counter", number_or_null(info->counter), "counter_bad",
                     info->counter < 0, "readers", info->readers, "waited_for",
                     info->waited_for);
}

void cli_info_titles(cli_table *table)
{
    static const char *const titles[CLI_INFO_COLUMNS] = {
        "RESOURCE", "STATE", "FENCE", "HOLDER", "LEFT", "WAITED FOR"
    };

    for (int i = 0; i < CLI_INFO_COLUMNS; i++)
        cli_table_add(table, CLI_BOLD, "%s", titles[i]);
}

static void add_state(cli_table *table, const rf_info *info)
{
    const char *state = cli_info_state(info);

    if (info->readers > 0)
        cli_table_add(table, CLI_GREEN, "%s by %d", state, info->readers);
    else
        cli_table_add(table,
                      !info->held       ? CLI_DIM
                      : info->fence > 0 ? CLI_GREEN
                                        : CLI_YELLOW,
                      "%s", state);
}

void cli_info_cells(cli_table *table, const char *resource, const rf_info *info)
{
    char left[CLI_TIME_MAX];

    cli_table_add(table, CLI_PLAIN, "%s", resource);
    add_state(table, info);
    if (info->fence > 0)
        cli_table_add(table, CLI_PLAIN, "%" PRId64, info->fence);
    else
        cli_table_add(table, CLI_PLAIN, "-");
    cli_table_add(table, CLI_PLAIN, "%s",
                  info->holder[0] != '\0' ? info->holder : "-");
    if (info->held)
        cli_table_add(table, info->left_ms < 0 ? CLI_RED : CLI_PLAIN, "%s",
                      cli_time(left, info->left_ms));
    else
        cli_table_add(table, CLI_PLAIN, "-");
    cli_table_add(table, CLI_PLAIN, "%s", info->waited_for ? "yes" : "-");
}
