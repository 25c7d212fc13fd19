/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * async_line.c - those who wait for one resource, in the order in which they came
 *
 * Only the first asks and sleeps in Redis, on a link of its own, because a link
 * that sleeps answers nothing else.  Who leaves the line hands his sleep on to
 * the next, so that no wake-up is lost.
 */
#include "async.h"

#include <stdlib.h>
#include <string.h>

#include "wake.h"

struct rf__line {
    rf__line *next; /* in its row */
    rf__async *async;
    rf__acquire *first, *last;
    rf__link *link; /* NULL: none yet */
    rf__sent sent;
    rf__alarm alarm; /* for a Redis that has stopped answering */
    int asleep;
    char key[RF__KEY_MAX];
    char resource[];
};

static size_t row_of(const char *resource)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *resource != '\0'; resource++)
        hash = (hash ^ (unsigned char)*resource) * 16777619u;
    return hash % RF__LINE_ROWS;
}

static rf__line *find(const rf__async *async, const char *resource)
{
    rf__line *line = async->lines[row_of(resource)];

    while (line != NULL && strcmp(line->resource, resource) != 0)
        line = line->next;
    return line;
}

int rf__line_there(const rf__async *async, const char *resource)
{
    return find(async, resource) != NULL;
}

/* ---- The link ---------------------------------------------------------------- */

static void link_ended(rf__link *link, void *arg)
{
    rf__line *line = arg;

    (void)link;
    line->link = NULL;
}

static void spare_ended(rf__link *link, void *arg)
{
    rf__async *async = arg;

    for (int i = 0; i < RF__SPARE_LINKS; i++) {
        if (async->spare[i] == link)
            async->spare[i] = NULL;
    }
}

static rf__link *take_spare(rf__async *async, const rf__link_owner *owner)
{
    for (int i = 0; i < RF__SPARE_LINKS; i++) {
        rf__link *link = async->spare[i];

        if (link == NULL)
            continue;
        async->spare[i] = NULL;
        rf__link_own(link, owner);
        return link;
    }
    return NULL;
}

/* For the next who waits; a few are enough. */
static void put_aside(rf__async *async, rf__link *link)
{
    rf__link_owner owner = { spare_ended, async, &async->client->error };

    for (int i = 0; i < RF__SPARE_LINKS; i++) {
        if (async->spare[i] != NULL)
            continue;
        async->spare[i] = link;
        rf__link_own(link, &owner);
        return;
    }
    rf__link_break(link, "nobody waits any more");
}

static int have_link(rf__line *line)
{
    rf__async *async = line->async;
    rf__link_owner owner = { link_ended, line, &async->client->error };
    rf_status status;

    if (line->link == NULL)
        line->link = take_spare(async, &owner);
    if (line->link == NULL)
        line->link = rf__link_new(async->loop.connect(async->loop.arg), &owner,
                                  &status);
    return line->link != NULL;
}

/* ---- Sleeping ------------------------------------------------------------------ */

/* Only what it says in full counts; the first finds out the rest by asking. */
static int understood(rf__line *line, const rf__reply *reply)
{
    rf__error *error = &line->async->client->error;
    int leave = 0;

    if (rf__reply_kind(reply, 0) == RF__ERROR)
        rf__script_refusal(reply, &leave, error);
    else if (rf__wake_read(reply, line->key, &line->first->ask.grant) == RF_OK)
        return 1;
    else
        leave = 1;
    if (leave)
        rf__link_break(line->link, "it is not asked any more");
    return 0;
}

static void answered(rf__sent *sent, rf_status status, const rf__reply *reply)
{
    rf__line *line = (rf__line *)((char *)sent - offsetof(rf__line, sent));
    rf__acquire *first = line->first;

    sent->link = NULL;
    line->asleep = 0;
    rf__async_unset(line->async, &line->alarm);
    if (first == NULL)
        return;
    /* From here on the line may be gone. */
    if (status == RF_OK && understood(line, reply)) {
        rf__acquire_wake(first);
        return;
    }
    /* A wake-up may have been on its way to us and to nobody else. */
    if (status == RF_UNKNOWN)
        memcpy(first->ask.grant.token, "?", 2);
    rf__acquire_pause(first);
}

static void too_late(rf__alarm *alarm)
{
    rf__line *line = (rf__line *)((char *)alarm - offsetof(rf__line, alarm));

    rf__link_break(line->link, "it did not come in time");
}

void rf__line_sleep(rf__acquire *first, int64_t for_ms)
{
    rf__line *line = first->line;
    rf__async *async = line->async;

    async->words.len = 0;
    if (!have_link(line) || !rf__wake_write(&async->words, line->key, for_ms) ||
        rf__link_send(line->link, &async->words, &line->sent) != RF_OK) {
        rf__acquire_pause(first);
        return;
    }
    line->asleep = 1;
    rf__async_set(async, &line->alarm,
                  rf__now_ms() + for_ms + async->client->timeout_ms);
}

/* ---- Joining and leaving --------------------------------------------------------- */

static rf__line *make(rf__async *async, const char *resource)
{
    size_t len = strlen(resource) + 1, row = row_of(resource);
    rf__line *line = calloc(1, sizeof(*line) + len);

    if (line == NULL)
        return NULL;
    line->async = async;
    line->sent.answered = answered;
    line->alarm.ring = too_late;
    memcpy(line->resource, resource, len);
    rf__key_name(line->key, RF__KEY_WAKE, async->author.prefix, resource);
    line->next = async->lines[row];
    async->lines[row] = line;
    return line;
}

int rf__line_join(rf__acquire *a)
{
    rf__async *async = a->job.async;
    rf__line *line = find(async, a->lock->resource);

    if (line == NULL)
        line = make(async, a->lock->resource);
    if (line == NULL)
        return 0;
    a->line = line;
    a->behind = NULL;
    a->before = line->last;
    if (line->last != NULL)
        line->last->behind = a;
    else
        line->first = a;
    line->last = a;
    return 1;
}

/* Nobody is left in it.  1: a wake-up may have been on its way. */
static int close_line(rf__line *line)
{
    rf__line **at = &line->async->lines[row_of(line->resource)];
    int asleep = line->asleep;

    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    if (asleep)
        rf__link_break(line->link, "nobody waits any more");
    else if (line->link != NULL)
        put_aside(line->async, line->link);
    free(line);
    return asleep;
}

int rf__line_leave(rf__acquire *a)
{
    rf__line *line = a->line;
    int was_first = line->first == a;

    if (a->before != NULL)
        a->before->behind = a->behind;
    else
        line->first = a->behind;
    if (a->behind != NULL)
        a->behind->before = a->before;
    else
        line->last = a->before;
    a->line = NULL;
    if (line->first == NULL)
        return close_line(line);
    if (was_first && !line->asleep && !line->async->closing)
        rf__acquire_turn(line->first);
    return 0;
}
