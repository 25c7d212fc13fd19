/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * exit.h - the one table of exit codes, and how a failure is told
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <ringfence.h>

enum {
    CLI_DONE = 0,
    CLI_NO = 1,        /* the answer is no, or something critical was found */
    CLI_WARNING = 2,   /* nothing critical, but something to look at        */
    CLI_OUTCOME = 100, /* and the number of the outcome                     */
    CLI_OUTPUT = 111,  /* what was to be told could not be written          */
    CLI_NOT_RUN = 126,
    CLI_NOT_FOUND = 127,
    CLI_SIGNAL = 128 /* and the number of the signal */
};

typedef struct cli_exit {
    const char *code;
    const char *name;
    const char *text;
} cli_exit;

/* Row by row; NULL after the last. */
const cli_exit *cli_exit_row(int row);

/* CLI_DONE for RF_OK, else CLI_OUTCOME and its number. */
int cli_exit_of(rf_status status);

/* From here on a failure is told on standard output as well, as JSON. */
void cli_fail_in_json(void);

/*
 * Say in one line on standard error what is wrong and what to do, printf-like.
 * Line ends inside become blanks.  Returns the exit code of status.
 */
int cli_fail(rf_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same where no outcome of the library fits; returns code. */
int cli_fail_code(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Something to know that ends nothing. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* CLI_EXIT_H */
