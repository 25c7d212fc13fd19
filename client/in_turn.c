/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * in_turn.c - several locks, where no single script can see them all
 *
 * One after the other; the first that can't be had gives all before it back, so
 * that nothing is held while waiting.
 */
#include "in_turn.h"

#include <stdio.h>
#include <string.h>

#include "give_back.h"
#include "internal.h"

static int give_back(rf__source *s, rf__grant *grants, size_t n,
                     int64_t deadline_ms)
{
    for (size_t i = 0; i < n; i++)
        grants[i].again = 1;
    return rf__give_back(s, grants, n, deadline_ms);
}

/*
 * What was given back before and is handed out again has not arrived there yet:
 * that may come at any time, and takes the lock away from who believes in it.
 * So it is given back once more, until there is another number.
 */
static rf_status acquire_anew(rf__source *s, rf__grant *grant, rf_fence floor,
                              int64_t deadline_ms)
{
    rf_fence given_back = grant->fence;
    rf_status status = s->ops->acquire(s, grant, floor, deadline_ms);

    if (status != RF_OK || given_back == 0 || grant->fence != given_back)
        return status;
    if (!give_back(s, grant, 1, deadline_ms))
        return RF_UNKNOWN;
    rf__set_error(s->error, "what was given back had to be given back again");
    return RF_RETRY;
}

rf_status rf__acquire_in_turn(rf__source *s, rf__grants *grants, rf_fence floor,
                              int64_t deadline_ms)
{
    rf_status status = RF_OK;
    size_t n;

    for (n = 0; n < grants->n; n++) {
        status = acquire_anew(s, &grants->grant[n], floor, deadline_ms);
        if (status != RF_OK)
            break;
    }
    if (status == RF_OK)
        return RF_OK;
    if (status == RF_BUSY)
        grants->busy = n;
    /* The caller looks at the first for all of them. */
    if (grants->grant[n].needs_floor)
        grants->grant[0].needs_floor = 1;
    if (n > 0 && !give_back(s, grants->grant, n, deadline_ms))
        status = RF_UNKNOWN;
    return status;
}

void rf__renew_in_turn(rf__source *s, rf__grant *grants, rf_status *results,
                       size_t n, int64_t deadline_ms)
{
    for (size_t i = 0; i < n; i++)
        results[i] = s->ops->renew(s, &grants[i], deadline_ms);
}

void rf__release_in_turn(rf__source *s, rf__grant *grants, rf_status *results,
                         size_t n, int64_t deadline_ms)
{
    for (size_t i = 0; i < n; i++)
        results[i] = s->ops->release(s, &grants[i], deadline_ms);
}

/* Which source is next, how many were away, and that source's own cursor. */
static void read_cursor(const rf__sources *all, rf__page *page, size_t *at,
                        size_t *away)
{
    char *colon = strchr(page->cursor, ':');
    char own[sizeof(page->cursor)] = "0";
    int64_t both = 0;

    if (colon != NULL) {
        memcpy(own, colon + 1, strlen(colon + 1) + 1);
        *colon = '\0';
        if (!rf__decimal_read(page->cursor, 0,
                              (int64_t)(all->n * (all->spare + 1)) - 1, &both))
            both = 0;
    }
    memcpy(page->cursor, own, sizeof(own));
    *at = (size_t)both % all->n;
    *away = (size_t)both / all->n;
}

rf_status rf__list_in_turn(const rf__sources *all, rf__page *page,
                           int64_t deadline_ms)
{
    char own[sizeof(page->cursor)];
    size_t at, away;
    rf__source *source;
    rf_status status;

    read_cursor(all, page, &at, &away);
    source = all->source[at];
    status = source->ops->list(source, page, deadline_ms);
    if (status != RF_OK) {
        if (all->error != source->error)
            rf__set_error(all->error, "%s", source->error->text);
        if (status == RF_NOMEM || away >= all->spare)
            return status;
        away++;
        memcpy(page->cursor, "0", 2);
    }
    memcpy(own, page->cursor, sizeof(own));
    if (strcmp(own, "0") == 0 && ++at == all->n)
        return RF_OK;
    /* A cursor of Redis has 20 digits at most. */
    snprintf(page->cursor, sizeof(page->cursor), "%d:%.20s",
             (int)(away * all->n + at), own);
    return RF_OK;
}

rf_status rf__examine_in_turn(rf__source **sources, size_t n,
                              const rf__examination *e)
{
    for (size_t i = 0; i < n; i++) {
        rf_status status = sources[i]->ops->examine(sources[i], e);
        rf_finding away = { .severity = RF_WARNING,
                            .where = "",
                            .subject = "server",
                            .found = sources[i]->error->text,
                            .meaning = "It can't be asked; locks need those "
                                       "that are left.",
                            .remedy = "Look whether it runs and can be "
                                      "reached." };

        if (status == RF_NOMEM)
            return status;
        if (status != RF_OK)
            e->on_finding(&away, e->arg);
    }
    return RF_OK;
}
