/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * words.c - commands as the bytes that Redis reads
 *
 * Knows the protocol's way of writing and nothing of who sends it where.
 */
#include "words.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Room for len more bytes.  1 or 0. */
static int reserve(rf__words *w, size_t len)
{
    size_t size = w->len + len;
    char *grown;

    if (size <= w->size)
        return 1;
    size += size / 2 + 1024;
    grown = realloc(w->data, size);
    if (grown == NULL)
        return 0;
    w->data = grown;
    w->size = size;
    return 1;
}

/* "*2\r\n" before a command of two words, "$4\r\n" before a word of four. */
static void put_count(rf__words *w, char kind, size_t count)
{
    char *to = w->data + w->len;
    size_t n;

    to[0] = kind;
    n = 1 + rf__decimal_write(to + 1, (int64_t)count);
    to[n] = '\r';
    to[n + 1] = '\n';
    w->len += n + 2;
}

int rf__words_begin(rf__words *w, size_t words)
{
    if (!reserve(w, RF__DECIMAL_MAX + 4))
        return 0;
    put_count(w, '*', words);
    return 1;
}

int rf__words_add(rf__words *w, const char *text, size_t len)
{
    if (!reserve(w, len + RF__DECIMAL_MAX + 6))
        return 0;
    put_count(w, '$', len);
    memcpy(w->data + w->len, text, len);
    memcpy(w->data + w->len + len, "\r\n", 2);
    w->len += len + 2;
    return 1;
}

int rf__words_text(rf__words *w, const char *text)
{
    return rf__words_add(w, text, strlen(text));
}

void rf__words_free(rf__words *w)
{
    if (w->data != NULL)
        explicit_bzero(w->data, w->size);
    free(w->data);
    memset(w, 0, sizeof(*w));
}
