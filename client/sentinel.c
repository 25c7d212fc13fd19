/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * sentinel.c - where the master is, asked of its sentinels
 *
 * One after the other, the one that answered last first, each with its share of
 * the time.  A sentinel may lag behind: what it says is checked by asking the
 * server itself for its role, which is redis.c's business.
 */
#include "sentinel.h"

#include <stdlib.h>
#include <string.h>

typedef struct sentinels {
    rf__locator base;
    size_t n, first;
    char name[sizeof(((rf__service *)0)->name)];
    rf__redis *redis[RF__NODES_MAX];
} sentinels;

static void free_sentinels(rf__locator *l)
{
    sentinels *s = (sentinels *)l;

    for (size_t i = 0; i < s->n; i++)
        rf__redis_free(s->redis[i]);
    free(s);
}

/* {host, port}, or nil for a name that it does not watch. */
static rf_status read_address(const sentinels *s, const rf__reply *reply,
                              rf__url *url, rf__error *error)
{
    const char *host = rf__reply_text(reply, 1);
    const char *port = rf__reply_text(reply, 2);
    int64_t number;

    if (rf__reply_kind(reply, 0) == RF__NIL) {
        rf__set_error(error, "no sentinel knows a master named %s", s->name);
        return RF_MISUSE;
    }
    if (rf__reply_count(reply) != 3 || host == NULL || port == NULL ||
        strlen(host) >= sizeof(url->host) || host[0] == '\0' ||
        !rf__decimal_read(port, 1, 65535, &number)) {
        rf__set_error(error, "a sentinel's answer makes no sense");
        return RF_RETRY;
    }
    memcpy(url->host, host, strlen(host) + 1);
    url->port = (int)number;
    return RF_OK;
}

static rf_status ask(sentinels *s, size_t at, rf__url *url, int64_t deadline_ms,
                     rf__error *error)
{
    const char *const words[] = { "SENTINEL", "get-master-addr-by-name",
                                  s->name, NULL };
    const rf__reply *reply;
    rf_status status = rf__redis_question(s->redis[at], words, deadline_ms,
                                          &reply, error);

    if (status == RF_OK)
        status = read_address(s, reply, url, error);
    /* Asked once in a long while: not worth a connection of its own. */
    rf__redis_close(s->redis[at]);
    return status;
}

/* Only when all of them refuse is something wrong with the question. */
static rf_status locate(rf__locator *l, rf__url *url, int64_t deadline_ms,
                        rf__error *error)
{
    sentinels *s = (sentinels *)l;
    rf_status worst = RF_MISUSE;

    for (size_t i = 0; i < s->n; i++) {
        size_t at = (s->first + i) % s->n;
        int64_t share = rf__left_ms(deadline_ms) / (int)(s->n - i);
        rf_status status = ask(s, at, url, rf__now_ms() + share, error);

        if (status == RF_OK) {
            s->first = at;
            return RF_OK;
        }
        if (status != RF_MISUSE)
            worst = status;
    }
    return worst;
}

static sentinels *new_sentinels(size_t n, const char *name);

static rf__locator *again(const rf__locator *l)
{
    const sentinels *s = (const sentinels *)l;
    sentinels *copy = new_sentinels(s->n, s->name);

    for (size_t i = 0; copy != NULL && i < s->n; i++) {
        copy->redis[i] = rf__redis_again(s->redis[i]);
        if (copy->redis[i] == NULL) {
            free_sentinels(&copy->base);
            return NULL;
        }
    }
    return copy != NULL ? &copy->base : NULL;
}

static sentinels *new_sentinels(size_t n, const char *name)
{
    sentinels *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->base.locate = locate;
    s->base.again = again;
    s->base.free = free_sentinels;
    s->n = n;
    memcpy(s->name, name, strlen(name) + 1);
    return s;
}

rf__locator *rf__sentinel_locator(const rf__service *service, int timeout_ms)
{
    sentinels *s = new_sentinels(service->n, service->name);

    for (size_t i = 0; s != NULL && i < s->n; i++) {
        s->redis[i] = rf__redis_new(&service->node[i], timeout_ms);
        if (s->redis[i] == NULL) {
            free_sentinels(&s->base);
            return NULL;
        }
    }
    return s != NULL ? &s->base : NULL;
}
