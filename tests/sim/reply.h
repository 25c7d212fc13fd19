/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * reply.h - a reply of Redis, as it goes over the wire
 */
#ifndef SIM_REPLY_H
#define SIM_REPLY_H

#include <stddef.h>

#define REPLY_MAX 1024

typedef struct reply {
    char bytes[REPLY_MAX];
    size_t len;
} reply;

void reply_text(reply *r, const char *text, size_t len);
void reply_word(reply *r, const char *text); /* the same, up to its zero */
void reply_error(reply *r, const char *text);
void reply_number(reply *r, long long number);
void reply_nil(reply *r);
void reply_array(reply *r, int n); /* n elements follow; -1: none at all */

#endif /* SIM_REPLY_H */
