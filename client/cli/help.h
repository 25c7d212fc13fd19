/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * help.h - one text for --help, the manual pages and completion
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

/* On standard output: the list of commands, or one of them. */
void cli_help_all(void);
void cli_help(const cli_command *command);

/* Words in lines, from column indent on; the first begins at column at. */
void cli_help_wrapped(const char *text, int at, int indent);
void cli_help_indented(const char *text, int indent);

/* The same as manual pages, and the words for bash to complete. */
void cli_man_all(void);
void cli_man(const cli_command *command);
void cli_completion(void);

/* What is true of every command. */
extern const char cli_about[]; /* paragraphs */
extern const char cli_about_settings[];

#endif /* CLI_HELP_H */
