/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * base64.c - bytes in JSON, as etcd's gateway wants them
 */
#include "base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
                             "xyz0123456789+/";

void rf__base64_write(char *out, const void *bytes, size_t n)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < n; i += 3) {
        unsigned bits = (unsigned)in[i] << 16;

        if (i + 1 < n)
            bits |= (unsigned)in[i + 1] << 8;
        if (i + 2 < n)
            bits |= in[i + 2];
        *out++ = digits[bits >> 18];
        *out++ = digits[bits >> 12 & 63];
        *out++ = i + 1 < n ? digits[bits >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digits[bits & 63] : '=';
    }
    *out = '\0';
}

long rf__base64_read(const char *text, char *out, size_t size)
{
    size_t len = strlen(text), n = 0;
    unsigned bits = 0;
    int have = 0;

    if (len % 4 != 0)
        return -1;
    while (len > 0 && text[len - 1] == '=')
        len--;
    for (size_t i = 0; i < len; i++) {
        const char *digit = memchr(digits, text[i], 64);

        if (digit == NULL)
            return -1;
        bits = bits << 6 | (unsigned)(digit - digits);
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        if (n + 1 >= size)
            return -1;
        out[n++] = (char)(bits >> have & 255);
    }
    if (n >= size)
        return -1;
    out[n] = '\0';
    return (long)n;
}
