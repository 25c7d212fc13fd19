/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * option.c - every option there is, and reading them
 */
#include "option.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "exit.h"

const cli_option cli_options[OPT_COUNT_OF] = {
    [OPT_TTL] = { "ttl", "TIME",
                  "How long the lock lives when nobody renews it. Default "
                  "30s." },
    [OPT_WAIT] = { "wait", "TIME",
                   "How long to wait for another holder. Default 0s: try "
                   "once." },
    [OPT_HOLD_MAX] = { "hold-max", "TIME",
                       "Give the lock back after this time and stop the "
                       "command, "
                       "even when it hangs. Default: never." },
    [OPT_GRACE] = { "grace", "TIME",
                    "How long a command that was told to stop (TERM) may take "
                    "before it is killed (KILL). Default 10s." },
    [OPT_SHARED] = { "shared", NULL,
                     "Together with others who only read. There is no fence, "
                     "so "
                     "the database refuses every fenced write." },
    [OPT_STDIN] = { "stdin", NULL,
                    "Read the grant from standard input, as acquire --json "
                    "prints it, and not from the environment." },
    [OPT_FENCE] = { "fence", "NUMBER",
                    "The fence that the holder has, as inspect shows it." },
    [OPT_REASON] = { "reason", "TEXT",
                     "Why, for the log of the lock service." },
    [OPT_DRY_RUN] = { "dry-run", NULL, "Only show what would be done." },
    [OPT_EVERY] = { "every", "TIME", "How often to look. Default 1s." },
    [OPT_COUNT] = { "count", "NUMBER",
                    "How many times to look. Default: without end." },
    [OPT_ALL] = { "all", NULL, "Every drill, and not the demo." },
    [OPT_URL] = { "url", "URL",
                  "Where the locks are. Without a password: that belongs "
                  "into RINGFENCE_URL or the file." },
    [OPT_PG] = { "pg", "CONNINFO",
                 "Which database to claim in, as libpq takes it. Without a "
                 "password: that belongs into PGPASSWORD, ~/.pgpass or the "
                 "file." },
    [OPT_NO_PG] = { "no-pg", NULL,
                    "No database, whatever the environment says." },
    [OPT_PREFIX] = { "prefix", "TEXT",
                     "What the names of all keys begin with. Default "
                     "lock:v1:." },
    [OPT_TIMEOUT] = { "timeout", "TIME",
                      "How long a request may take. Default 2s." },
    [OPT_CONFIG] = { "config", "FILE",
                     "Read this file of settings, and no other." },
    [OPT_JSON] = { "json", NULL, "Print JSON, for scripts." },
    [OPT_HELP] = { "help", NULL, "Show this help." },
};

/* The options of a command as getopt_long() wants them. */
static void list_options(const cli_command *command,
                         struct option out[OPT_COUNT_OF])
{
    size_t n = 0;

    for (const cli_option_id *id = command->options; *id != OPT_END; id++) {
        const cli_option *option = &cli_options[*id];

        out[n].name = option->name;
        out[n].has_arg = option->argument != NULL ? required_argument
                                                  : no_argument;
        out[n].flag = NULL;
        /* Beyond any character, so that no short option is meant. */
        out[n].val = 256 + (int)*id;
        n++;
    }
    memset(&out[n], 0, sizeof(out[n]));
}

static int refuse(const cli_call *call, const char *what, const char *word)
{
    return cli_fail(RF_MISUSE, "%s%s; see \"ringfence %s --help\"", what, word,
                    call->command->name);
}

/* Where -- stands, or argc. */
static int find_dashes(int argc, char **argv)
{
    int i = 1;

    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    return i;
}

static int check_operands(cli_call *call)
{
    const cli_command *command = call->command;

    if (call->operands < command->least)
        return refuse(call, "something is missing: ", command->operands);
    if (command->command_line && call->rests == 0)
        return refuse(call, "no command: it stands after --", "");
    if (command->most >= 0 && call->operands > command->most)
        return refuse(call, "too much: ", call->operand[command->most]);
    return 0;
}

int cli_parse(cli_call *call, int argc, char **argv)
{
    struct option known[OPT_COUNT_OF];
    int dashes = find_dashes(argc, argv), found;

    list_options(call->command, known);
    opterr = 0;
    while ((found = getopt_long(dashes, argv, ":", known, NULL)) != -1) {
        const char *word = argv[optind - 1];

        if (found == ':')
            return refuse(call, "a value is missing: ", word);
        if (found < 256)
            return refuse(call, "no such option: ", word);
        call->value[found - 256] = optarg != NULL ? optarg : "";
    }
    if (call->value[OPT_HELP] != NULL)
        return 0;
    call->operand = argv + optind;
    call->operands = dashes - optind;
    call->rest = argv + (dashes < argc ? dashes + 1 : argc);
    call->rests = dashes < argc ? argc - dashes - 1 : 0;
    /* Where no command follows, -- only says that no option does. */
    if (!call->command->command_line && call->rests > 0) {
        memmove(argv + dashes, argv + dashes + 1,
                (size_t)(argc - dashes) * sizeof(*argv));
        call->operands += call->rests;
        call->rests = 0;
    }
    return check_operands(call);
}

/* ---- Values ----------------------------------------------------------- */

/* Digits, as much as fits; the text after them.  NULL: there are none. */
static const char *read_digits(const char *text, int64_t *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 ? end : NULL;
}

int cli_duration(cli_call *call, cli_option_id id, int64_t otherwise,
                 int64_t *out_ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {
        { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }
    };
    const char *text = call->value[id], *unit;

    *out_ms = otherwise;
    if (text == NULL)
        return 0;
    unit = read_digits(text, out_ms);
    for (size_t i = 0; unit != NULL && i < 4; i++) {
        if (strcmp(unit, units[i].unit) == 0 && *out_ms <= RF_TTL_MAX_MS) {
            *out_ms *= units[i].ms;
            return 0;
        }
    }
    return cli_fail(RF_MISUSE, "--%s %s is no time: write 500ms, 30s, 5m or 2h",
                    cli_options[id].name, text);
}

int cli_number(cli_call *call, cli_option_id id, int64_t otherwise,
               int64_t *out)
{
    const char *text = call->value[id], *end;

    *out = otherwise;
    if (text == NULL)
        return 0;
    end = read_digits(text, out);
    if (end != NULL && *end == '\0' && *out >= 1)
        return 0;
    return cli_fail(RF_MISUSE, "--%s %s is no number from 1 on",
                    cli_options[id].name, text);
}
