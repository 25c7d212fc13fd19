/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * words.h - commands as the bytes that Redis reads
 */
#ifndef RF_WORDS_H
#define RF_WORDS_H

#include <stddef.h>

/* Commands, one behind the other.  Begin with all zero; data is the owner's. */
typedef struct rf__words {
    char *data;
    size_t len, size;
} rf__words;

/*
 * A command: how many words, then each word.  0 when there is no memory; then
 * half a command stands there, and nothing of it may be sent.
 */
int rf__words_begin(rf__words *w, size_t words);
int rf__words_add(rf__words *w, const char *text, size_t len);

/* A word that ends in a zero. */
int rf__words_text(rf__words *w, const char *text);

/* Overwritten first: a greeting may have left a password there. */
void rf__words_free(rf__words *w);

#endif /* RF_WORDS_H */
