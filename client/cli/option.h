/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * option.h - every option there is, each described once
 *
 * An option means the same for every command that takes it.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdint.h>

typedef enum cli_option_id {
    OPT_END = 0, /* ends a command's list */
    OPT_TTL,
    OPT_WAIT,
    OPT_HOLD_MAX,
    OPT_GRACE,
    OPT_SHARED,
    OPT_STDIN,
    OPT_FENCE,
    OPT_REASON,
    OPT_DRY_RUN,
    OPT_EVERY,
    OPT_COUNT,
    OPT_ALL,
    OPT_URL,
    OPT_PG,
    OPT_NO_PG,
    OPT_PREFIX,
    OPT_TIMEOUT,
    OPT_CONFIG,
    OPT_JSON,
    OPT_HELP,
    OPT_COUNT_OF
} cli_option_id;

typedef struct cli_option {
    const char *name;     /* without its dashes                     */
    const char *argument; /* what to call it; NULL: it takes none   */
    const char *text;     /* one sentence or two, with the default  */
} cli_option;

extern const cli_option cli_options[OPT_COUNT_OF];

struct cli_call;

/*
 * Sort a command's words: options into call->value, the rest into
 * call->operand and, from a -- on, call->rest.  0, or the exit code.
 */
int cli_parse(struct cli_call *call, int argc, char **argv);

/*
 * A duration such as 500ms, 30s, 5m or 2h in milliseconds.  Without the option
 * otherwise.  0, or the exit code.
 */
int cli_duration(struct cli_call *call, cli_option_id id, int64_t otherwise,
                 int64_t *out_ms);

/* A whole number from least on; likewise. */
int cli_number(struct cli_call *call, cli_option_id id, int64_t otherwise,
               int64_t *out);

#endif /* CLI_OPTION_H */
