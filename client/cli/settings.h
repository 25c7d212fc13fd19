/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * settings.h - where the servers are: command line, environment, file
 *
 * The first that says something has the last word, for each setting by itself.
 * A password is refused on the command line, where every user of the machine
 * can read it, and in a file that others can read.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

struct cli_call;

typedef struct cli_settings {
    char *url;    /* URL of the lock service; NULL: not set        */
    char *pg;     /* what libpq shall connect to; NULL: no database */
    char *prefix; /* NULL: the library's                            */
} cli_settings;

/* Fill call->settings.  0, or the exit code after its message. */
int cli_settings_read(struct cli_call *call);

void cli_settings_free(cli_settings *settings);

#endif /* CLI_SETTINGS_H */
