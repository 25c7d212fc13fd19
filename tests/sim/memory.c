/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * memory.c - memory for the client and for Lua, fast, and counted
 *
 * Blocks by size, each size with a list of those that were given back.  Takes
 * the place of malloc() in everything that is linked: a world that ends with
 * more in use than it began with has found a leak.
 *
 * Lua's is one piece in which nothing is given back.  What its scripts leave
 * is no use to anybody, so all of it is put back now and then to what it was
 * when they were loaded: that takes less time than its collector does.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define STEP    16
#define SMALL   4096
#define CLASSES (SMALL / STEP + 32)
#define CHUNK   (1 << 20)
#define ALIGNED _Alignof(max_align_t)

#define LUA_MEMORY (16 << 20)
#define LUA_LITTER (512 << 10) /* so much may lie about: half a cache */

typedef struct block block;
struct block {
    block *next;
};

/* Before what malloc() hands out. */
typedef union header {
    size_t size;
    max_align_t aligned;
} header;

static block *spare[CLASSES];
static char *chunk;
static size_t chunk_left;
static int64_t in_use;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);
void __wrap_free(void *at);

/* Which list a size belongs to; what is large goes by powers of two. */
static int class_of(size_t size, size_t *room)
{
    int class = SMALL / STEP;

    if (size <= SMALL) {
        class = (int)((size + STEP - 1) / STEP);
        *room = (size_t) class * STEP;
        return class;
    }
    for (*room = SMALL; *room < size; *room *= 2)
        class ++;
    return class;
}

static void *carve(size_t room)
{
    void *at;

    if (room > CHUNK / 4)
        return __real_malloc(room);
    if (chunk_left < room) {
        chunk = __real_malloc(CHUNK);
        chunk_left = CHUNK;
    }
    if (chunk == NULL)
        abort();
    at = chunk;
    chunk += room;
    chunk_left -= room;
    return at;
}

static void *take(size_t size)
{
    size_t room;
    int class = class_of(size, &room);
    block *b = spare[class];

    if (b == NULL)
        return carve(room);
    spare[class] = b->next;
    return b;
}

static void give_back(void *at, size_t size)
{
    size_t room;
    int class = class_of(size, &room);
    block *b = at;

    b->next = spare[class];
    spare[class] = b;
}

int64_t memory_in_use(void)
{
    return in_use;
}

/* ---- Lua's ------------------------------------------------------------------- */

static char lua_memory[LUA_MEMORY] __attribute__((aligned(64)));
static size_t lua_used, lua_kept;
static char *lua_copy; /* of the first lua_kept bytes, as they were */

/* Large enough for everything up to the next rewind, or the script fails. */
void *memory_for_lua(void *ud, void *at, size_t size, size_t wanted)
{
    size_t room = (wanted + STEP - 1) / STEP * STEP;
    void *fresh = lua_memory + lua_used;

    (void)ud;
    if (wanted == 0)
        return NULL;
    if (at != NULL && wanted <= size)
        return at;
    if (lua_used + room > LUA_MEMORY)
        return NULL;
    lua_used += room;
    return at != NULL ? memcpy(fresh, at, size) : fresh;
}

void memory_keep_lua(void)
{
    lua_kept = lua_used;
    lua_copy = __real_malloc(lua_kept);
    if (lua_copy == NULL)
        abort();
    memcpy(lua_copy, lua_memory, lua_kept);
}

int memory_rewind_lua(void)
{
    if (lua_used - lua_kept < LUA_LITTER)
        return 0;
    memcpy(lua_memory, lua_copy, lua_kept);
    lua_used = lua_kept;
    return 1;
}

/* ---- Everybody else's -------------------------------------------------------- */

void *__wrap_malloc(size_t size)
{
    header *h = take(sizeof(*h) + size);

    if (h == NULL)
        return NULL;
    h->size = size;
    in_use++;
    return h + 1;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *at = __wrap_malloc(n * size);

    return at != NULL ? memset(at, 0, n * size) : NULL;
}

void *__wrap_realloc(void *at, size_t size)
{
    header *h = at != NULL ? (header *)at - 1 : NULL;
    void *fresh = __wrap_malloc(size);

    if (fresh == NULL || h == NULL)
        return fresh;
    memcpy(fresh, at, h->size < size ? h->size : size);
    __wrap_free(at);
    return fresh;
}

/* A keeper that was not told of a release goes on looking at what is freed. */
void __wrap_free(void *at)
{
    header *h = at != NULL ? (header *)at - 1 : NULL;

    if (h == NULL || weakness == SIM_KEEPS_ON)
        return;
    in_use--;
    give_back(h, sizeof(*h) + h->size);
}
