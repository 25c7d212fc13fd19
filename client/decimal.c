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
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t len = value < 0 ? 2 : 1, at;

    for (uint64_t rest = left; rest >= 10; rest /= 10)
        len++;
    at = len;
    out[at] = '\0';
    do {
        out[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        out[0] = '-';
    return len;
}

int rf__decimal_read(const char *text, int64_t least, int64_t most,
                     int64_t *out)
{
    const char *digits = text;
    int64_t value = 0;

    if (*digits == '-')
        digits++;
    /* Canonical: no zero in front, and nothing has no digits. */
    if ((*digits < '1' || *digits > '9') && strcmp(text, "0") != 0)
        return 0;
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
    if (value < least || value > most)
        return 0;
    *out = value;
    return 1;
}
