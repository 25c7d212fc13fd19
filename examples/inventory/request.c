/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * request.c - reads the lines that the inventory service is sent
 */
#include "request.h"

#include <stdio.h>
#include <string.h>

#define COUNT_MAX 1000000

static int read_verb(const char *word, verb *out)
{
    static const char *const words[] = { "RECEIVE", "RESERVE", "SHIP",
                                         "CANCEL" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (verb)i;
            return 1;
        }
    }
    return 0;
}

/* Pairs of article and count to the end of the text; 0: they are not. */
static int read_lines(const char *text, request *out)
{
    int used;

    for (out->n = 0; out->n < LINES_MAX; out->n++) {
        line *next = &out->lines[out->n];

        if (sscanf(text, "%40s %9d%n", next->sku, &next->count, &used) != 2)
            break;
        if (next->count < 1 || next->count > COUNT_MAX)
            return 0;
        text += used;
    }
    return text[strspn(text, " \n")] == '\0';
}

int request_read(const char *text, request *out)
{
    char word[NAME_SIZE];
    int used;

    if (sscanf(text, "%40s %40s %40s%n", out->id, word, out->number, &used) !=
            3 ||
        !read_verb(word, &out->verb) || !read_lines(text + used, out))
        return 0;
    return (out->n > 0) == (out->verb == RECEIVE || out->verb == RESERVE);
}

const char *answer_word(answer a)
{
    static const char *const words[] = { "done", "short", "none", "later",
                                         "failed" };

    return words[a];
}
