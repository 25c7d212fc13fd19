/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_keys.c - what the nodes of a resource are called
 *
 * ZooKeeper's names are UTF-16 to its server, without slashes, control
 * characters, surrogates and private letters, and "." and ".." mean something.
 * So whatever is not plain ASCII is written as %XX.
 */
#include "zookeeper_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 10 /* of the number that the server adds */

static int is_plain(unsigned char c)
{
    return c > ' ' && c < 127 && c != '/' && c != '%';
}

/* Append name to text, encoded; the caller has seen to it that it fits. */
static char *append(char *text, const char *name)
{
    static const char digits[] = "0123456789ABCDEF";

    for (const char *at = name; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;

        if (is_plain(c) && (c != '.' || at > name)) {
            *text++ = *at;
            continue;
        }
        *text++ = '%';
        *text++ = digits[c >> 4];
        *text++ = digits[c & 15];
    }
    *text = '\0';
    return text;
}

void rf__zoo_root(rf__zoo_path *out, const char *prefix)
{
    out->text[0] = '/';
    append(out->text + 1, prefix);
}

void rf__zoo_folder(rf__zoo_path *out, const char *prefix, const char *resource)
{
    char *end;

    out->text[0] = '/';
    end = append(out->text + 1, prefix);
    *end++ = '/';
    append(end, resource);
}

void rf__zoo_in_folder(rf__zoo_path *out, const char *prefix,
                       const char *resource, const char *name)
{
    size_t len;

    rf__zoo_folder(out, prefix, resource);
    len = strlen(out->text);
    snprintf(out->text + len, sizeof(out->text) - len, "/%s", name);
}

void rf__zoo_first_part(char out[RF__ZOO_NAME_MAX], const char *holder)
{
    snprintf(out, RF__ZOO_NAME_MAX, "%s-", holder);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int rf__zoo_read_folder(const char *name, char out[RF_RESOURCE_MAX + 1])
{
    size_t n = 0;

    while (*name != '\0' && n < RF_RESOURCE_MAX) {
        int c = (unsigned char)*name++;

        if (c == '%') {
            int high = hex_value(name[0]);
            int low = high >= 0 ? hex_value(name[1]) : -1;

            if (low < 0)
                return 0;
            c = high * 16 + low;
            name += 2;
        }
        if (c == 0)
            return 0;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return *name == '\0' && n > 0;
}

void rf__zoo_write_words(char out[RF__ZOO_WORDS_MAX], int64_t ttl_ms,
                         int session_ms)
{
    snprintf(out, RF__ZOO_WORDS_MAX, "%" PRId64 " %d", ttl_ms, session_ms);
}

int rf__zoo_read_words(const char *text, int64_t *ttl_ms, int64_t *session_ms)
{
    char first[RF__DECIMAL_MAX];
    const char *space = strchr(text, ' ');

    if (space == NULL || space - text >= RF__DECIMAL_MAX)
        return 0;
    snprintf(first, sizeof(first), "%.*s", (int)(space - text), text);
    return rf__decimal_read(first, 0, RF_TTL_MAX_MS, ttl_ms) &&
           rf__decimal_read(space + 1, 0, RF_TTL_MAX_MS, session_ms);
}

/* "%010d" of the server: ten digits, or a sign and ten. */
int rf__zoo_number(const char *name, int32_t *out)
{
    size_t len = strlen(name);
    const char *digits = name + len - DIGITS;
    int64_t value = 0;

    if (len < DIGITS || strspn(digits, "0123456789") != DIGITS)
        return 0;
    for (int i = 0; i < DIGITS; i++)
        value = value * 10 + (digits[i] - '0');
    /* Ours end in "-", so a sign is a second one. */
    if (len >= DIGITS + 2 && digits[-1] == '-' && digits[-2] == '-')
        value = -value;
    if (value < INT32_MIN || value > INT32_MAX)
        return 0;
    *out = (int32_t)value;
    return 1;
}

int rf__zoo_is_before(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b) < 0;
}

int rf__zoo_read_holder(const char *name, char out[RF_HOLDER_LEN + 1])
{
    int32_t number;

    if (strlen(name) <= RF_HOLDER_LEN || name[RF_HOLDER_LEN] != '-' ||
        !rf__zoo_number(name, &number))
        return 0;
    memcpy(out, name, RF_HOLDER_LEN);
    out[RF_HOLDER_LEN] = '\0';
    return rf__holder_valid(out);
}
