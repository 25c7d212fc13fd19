/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_admin.c - for people: who has what, and taking it away
 */
#include "redis_steps.h"

#include <stdlib.h>
#include <string.h>

rf_status rf__rs_force_release(rf__source *base, const char *resource,
                               rf_fence fence, const char *reason,
                               int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    char tag[RF__TAG_LEN], expected[RF__DECIMAL_MAX];
    rf__call call = { .script = &rf__script_force_release,
                      .resource = resource,
                      .echo = "",
                      .args = { expected, reason },
                      .n = 2 };
    rf__grant nobody = { 0 };
    const rf__reply *reply;
    rf_status status;

    rf__author_sign(&s->author, &call, tag);
    rf__decimal_write(expected, fence);
    status = rf__script_run(s->redis, &call, deadline_ms, &reply, base->error);
    if (status != RF_OK)
        return status;
    status = rf__rs_settle(s, rf__answer_done(&nobody, reply, base->error));
    if (status == RF_LOST)
        rf__set_error(base->error, nobody.taken ? "the lock has another fence"
                                                : "nobody has the lock");
    return status;
}

/* ---- List ----------------------------------------------------------------- */

/* Of locks "", of counters ":fence": what their keys have after the brace. */
#define PATTERN_MAX (2 * RF__PREFIX_MAX + 16)

static void write_pattern(char out[PATTERN_MAX], const char *prefix,
                          const char *suffix)
{
    size_t n = 0;

    out[n++] = '{';
    for (; *prefix != '\0'; prefix++) {
        if (strchr("*?[]\\", *prefix) != NULL)
            out[n++] = '\\';
        out[n++] = *prefix;
    }
    memcpy(out + n, "*}", 2);
    memcpy(out + n + 2, suffix, strlen(suffix) + 1);
}

static int append_scan(rf__redis_source_t *s, const char *cursor,
                       const char *suffix)
{
    char pattern[PATTERN_MAX];
    const char *words[] = { "SCAN", cursor, "MATCH", pattern, "COUNT", "256" };
    int fine = rf__words_begin(rf__redis_out(s->redis), 6);

    write_pattern(pattern, s->author.prefix, suffix);
    for (int i = 0; i < 6 && fine; i++)
        fine = rf__words_text(rf__redis_out(s->redis), words[i]);
    if (!fine)
        rf__redis_close(s->redis);
    return fine;
}

/* "{lock:v1:name}" to "name", in place of its prefix and braces.  0: not one. */
static size_t name_of(const rf__redis_source_t *s, const char *key,
                      const char *suffix, const char **name)
{
    size_t prefix = strlen(s->author.prefix) + 1, len = strlen(key);
    size_t tail = strlen(suffix);

    if (len < prefix + 2 + tail || strcmp(key + len - tail, suffix) != 0)
        return 0;
    len -= tail;
    if (key[0] != '{' || key[len - 1] != '}' ||
        memcmp(key + 1, s->author.prefix, prefix - 1) != 0)
        return 0;
    *name = key + prefix;
    return len - prefix - 1;
}

/* {cursor, {key, key, ...}}, flat: items 1, and 3 to the end. */
static rf_status read_page(rf__redis_source_t *s, const rf__reply *reply,
                           const char *suffix, rf__page *page)
{
    const char *cursor = rf__reply_text(reply, 1);
    size_t items = rf__reply_count(reply), size = 1, used = 0;

    if (rf__reply_kind(reply, 0) != RF__ARRAY || items < 3 ||
        rf__reply_kind(reply, 2) != RF__ARRAY || cursor == NULL ||
        *cursor == '\0' || strlen(cursor) >= sizeof(page->cursor))
        return rf__rs_settle(s, RF__NONSENSE);
    for (size_t i = 3; i < items; i++)
        size += RF_RESOURCE_MAX + 1;
    page->names = malloc(size);
    if (page->names == NULL)
        return RF_NOMEM;
    memcpy(page->cursor, cursor, strlen(cursor) + 1);
    for (size_t i = 3; i < items; i++) {
        const char *key = rf__reply_text(reply, i), *name;
        size_t len = key != NULL ? name_of(s, key, suffix, &name) : 0;

        if (len == 0 || len > RF_RESOURCE_MAX)
            continue;
        memcpy(page->names + used, name, len);
        page->names[used + len] = '\0';
        used += len + 1;
        page->n++;
    }
    return RF_OK;
}

static rf_status scan(rf__source *base, const char *suffix, rf__page *page,
                      int64_t deadline_ms)
{
    rf__redis_source_t *s = rf__rs(base);
    const rf__reply *reply;
    rf_status status = rf__redis_connect(s->redis, deadline_ms, base->error);

    page->names = NULL;
    page->n = 0;
    if (status != RF_OK)
        return status;
    if (!append_scan(s, page->cursor, suffix))
        return RF_NOMEM;
    status = rf__redis_send(s->redis, deadline_ms, base->error);
    if (status == RF_OK)
        status = rf__redis_reply(s->redis, deadline_ms, &reply, base->error);
    if (status == RF_OK && rf__reply_kind(reply, 0) == RF__ERROR)
        status = rf__script_refused(s->redis, reply, base->error);
    else if (status == RF_OK)
        status = read_page(s, reply, suffix, page);
    return status == RF_UNKNOWN ? RF_RETRY : status;
}

rf_status rf__rs_list(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    return scan(base, "", page, deadline_ms);
}

rf_status rf__rs_counters(rf__source *base, rf__page *page, int64_t deadline_ms)
{
    return scan(base, ":fence", page, deadline_ms);
}
