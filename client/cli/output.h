/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * output.h - what commands print: tables for people, JSON for scripts
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <ringfence.h>
#include <stdio.h>

typedef enum cli_colour {
    CLI_PLAIN = 0,
    CLI_BOLD,
    CLI_DIM,
    CLI_RED,
    CLI_GREEN,
    CLI_YELLOW
} cli_colour;

/*
 * Look at standard output once: is it a terminal that obeys sequences, and does
 * it want colour?
 */
void cli_output_begin(void);

int cli_on_terminal(void);

/* The sequences around a coloured text, or "". */
const char *cli_colour_on(cli_colour colour);
const char *cli_colour_off(cli_colour colour);

/*
 * What was printed is written.  code when that worked, else CLI_OUTPUT after its
 * message.
 */
int cli_output_end(int code);

/* The message that it isn't, told once; error is an errno or 0.  CLI_OUTPUT. */
int cli_output_lost(int error);

/*
 * Make a text from elsewhere, such as a server's, fit for one line of a terminal:
 * what would steer the terminal, or turn the order of letters round, is gone.
 */
void cli_clean(char *text);

/* Print a value on a line of its own, and forget it.  NULL: out of memory. */
int cli_print_json(json_t *value);

/* "1.2 s", "3 min 4 s", "for ever". */
#define CLI_TIME_MAX 32
const char *cli_time(char out[CLI_TIME_MAX], int64_t ms);

/* ---- Tables ----------------------------------------------------------- */

typedef struct cli_cell {
    char *text;
    cli_colour colour;
} cli_cell;

typedef struct cli_table {
    int columns;
    int cells;
    cli_cell *cell;  /* row by row */
    unsigned hidden; /* bit by bit: columns that are not shown */
    int failed;      /* out of memory: told when it is printed */
} cli_table;

void cli_table_begin(cli_table *table, int columns);

/* The next cell, printf-like. */
void cli_table_add(cli_table *table, cli_colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Print in columns as wide as they must be, each line followed by line_end.  Where
 * that is wider than width (0: never), the widest columns give way, and what is
 * cut ends in "~".  0, or the exit code.
 */
int cli_table_print(const cli_table *table, int width, const char *line_end);
void cli_table_end(cli_table *table);

/* Print what fits into room columns; "~" where it is cut.  Returns the width. */
int cli_print_cut(const char *text, int room);

#endif /* CLI_OUTPUT_H */
