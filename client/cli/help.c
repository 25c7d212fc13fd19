/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * help.c - what --help shows
 */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "exit.h"
#include "output.h"

#define WIDTH 79

const char cli_about[] =
    "Locks with a fence, from the command line. A lock says who should work; "
    "its fence proves it to PostgreSQL, which refuses whatever is not the "
    "newest.";

const char cli_about_settings[] =
    "The lock service and the database are named by options, else by the "
    "environment (RINGFENCE_URL, RINGFENCE_PG, RINGFENCE_PREFIX, and libpq's "
    "PGHOST, PGHOSTADDR, PGSERVICE, PGDATABASE), else by ~/.config/ringfence "
    "or, if that is not there, /etc/ringfence.conf: lines of the form url = "
    "URL, pg = CONNINFO, prefix = TEXT. A password is refused on the command "
    "line, and in a file that others can read.";

void cli_help_wrapped(const char *text, int at, int indent)
{
    while (*text != '\0') {
        int len = (int)strcspn(text, " \n");

        if (text[0] == '\n') { /* an empty line follows */
            (void)printf("\n\n%*s", indent, "");
            at = indent;
            text += strspn(text, "\n");
            continue;
        }
        if (at > indent && at + 1 + len > WIDTH) {
            (void)printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            (void)putchar(' ');
            at++;
        }
        (void)printf("%.*s", len, text);
        at += len;
        text += len;
        text += strspn(text, " ");
    }
    (void)putchar('\n');
}

void cli_help_indented(const char *text, int indent)
{
    (void)printf("%*s", indent, "");
    cli_help_wrapped(text, indent, indent);
}

static void heading(const char *text)
{
    (void)printf("\n%s%s%s\n", cli_colour_on(CLI_BOLD), text,
                 cli_colour_off(CLI_BOLD));
}

/* "  term      text", the text in a column of its own. */
static void entry(const char *term, const char *text, int column)
{
    int at = printf("  %s", term);

    if (at < column - 1)
        (void)printf("%*s", column - at, "");
    else
        (void)printf("\n%*s", column, "");
    cli_help_wrapped(text, column, column);
}

void cli_help_all(void)
{
    (void)printf("Usage: ringfence COMMAND [OPTION...] [ARGUMENT...]\n\n");
    cli_help_wrapped(cli_about, 0, 0);
    heading("Commands");
    for (int i = 0; cli_commands[i] != NULL; i++)
        entry(cli_commands[i]->name, cli_commands[i]->summary, 17);
    heading("Where the servers are");
    (void)printf("  ");
    cli_help_wrapped(cli_about_settings, 2, 2);
    heading("Exit codes");
    for (int row = 0; cli_exit_row(row) != NULL; row++) {
        const cli_exit *e = cli_exit_row(row);
        char term[32];

        (void)snprintf(term, sizeof(term), "%-7s%s", e->code, e->name);
        entry(term, e->text, 23);
    }
    (void)printf("\n\"ringfence COMMAND --help\" tells more.\n");
}

void cli_help(const cli_command *command)
{
    (void)printf("Usage: ringfence %s [OPTION...]%s%s\n\n", command->name,
                 *command->operands != '\0' ? " " : "", command->operands);
    cli_help_wrapped(command->text, 0, 0);
    heading("Options");
    for (const cli_option_id *id = command->options; *id != OPT_END; id++) {
        const cli_option *option = &cli_options[*id];
        char term[64];

        (void)snprintf(term, sizeof(term), "--%s%s%s", option->name,
                       option->argument != NULL ? " " : "",
                       option->argument != NULL ? option->argument : "");
        entry(term, option->text, 21);
    }
    heading("Example");
    for (const char *line = command->example; *line != '\0';) {
        int len = (int)strcspn(line, "\n");

        (void)printf("  %.*s\n", len, line);
        line += len + (line[len] == '\n');
    }
    (void)printf("\n\"ringfence --help\" has the settings and the exit "
                 "codes.\n");
}
