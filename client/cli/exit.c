/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * exit.c - the one table of exit codes, and how a failure is told
 */
#include "exit.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output.h"

#define OUTCOMES  RF_OUTCOMES
#define TEXT_SIZE 2048

static const cli_exit before[] = {
    { "0", "", "done; the answer is yes; nothing to complain of" },
    { "1", "", "the answer is no, or something critical was found" },
    { "2", "", "nothing critical was found, but something to look at" },
};

static const cli_exit after[] = {
    { "111", "", "the answer could not be written" },
    { "126", "", "run: the command was found and could not be started" },
    { "127", "", "run: there is no such command" },
    { "128+N", "", "ended by signal N; of run: the command was" },
    { "others", "", "run: the exit code of the command" },
};

#define BEFORE ((int)(sizeof(before) / sizeof(before[0])))
#define AFTER  ((int)(sizeof(after) / sizeof(after[0])))

const cli_exit *cli_exit_row(int row)
{
    static cli_exit outcome;
    static char code[8];
    int status = row - BEFORE + 1; /* RF_OK has its row already */

    if (row < BEFORE)
        return &before[row];
    if (status < OUTCOMES) {
        (void)snprintf(code, sizeof(code), "%d", CLI_OUTCOME + status);
        outcome.code = code;
        outcome.name = rf_status_name((rf_status)status);
        outcome.text = rf_status_text((rf_status)status);
        return &outcome;
    }
    return status - OUTCOMES < AFTER ? &after[status - OUTCOMES] : NULL;
}

int cli_exit_of(rf_status status)
{
    return status == RF_OK ? CLI_DONE : CLI_OUTCOME + (int)status;
}

/* ---- Telling ---------------------------------------------------------- */

static int in_json;

void cli_fail_in_json(void)
{
    in_json = 1;
}

static void compose(char out[TEXT_SIZE], const char *format, va_list args)
{
    size_t used = 0;

    (void)vsnprintf(out, TEXT_SIZE, format, args);
    cli_clean(out);
    for (size_t i = 0; out[i] != '\0'; i++) {
        if (out[i] != ' ' || (used > 0 && out[used - 1] != ' '))
            out[used++] = out[i];
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

static void tell(int code, const char *text)
{
    json_t *object;

    (void)fprintf(stderr, "ringfence: %s\n", text);
    if (!in_json)
        return;
    object = json_pack("{s:i, s:s+}", "exit", code, "message", text, "");
    if (object != NULL && code > CLI_OUTCOME && code < CLI_OUTPUT)
        (void)json_object_set_new(
            object, "outcome",
            json_string(rf_status_name((rf_status)(code - CLI_OUTCOME))));
    if (object != NULL && json_dumpf(object, stdout, JSON_COMPACT) == 0)
        (void)putchar('\n');
    json_decref(object);
}

int cli_fail(rf_status status, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    compose(text, format, args);
    va_end(args);
    tell(cli_exit_of(status), text);
    return cli_exit_of(status);
}

int cli_fail_code(int code, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    compose(text, format, args);
    va_end(args);
    tell(code, text);
    return code;
}

void cli_warn(const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    compose(text, format, args);
    va_end(args);
    (void)fprintf(stderr, "ringfence: %s\n", text);
}
