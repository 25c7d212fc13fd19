/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * decimal.c - numbers as text and back
 *
 * Strict one way, because what comes back from a lock service is only taken
 * when it is written exactly as a number of ours would be; quick the other way,
 * because every request has a few of them.
 */
#include "internal.h"

#include <string.h>

size_t rf__decimal_write(char out[RF__DECIMAL_MAX], int64_t value)
{
    char digits[RF__DECIMAL_MAX];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t n = 0, len = 0;

    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        out[len++] = '-';
    while (n > 0)
        out[len++] = digits[--n];
    out[len] = '\0';
    return len;
}

int rf__decimal_read(const char *text, int64_t least, int64_t most,
                     int64_t *out)
{
    char again[RF__DECIMAL_MAX];
    const char *digits = text;
    int64_t value = 0;

    if (*digits == '-')
        digits++;
    /* 18 digits can't overflow, and none of our numbers has more. */
    if (strlen(digits) > 18)
        return 0;
    for (const char *d = digits; *d != '\0'; d++) {
        if (*d < '0' || *d > '9')
            return 0;
        value = value * 10 + (*d - '0');
    }
    if (digits != text)
        value = -value;
    rf__decimal_write(again, value);
    if (strcmp(again, text) != 0 || value < least || value > most)
        return 0;
    *out = value;
    return 1;
}
