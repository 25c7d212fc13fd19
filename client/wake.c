/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wake.c - the question that sleeps in Redis until a lock is given back
 *
 * Redis serves the longest waiter first and ends the wait itself.
 */
#include "wake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int rf__wake_write(rf__words *w, const char *key, int64_t for_ms)
{
    char seconds[RF__DECIMAL_MAX + 4];

    /* To Redis 0 means for ever. */
    if (for_ms < 1)
        for_ms = 1;
    snprintf(seconds, sizeof(seconds), "%" PRId64 ".%03d", for_ms / 1000,
             (int)(for_ms % 1000));
    return rf__words_begin(w, 3) && rf__words_text(w, "BLPOP") &&
           rf__words_text(w, key) && rf__words_text(w, seconds);
}

/* {key, token}, from the list that was asked about and no other. */
rf_status rf__wake_read(const rf__reply *reply, const char *key,
                        rf__grant *grant)
{
    const char *from = rf__reply_text(reply, 1);
    const char *token = rf__reply_text(reply, 2);

    grant->token[0] = '\0';
    if (rf__reply_kind(reply, 0) == RF__NIL)
        return RF_OK;
    if (rf__reply_count(reply) != 3 || from == NULL || token == NULL ||
        strcmp(from, key) != 0 || strlen(token) >= sizeof(grant->token))
        return RF__NONSENSE;
    memcpy(grant->token, token, strlen(token) + 1);
    return RF_OK;
}
