/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * man.c - the manual pages, from what --help shows
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "exit.h"
#include "help.h"

/* Text that stays as it is: no request, no escape, no hyphen for a dash. */
static void put(const char *text)
{
    int begins = 1; /* a line */

    for (; *text != '\0'; text++) {
        if (begins && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else if (*text == '~')
            (void)fputs("\\(ti", stdout);
        else if (*text == '^')
            (void)fputs("\\(ha", stdout);
        else
            (void)putchar(*text);
        begins = *text == '\n';
    }
}

static void put_line(const char *request, const char *text)
{
    (void)fputs(request, stdout);
    put(text);
    (void)putchar('\n');
}

/* Paragraphs that are parted by empty lines. */
static void put_paragraphs(const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        int len = end != NULL ? (int)(end - text) : (int)strlen(text);
        char paragraph[2048];

        (void)snprintf(paragraph, sizeof(paragraph), "%.*s", len, text);
        put_line("", paragraph);
        text += len;
        if (end == NULL)
            return;
        text += 2;
        (void)puts(".PP");
    }
}

static void put_item(const char *term, const char *value, const char *text)
{
    (void)puts(".TP");
    (void)fputs("\\fB", stdout);
    put(term);
    (void)fputs("\\fR", stdout);
    if (value != NULL && *value != '\0') {
        (void)fputs(" \\fI", stdout);
        put(value);
        (void)fputs("\\fR", stdout);
    }
    put_line("\n", text);
}

/* The title of a page is in capitals by custom. */
static void begin(const char *command, const char *summary)
{
    (void)fputs(".TH \"RINGFENCE", stdout);
    if (command != NULL) {
        (void)fputs("\\-", stdout);
        for (; *command != '\0'; command++)
            (void)putchar(toupper((unsigned char)*command));
    }
    (void)printf("\" 1 \"\" \"ringfence %s\" \"ringfence\"\n", rf_version());
    (void)puts(".SH NAME");
    (void)fputs("ringfence", stdout);
    (void)puts(summary);
}

static void put_options(const cli_command *command)
{
    (void)puts(".SH OPTIONS");
    for (const cli_option_id *id = command->options; *id != OPT_END; id++) {
        const cli_option *option = &cli_options[*id];
        char term[64];

        (void)snprintf(term, sizeof(term), "--%s", option->name);
        put_item(term, option->argument, option->text);
    }
}

void cli_man(const cli_command *command)
{
    char summary[128];

    (void)snprintf(summary, sizeof(summary), "\\-%s \\- %s", command->name,
                   command->summary);
    begin(command->name, summary);
    (void)puts(".SH SYNOPSIS");
    (void)fputs("\\fBringfence ", stdout);
    put(command->name);
    (void)fputs("\\fR [\\fIOPTION\\fR...]", stdout);
    put_line(*command->operands != '\0' ? " " : "", command->operands);
    (void)puts(".SH DESCRIPTION");
    put_paragraphs(command->text);
    put_options(command);
    (void)puts(".SH EXAMPLE\n.nf");
    put_line("", command->example);
    (void)puts(".fi\n.SH SEE ALSO\n.BR ringfence (1)\nfor the settings and the "
               "exit codes");
}

static void put_exit_codes(void)
{
    (void)puts(".SH EXIT STATUS");
    for (int row = 0; cli_exit_row(row) != NULL; row++) {
        const cli_exit *e = cli_exit_row(row);

        put_item(e->code, e->name, e->text);
    }
}

void cli_man_all(void)
{
    begin(NULL, " \\- locks with a fence, from the command line");
    (void)puts(".SH SYNOPSIS\n\\fBringfence\\fR \\fICOMMAND\\fR "
               "[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]");
    (void)puts(".SH DESCRIPTION");
    put_paragraphs(cli_about);
    (void)puts(".SH COMMANDS");
    for (int i = 0; cli_commands[i] != NULL; i++)
        put_item(cli_commands[i]->name, NULL, cli_commands[i]->summary);
    (void)puts(".SH SETTINGS");
    put_paragraphs(cli_about_settings);
    put_exit_codes();
    (void)puts(".SH FILES");
    put_item("~/.config/ringfence", NULL, "The user's settings.");
    put_item("/etc/ringfence.conf", NULL, "The machine's.");
    (void)puts(".SH SEE ALSO");
    for (int i = 0; cli_commands[i] != NULL; i++) {
        (void)fputs(".BR ringfence\\-", stdout);
        put(cli_commands[i]->name);
        (void)puts(cli_commands[i + 1] != NULL ? " (1)," : " (1)");
    }
}
