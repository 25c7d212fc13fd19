/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * info.h - how a lock is shown, by every command that shows one
 */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "output.h"

/* "free", "held", "shared" or "foreign". */
const char *cli_info_state(const rf_info *info);

/* As JSON, for scripts.  NULL: out of memory. */
json_t *cli_info_json(const char *resource, const rf_info *info);

/* As cells of a table: resource, state, fence, holder, left, waited for. */
#define CLI_INFO_COLUMNS    6
#define CLI_INFO_HOLDER     3
#define CLI_INFO_WAITED_FOR 5
void cli_info_titles(cli_table *table);
void cli_info_cells(cli_table *table, const char *resource,
                    const rf_info *info);

#endif /* CLI_INFO_H */
