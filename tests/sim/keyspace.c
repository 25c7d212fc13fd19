/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * keyspace.c - a small Redis without a network
 */
#include "keyspace.h"

#include <lua.h>

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua_scripts.h"
#include "world.h"

#define NAME_MAX_ 64
#define VALUE_MAX 96

typedef struct entry {
    char name[NAME_MAX_]; /* "": free                  */
    int64_t expires;      /* by the wall clock, -1: no */
    int is_list, n;       /* n: elements of a list     */
    char value[VALUE_MAX];
    char list[LIST_MAX][24];
} entry;

void (*keyspace_pushed)(const char *key);

static entry keys[KEYS_MAX], kept[KEYS_MAX];
static int key_count; /* slots that were ever used since the last flush */
static int kept_count;
static int64_t step;
static lua_State *lua;

/* ---- Scripts: text, digest, and whether this server has it ------------------ */

static struct {
    const char *text, *sha1;
    int compiled, known;
} scripts[] = {
    { rf__lua_acquire, rf__lua_acquire_sha1, 0, 0 },
    { rf__lua_renew, rf__lua_renew_sha1, 0, 0 },
    { rf__lua_release, rf__lua_release_sha1, 0, 0 },
    { rf__lua_reissue, rf__lua_reissue_sha1, 0, 0 },
    { rf__lua_inspect, rf__lua_inspect_sha1, 0, 0 },
    { rf__lua_force_release, rf__lua_force_release_sha1, 0, 0 },
};
#define SCRIPTS ((int)(sizeof(scripts) / sizeof(scripts[0])))

/* ---- Replies ------------------------------------------------------------------ */

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

/* ---- Keys ---------------------------------------------------------------------- */

static int64_t wall(void)
{
    return 1000000000 + sim_now() + step;
}

static entry *find(const char *name)
{
    for (int i = 0; i < key_count; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (keys[i].expires >= 0 && wall() > keys[i].expires)
            keys[i].name[0] = '\0';
        else
            return &keys[i];
    }
    return NULL;
}

static entry *make(const char *name)
{
    entry *e = find(name);
    int i = 0;

    if (e != NULL)
        return e;
    while (i < key_count && keys[i].name[0] != '\0')
        i++;
    if (i == KEYS_MAX)
        sim_fail("simulator: no room for key %s", name);
    if (i == key_count)
        key_count++;
    e = &keys[i];
    sim_copy(e->name, sizeof(e->name), name);
    e->expires = -1;
    e->is_list = e->n = 0;
    e->value[0] = '\0';
    return e;
}

static void set_value(entry *e, const char *value, size_t len)
{
    if (len >= VALUE_MAX)
        sim_fail("%s", "simulator: a value is too long");
    memcpy(e->value, value, len);
    e->value[len] = '\0';
    e->is_list = 0;
}

const char *keyspace_string(const char *key)
{
    entry *e = find(key);

    return e != NULL && !e->is_list ? e->value : NULL;
}

int keyspace_pop(const char *key, char *out, size_t size)
{
    entry *e = find(key);

    if (e == NULL || !e->is_list)
        return 0;
    snprintf(out, size, "%s", e->list[0]);
    memmove(e->list[0], e->list[1], sizeof(e->list) - sizeof(e->list[0]));
    if (--e->n == 0)
        e->name[0] = '\0';
    return 1;
}

void keyspace_flush(void)
{
    key_count = 0;
}

void keyspace_keep(void)
{
    memcpy(kept, keys, sizeof(entry) * (size_t)key_count);
    kept_count = key_count;
}

void keyspace_rewind(void)
{
    memcpy(keys, kept, sizeof(entry) * (size_t)kept_count);
    key_count = kept_count;
}

void keyspace_evict(int64_t which)
{
    if (key_count > 0)
        keys[which % key_count].name[0] = '\0';
}

void keyspace_step(int64_t ms)
{
    step = ms == 0 ? 0 : step + ms;
}

void keyspace_forget_scripts(void)
{
    for (int i = 0; i < SCRIPTS; i++)
        scripts[i].known = 0;
}

/* ---- Commands: the answer is pushed on Lua's stack --------------------------------- */

#define WRONGTYPE \
    "WRONGTYPE Operation against a key holding the wrong kind of value"

