/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_words.c - which statements must not share the guard's transaction
 *
 * Told by their first word, before anything is sent: afterwards is too late,
 * because a procedure that commits in its middle has then written without a
 * guard.  What may stand before the first word is skipped as the server does.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "pg_internal.h"

static const char *const refused[] = {
    "ABORT", "BEGIN",   "CALL",    "COMMIT",   "COPY",      "DO",
    "END",   "PREPARE", "RELEASE", "ROLLBACK", "SAVEPOINT", "START",
};

/* Past a comment that ends with its line. */
static const char *skip_line(const char *text)
{
    return text + strcspn(text, "\r\n");
}

/* Past a comment in slashes and stars; these nest. */
static const char *skip_block(const char *text)
{
    int depth = 0;

    do {
        if (text[0] == '/' && text[1] == '*') {
            depth++;
            text += 2;
        } else if (text[0] == '*' && text[1] == '/') {
            depth--;
            text += 2;
        } else if (*text != '\0') {
            text++;
        }
    } while (depth > 0 && *text != '\0');
    return text;
}

/* Empty statements may stand before the one that counts. */
static const char *first_word(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\n\r\f\v;");
        if (text[0] == '-' && text[1] == '-')
            text = skip_line(text);
        else if (text[0] == '/' && text[1] == '*')
            text = skip_block(text);
        else
            return text;
    }
}

/* As far as the server would read it. */
static size_t word_length(const char *word)
{
    size_t n = 0;

    while (word[n] != '\0' && (isalnum((unsigned char)word[n]) ||
                               strchr("_$", word[n]) || (word[n] & 0x80)))
        n++;
    return n;
}

rf_status rf__pg_check_sql(const char *sql, rf__error *error)
{
    const char *word = first_word(sql);
    size_t length = word_length(word);
    size_t i;

    if (*word == '\0')
        return rf__pg_fail(error, RF_MISUSE, "the statement is empty");
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strlen(refused[i]) != length ||
            strncasecmp(word, refused[i], length) != 0)
            continue;
        rf__set_error(
            error, "%s can't share the guard's transaction%s", refused[i],
            strcmp(refused[i], "CALL") == 0 || strcmp(refused[i], "DO") == 0
                ? ": run it after rf_pg_begin"
                : "");
        return RF_MISUSE;
    }
    return RF_OK;
}
