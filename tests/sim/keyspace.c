/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keyspace.c - what one small Redis has in its memory
 */
#include "keyspace.h"

#include <string.h>

#include "world.h"

int64_t keyspace_wall(const keyspace *ks)
{
    return 1000000000 + sim_now() + ks->step;
}

void keyspace_remove(entry *e)
{
    e->len = 0;
}

/* A lock's own name ends in its brace. */
static int is_lock(const entry *e)
{
    return e->name[e->len - 1] == '}';
}

static int is_counter(const entry *e)
{
    return e->name[e->len - 1] == 'e' && e->name[e->len - 6] == ':';
}

entry *keyspace_find(keyspace *ks, const char *name, size_t len)
{
    for (int i = 0; i < ks->count; i++) {
        entry *e = &ks->keys[i];

        if (e->len != len || memcmp(e->name, name, len) != 0)
            continue;
        if (e->expires < 0 || keyspace_wall(ks) <= e->expires)
            return e;
        sums[SUM_EXPIRED] += is_lock(e);
        sums[SUM_FORGOTTEN] += is_counter(e);
        keyspace_remove(e);
    }
    return NULL;
}

entry *keyspace_make(keyspace *ks, const char *name, size_t len)
{
    entry *e = keyspace_find(ks, name, len);
    int i = 0;

    if (e != NULL)
        return e;
    while (i < ks->count && ks->keys[i].len != 0)
        i++;
    if (i == KEYS_MAX)
        sim_fail("simulator: no room for key %s", name);
    if (i == ks->count)
        ks->count++;
    e = &ks->keys[i];
    sim_copy(e->name, sizeof(e->name), name);
    e->len = len;
    e->expires = -1;
    e->kind = STRING;
    e->n = 0;
    e->value[0] = '\0';
    return e;
}

void keyspace_set(entry *e, const char *value, size_t len)
{
    if (len >= sizeof(e->value))
        sim_fail("%s", "simulator: a value is too long");
    memcpy(e->value, value, len);
    e->value[len] = '\0';
    e->kind = STRING;
}

int keyspace_pop(keyspace *ks, const char *name, char out[24])
{
    entry *e = keyspace_find(ks, name, strlen(name));

    if (e == NULL || e->kind != LIST)
        return 0;
    memcpy(out, e->list[0], sizeof(e->list[0]));
    memmove(e->list[0], e->list[1], sizeof(e->list) - sizeof(e->list[0]));
    if (--e->n == 0)
        keyspace_remove(e);
    return 1;
}

member *keyspace_member(entry *e, const char *name)
{
    for (int i = 0; e != NULL && i < e->n; i++) {
        if (strcmp(e->set[i].name, name) == 0)
            return &e->set[i];
    }
    return NULL;
}

void keyspace_add(entry *e, const char *name, int64_t score)
{
    member *m = keyspace_member(e, name);

    if (m == NULL && e->n == SET_MAX)
        sim_fail("%s", "simulator: a set has too many members");
    if (m == NULL)
        m = &e->set[e->n++];
    sim_copy(m->name, sizeof(m->name), name);
    m->score = score;
}

int keyspace_drop(entry *e, member *m)
{
    if (m == NULL)
        return 0;
    *m = e->set[--e->n];
    if (e->n == 0)
        keyspace_remove(e);
    return 1;
}

void keyspace_flush(keyspace *ks)
{
    ks->count = 0;
}

void keyspace_copy(keyspace *to, const keyspace *from)
{
    memcpy(to->keys, from->keys, sizeof(entry) * (size_t)from->count);
    to->count = from->count;
}

const char *keyspace_evict(keyspace *ks)
{
    entry *e = ks->count > 0 ? &ks->keys[sim_between(0, ks->count - 1)] : NULL;

    if (e == NULL || e->len == 0)
        return NULL;
    keyspace_remove(e);
    return e->name;
}