static int push_error(const char *text)
{
    lua_createtable(lua, 0, 1);
    lua_pushstring(lua, text);
    lua_setfield(lua, -2, "err");
    return 0;
}

static int push_ok(void)
{
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "OK");
    lua_setfield(lua, -2, "ok");
    return 1;
}

static int push_number(long long number)
{
    lua_pushnumber(lua, (lua_Number)number);
    return 1;
}

static int do_set(int argc, const char **argv, const size_t *len)
{
    entry *e = make(argv[1]);
    int keep = argc == 4 && strcmp(argv[3], "KEEPTTL") == 0;
    int px = argc == 5 && strcmp(argv[3], "PX") == 0;

    if (argc != 3 && !keep && !px)
        return push_error("ERR syntax error");
    set_value(e, argv[2], len[2]);
    check_lock(e->value);
    if (px)
        e->expires = wall() + atoll(argv[4]);
    else if (!keep)
        e->expires = -1;
    return push_ok();
}

static int do_incr(entry *e, const char *name)
{
    char text[24], *end;
    long long number = e != NULL ? strtoll(e->value, &end, 10) : 0;

    if (e != NULL && (*end != '\0' || e->value[0] == '\0'))
        return push_error("ERR value is not an integer or out of range");
    e = make(name);
    snprintf(text, sizeof(text), "%lld", number + 1);
    set_value(e, text, strlen(text));
    return push_number(number + 1);
}

static int do_push(const char **argv)
{
    entry *e = make(argv[1]);

    if (e->n == LIST_MAX)
        sim_fail("%s", "simulator: a list is too long");
    e->is_list = 1;
    sim_copy(e->list[e->n], sizeof(e->list[0]), argv[2]);
    e->n++;
    push_number(e->n);
    if (keyspace_pushed != NULL)
        keyspace_pushed(argv[1]);
    return 1;
}

static int do_delete(int argc, const char **argv)
{
    int n = 0;

    for (int i = 1; i < argc; i++) {
        entry *e = find(argv[i]);

        if (e != NULL) {
            e->name[0] = '\0';
            n++;
        }
    }
    return push_number(n);
}

static int do_expire(entry *e, const char *ms)
{
    if (e == NULL)
        return push_number(0);
    e->expires = wall() + atoll(ms);
    if (atoll(ms) <= 0)
        e->name[0] = '\0';
    return push_number(1);
}

static int do_ttl(const entry *e)
{
    if (e == NULL)
        return push_number(-2);
    if (e->expires < 0)
        return push_number(-1);
    return push_number(e->expires - wall());
}

static int do_get(const entry *e)
{
    if (e == NULL)
        lua_pushboolean(lua, 0);
    else
        lua_pushstring(lua, e->value);
    return 1;
}

/* Pushes the answer.  0 when it is an error. */
static int run_command(int argc, const char **argv, const size_t *len)
{
    const char *name = argv[0];
    entry *e = argc > 1 ? find(argv[1]) : NULL;

    if (strcmp(name, "GET") == 0 && argc == 2)
        return e != NULL && e->is_list ? push_error(WRONGTYPE) : do_get(e);
    if (strcmp(name, "SET") == 0 && argc >= 3)
        return do_set(argc, argv, len);
    if (strcmp(name, "PTTL") == 0 && argc == 2)
        return do_ttl(e);
    if (strcmp(name, "INCR") == 0 && argc == 2)
        return e != NULL && e->is_list ? push_error(WRONGTYPE)
                                       : do_incr(e, argv[1]);
    if (strcmp(name, "DEL") == 0 && argc >= 2)
        return do_delete(argc, argv);
    if (strcmp(name, "PEXPIRE") == 0 && argc == 3)
        return do_expire(e, argv[2]);
    if (strcmp(name, "EXISTS") == 0 && argc == 2)
        return push_number(e != NULL);
    if (strcmp(name, "LLEN") == 0 && argc == 2)
        return e != NULL && !e->is_list ? push_error(WRONGTYPE)
                                        : push_number(e != NULL ? e->n : 0);
    if (strcmp(name, "RPUSH") == 0 && argc == 3)
        return e != NULL && !e->is_list ? push_error(WRONGTYPE) : do_push(argv);
    sim_fail("simulator: command %s with %d words is not known", name, argc);
}

/* ---- Lua --------------------------------------------------------------------------- */

