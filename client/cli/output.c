/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * output.c - what commands print: tables for people, JSON for scripts
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "exit.h"

static int terminal, colours;

void cli_output_begin(void)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    int obeys = term != NULL && strcmp(term, "dumb") != 0;

    /* For the width of letters alone: numbers stay as they are. */
    (void)setlocale(LC_CTYPE, "");
    terminal = isatty(STDOUT_FILENO) && obeys;
    colours = terminal && (no_colour == NULL || *no_colour == '\0');
}

int cli_on_terminal(void)
{
    return terminal;
}

const char *cli_colour_on(cli_colour colour)
{
    static const char *const sequences[] = {
        [CLI_PLAIN] = "",         [CLI_BOLD] = "\033[1m",
        [CLI_DIM] = "\033[2m",    [CLI_RED] = "\033[31m",
        [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m"
    };

    return colours ? sequences[colour] : "";
}

const char *cli_colour_off(cli_colour colour)
{
    return colours && colour != CLI_PLAIN ? "\033[0m" : "";
}

int cli_output_lost(int error)
{
    static int told;

    /* Nothing more can be told there, so not in JSON either. */
    if (!told++)
        cli_warn("the answer could not be written (%s); what was done is done",
                 error != 0 ? strerror(error) : "standard output is closed");
    return CLI_OUTPUT;
}

int cli_output_end(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    return cli_output_lost(errno);
}

/* Bytes of the character at s that must not reach a terminal; 0: it may. */
static size_t steers(const unsigned char *s)
{
    if (s[0] < ' ' || s[0] == 0x7f)
        return 1;
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0)
        return 2; /* as much a control character as ESC */
    /* Ends of lines and of paragraphs, and what turns the order round. */
    if (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae)
        return 3;
    if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
        return 3;
    return 0;
}

void cli_clean(char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    char *to = text;

    while (*from != '\0') {
        size_t len = steers(from);

        if (len == 0) {
            *to++ = (char)*from++;
            continue;
        }
        /* Servers write in lines; a message of ours is one. */
        *to++ = *from == '\n' || *from == '\t' || *from == '\r' ? ' ' : '?';
        from += len;
    }
    *to = '\0';
}

int cli_print_json(json_t *value)
{
    if (value == NULL)
        return cli_fail(RF_NOMEM, "out of memory");
    if (json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY) == 0)
        (void)putchar('\n');
    json_decref(value);
    return 0;
}

const char *cli_time(char out[CLI_TIME_MAX], int64_t ms)
{
    if (ms < 0)
        (void)snprintf(out, CLI_TIME_MAX, "for ever");
    else if (ms < 60000)
        (void)snprintf(out, CLI_TIME_MAX, "%" PRId64 ".%" PRId64 " s",
                       ms / 1000, ms % 1000 / 100);
    else if (ms < 3600000)
        (void)snprintf(out, CLI_TIME_MAX, "%" PRId64 " min %" PRId64 " s",
                       ms / 60000, ms / 1000 % 60);
    else
        (void)snprintf(out, CLI_TIME_MAX, "%" PRId64 " h %" PRId64 " min",
                       ms / 3600000, ms / 60000 % 60);
    return out;
}

/* ---- Tables ----------------------------------------------------------- */

void cli_table_begin(cli_table *table, int columns)
{
    memset(table, 0, sizeof(*table));
    table->columns = columns;
}

void cli_table_add(cli_table *table, cli_colour colour, const char *format, ...)
{
    cli_cell *grown;
    va_list args;
    int n = table->cells;

    if (table->failed)
        return;
    grown = realloc(table->cell, (size_t)(n + 1) * sizeof(*grown));
    if (grown == NULL) {
        table->failed = 1;
        return;
    }
    table->cell = grown;
    table->cell[n].colour = colour;
    va_start(args, format);
    if (vasprintf(&table->cell[n].text, format, args) < 0) {
        table->failed = 1;
    } else {
        cli_clean(table->cell[n].text);
        table->cells++;
    }
    va_end(args);
}

/* How many columns of a terminal the next letter takes; its bytes in *len. */
static int letter(const char *text, size_t *len)
{
    mbstate_t state = { 0 };
    wchar_t wide;
    int width;

    *len = mbrtowc(&wide, text, strlen(text), &state);
    if (*len == (size_t)-1 || *len == (size_t)-2 || *len == 0) {
        *len = 1;
        return 1;
    }
    width = wcwidth(wide);
    return width < 0 ? 0 : width;
}

static int width_of(const char *text)
{
    int width = 0;
    size_t len;

    for (; *text != '\0'; text += len)
        width += letter(text, &len);
    return width;
}

int cli_print_cut(const char *text, int room)
{
    int whole = width_of(text) <= room, width = 0;
    size_t len;

    if (room < 1)
        return 0;
    for (; *text != '\0'; text += len) {
        int more = letter(text, &len);

        if (width + more > room - !whole)
            break;
        (void)fwrite(text, 1, len, stdout);
        width += more;
    }
    if (!whole)
        width += fputc('~', stdout) != EOF;
    return width;
}

#define GAP   2 /* between two columns              */
#define LEAST 6 /* no column gets narrower than this */

/* So that all of a row fits: the widest column gives way first. */
static void narrow(int *widths, int columns, int room)
{
    int total = -GAP;

    for (int i = 0; i < columns; i++)
        total += widths[i] > 0 ? widths[i] + GAP : 0;
    while (total > room) {
        int widest = 0;

        for (int i = 1; i < columns; i++) {
            if (widths[i] > widths[widest])
                widest = i;
        }
        if (widths[widest] <= LEAST)
            return;
        widths[widest]--;
        total--;
    }
}

static void print_row(const cli_table *table, int row, const int *widths,
                      int room)
{
    const cli_cell *cell = &table->cell[row * table->columns];

    for (int i = 0; i < table->columns && room > 0; i++) {
        int last = i == table->columns - 1, used;

        if (widths[i] == 0)
            continue;
        (void)fputs(cli_colour_on(cell[i].colour), stdout);
        used = cli_print_cut(cell[i].text, widths[i] < room ? widths[i] : room);
        (void)fputs(cli_colour_off(cell[i].colour), stdout);
        room -= used;
        for (; !last && room > 0 && used < widths[i] + GAP; used++, room--)
            (void)putchar(' ');
    }
}

int cli_table_print(const cli_table *table, int width, const char *line_end)
{
    int rows = table->cells / table->columns;
    int *widths = calloc((size_t)table->columns, sizeof(*widths));

    if (table->failed || widths == NULL) {
        free(widths);
        return cli_fail(RF_NOMEM, "out of memory");
    }
    for (int i = 0; i < rows * table->columns; i++) {
        int column = i % table->columns, wide = width_of(table->cell[i].text);

        if (wide > widths[column] && (table->hidden >> column & 1) == 0)
            widths[column] = wide;
    }
    if (width > 0)
        narrow(widths, table->columns, width);
    for (int row = 0; row < rows; row++) {
        print_row(table, row, widths, width > 0 ? width : INT_MAX);
        (void)fputs(line_end, stdout);
    }
    free(widths);
    return 0;
}

void cli_table_end(cli_table *table)
{
    for (int i = 0; i < table->cells; i++)
        free(table->cell[i].text);
    free(table->cell);
    memset(table, 0, sizeof(*table));
}
