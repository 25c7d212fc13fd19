/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * reply.c - a reply of Redis, as it goes over the wire
 */
#include "reply.h"

#include <string.h>

#include "world.h"

static void add(reply *r, const char *bytes, size_t len)
{
    if (r->len + len > REPLY_MAX)
        sim_fail("%s", "simulator: a reply is too long");
    memcpy(r->bytes + r->len, bytes, len);
    r->len += len;
}

/* Redis writes its numbers without a format string, and so do we: speed. */
static void add_line(reply *r, char kind, long long number)
{
    char digits[24];
    char *at = digits + sizeof(digits);
    unsigned long long rest = number < 0 ? -(unsigned long long)number
                                         : (unsigned long long)number;

    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        *--at = '-';
    *--at = kind;
    add(r, at, (size_t)(digits + sizeof(digits) - at));
}

void reply_text(reply *r, const char *text, size_t len)
{
    add_line(r, '$', (long long)len);
    add(r, text, len);
    add(r, "\r\n", 2);
}

void reply_word(reply *r, const char *text)
{
    reply_text(r, text, strlen(text));
}

void reply_error(reply *r, const char *text)
{
    add(r, "-", 1);
    add(r, text, strlen(text));
    add(r, "\r\n", 2);
}

void reply_number(reply *r, long long number)
{
    add_line(r, ':', number);
}

void reply_nil(reply *r)
{
    add(r, "$-1\r\n", 5);
}

void reply_array(reply *r, int n)
{
    add_line(r, '*', n);
}