static int redis_call(lua_State *l)
{
    const char *argv[ARGS_MAX];
    size_t len[ARGS_MAX];
    int argc = lua_gettop(l);

    if (argc < 1 || argc > ARGS_MAX)
        return luaL_error(l, "wrong number of words");
    for (int i = 0; i < argc; i++)
        argv[i] = lua_tolstring(l, i + 1, &len[i]);
    if (!run_command(argc, argv, len) && !lua_toboolean(l, lua_upvalueindex(1)))
        return lua_error(l);
    return 1;
}

static void add_function(const char *name, int protected)
{
    lua_pushboolean(lua, protected);
    lua_pushcclosure(lua, redis_call, 1);
    lua_setfield(lua, -2, name);
}

void keyspace_open(void)
{
    if (lua == NULL) {
        lua = luaL_newstate();
        luaL_openlibs(lua);
        lua_newtable(lua);
        add_function("call", 0);
        add_function("pcall", 1);
        lua_setglobal(lua, "redis");
        for (int i = 0; i < SCRIPTS; i++) {
            if (luaL_loadbuffer(lua, scripts[i].text, strlen(scripts[i].text),
                                "@user_script") != 0)
                sim_fail("script %d: %s", i, lua_tostring(lua, -1));
            scripts[i].compiled = luaL_ref(lua, LUA_REGISTRYINDEX);
        }
    }
    key_count = kept_count = 0;
    step = 0;
    keyspace_forget_scripts();
}

static void set_words(const char *name, int n, char **argv, const size_t *len)
{
    lua_createtable(lua, n, 0);
    for (int i = 0; i < n; i++) {
        lua_pushlstring(lua, argv[i], len[i]);
        lua_rawseti(lua, -2, i + 1);
    }
    lua_setglobal(lua, name);
}

/* What a script returned, or the error that ended it, at the stack's top. */
static void reply_lua(reply *out)
{
    size_t len;
    const char *text;
    int n = 0;

    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        text = lua_tolstring(lua, -1, &len);
        reply_text(out, text, len);
        return;
    case LUA_TNUMBER:
        reply_number(out, (long long)lua_tonumber(lua, -1));
        return;
    case LUA_TTABLE: break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1)) {
            reply_number(out, 1);
            return;
        }
        /* fall through */
    default: reply_nil(out); return;
    }
    lua_getfield(lua, -1, "err");
    if (lua_isstring(lua, -1)) {
        reply_error(out, lua_tostring(lua, -1));
        lua_pop(lua, 1);
        return;
    }
    lua_pop(lua, 1);
    n = (int)lua_objlen(lua, -1);
    reply_array(out, n);
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(lua, -1, i);
        reply_lua(out);
        lua_pop(lua, 1);
    }
}

static void run_script(int which, int argc, char **argv, const size_t *len,
                       reply *out)
{
    int n = sim_number(argv[2]);

    set_words("KEYS", n, argv + 3, len + 3);
    set_words("ARGV", argc - 3 - n, argv + 3 + n, len + 3 + n);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, scripts[which].compiled);
    if (lua_pcall(lua, 0, 1, 0) != 0 && !lua_istable(lua, -1))
        sim_fail("a script fails: %s", lua_tostring(lua, -1));
    reply_lua(out);
    lua_settop(lua, 0);
}

static void eval(int argc, char **argv, const size_t *len, reply *out)
{
    int by_digest = strcmp(argv[0], "EVALSHA") == 0;

    for (int i = 0; i < SCRIPTS; i++) {
        if (strcmp(argv[1], by_digest ? scripts[i].sha1 : scripts[i].text) != 0)
            continue;
        if (by_digest && !scripts[i].known)
            break;
        scripts[i].known = 1;
        run_script(i, argc, argv, len, out);
        return;
    }
    if (!by_digest)
        sim_fail("%s", "simulator: EVAL of an unknown script");
    reply_error(out, "NOSCRIPT No matching script. Please use EVAL.");
}

void keyspace_command(int argc, char **argv, const size_t *len, reply *out)
{
    if (strncmp(argv[0], "EVAL", 4) == 0) {
        eval(argc, argv, len, out);
        return;
    }
    run_command(argc, (const char **)argv, len);
    reply_lua(out);
    lua_settop(lua, 0);
}
