/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * reply.c - what Redis answered, as a flat list
 *
 * Bounded, because whoever answers may be no Redis at all.  Its memory is used
 * again for the next one.
 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

void rf__reply_clear(rf__reply *reply)
{
    reply->count = 0;
    reply->used = 0;
    reply->oversize = 0;
}

void rf__reply_free(rf__reply *reply)
{
    free(reply->items);
    free(reply->text);
    memset(reply, 0, sizeof(*reply));
}

int rf__reply_add(rf__reply *reply, rf__reply_type type, long long number)
{
    /* Announced, not sent yet: refuse before waiting for them to come. */
    if (type == RF__ARRAY && number > RF__REPLY_ITEMS_MAX) {
        reply->oversize = 1;
        return 0;
    }
    if (reply->count == reply->items_size) {
        size_t size = reply->items_size == 0 ? 16 : reply->items_size * 2;
        rf__item *grown;

        if (size > RF__REPLY_ITEMS_MAX) {
            reply->oversize = 1;
            return 0;
        }
        grown = realloc(reply->items, size * sizeof(*grown));
        if (grown == NULL)
            return 0;
        reply->items = grown;
        reply->items_size = size;
    }
    reply->items[reply->count].type = type;
    reply->items[reply->count].number = number;
    reply->items[reply->count].at = reply->used;
    reply->count++;
    return 1;
}

int rf__reply_add_text(rf__reply *reply, rf__reply_type type, const char *text,
                       size_t len)
{
    size_t need = reply->used + len + 1;

    if (len > RF__REPLY_BYTES_MAX || need > RF__REPLY_BYTES_MAX) {
        reply->oversize = 1;
        return 0;
    }
    if (need > reply->text_size) {
        size_t size = need < 512 ? 512 : need * 2;
        char *grown = realloc(reply->text, size);

        if (grown == NULL)
            return 0;
        reply->text = grown;
        reply->text_size = size;
    }
    if (!rf__reply_add(reply, type, (long long)len))
        return 0;
    memcpy(reply->text + reply->used, text, len);
    reply->text[reply->used + len] = '\0';
    reply->used = need;
    return 1;
}

size_t rf__reply_count(const rf__reply *reply)
{
    return reply->count;
}

rf__reply_type rf__reply_kind(const rf__reply *reply, size_t i)
{
    return i < reply->count ? reply->items[i].type : RF__NIL;
}

long long rf__reply_number(const rf__reply *reply, size_t i)
{
    rf__reply_type type = rf__reply_kind(reply, i);

    return type == RF__INTEGER || type == RF__ARRAY ? reply->items[i].number
                                                    : 0;
}

const char *rf__reply_text(const rf__reply *reply, size_t i)
{
    const char *text;

    if (i >= reply->count || (reply->items[i].type != RF__STRING &&
                              reply->items[i].type != RF__ERROR))
        return NULL;
    text = reply->text + reply->items[i].at;
    return strlen(text) == (size_t)reply->items[i].number ? text : NULL;
}
