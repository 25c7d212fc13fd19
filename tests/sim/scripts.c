/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * scripts.c - the commands of the small Redis, and the scripts
 *
 * One Lua state for all servers and all worlds: a script leaves nothing behind
 * in it but litter, which goes between two worlds.  The answer of a command is
 * pushed on Lua's stack.
 */
#include "scripts.h"

#include <lua.h>

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "internal.h"
#include "lua_scripts.h"
#include "network.h"
#include "world.h"

#define ARGS_MAX  24
#define WORDS_MAX 8

static lua_State *lua;
static keyspace *ks;        /* of the server whose turn it is */
static const char *running; /* the script's name              */
static const char *holder;  /* for whom it runs               */

static struct {
    const char *name, *text, *sha1;
    int compiled;
} scripts[] = {
    { "acquire", rf__lua_acquire, rf__lua_acquire_sha1, 0 },
    { "renew", rf__lua_renew, rf__lua_renew_sha1, 0 },
    { "release", rf__lua_release, rf__lua_release_sha1, 0 },
    { "reissue", rf__lua_reissue, rf__lua_reissue_sha1, 0 },
    { "raise", rf__lua_raise, rf__lua_raise_sha1, 0 },
    { "withdraw", rf__lua_withdraw, rf__lua_withdraw_sha1, 0 },
    { "acquire_all", rf__lua_acquire_all, rf__lua_acquire_all_sha1, 0 },
    { "acquire_shared", rf__lua_acquire_shared, rf__lua_acquire_shared_sha1,
      0 },
    { "renew_shared", rf__lua_renew_shared, rf__lua_renew_shared_sha1, 0 },
    { "release_shared", rf__lua_release_shared, rf__lua_release_shared_sha1,
      0 },
};
#define SCRIPTS ((int)(sizeof(scripts) / sizeof(scripts[0])))

/* ---- Commands ------------------------------------------------------------------ */

#define WRONGTYPE \
    "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef struct words {
    int n;
    const char *at[ARGS_MAX];
    size_t len[ARGS_MAX];
} words;

/* All of these return 0 when what they push is an error. */
static int push_error(const char *text)
{
    lua_createtable(lua, 0, 1);
    lua_pushstring(lua, text);
    lua_setfield(lua, -2, "err");
    return 0;
}

/* One for all: no script of ours writes to it. */
static int ok;

static void make_ok(void)
{
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "OK");
    lua_setfield(lua, -2, "ok");
    ok = luaL_ref(lua, LUA_REGISTRYINDEX);
}

static int push_ok(void)
{
    lua_rawgeti(lua, LUA_REGISTRYINDEX, ok);
    return 1;
}

static int push_number(long long number)
{
    lua_pushnumber(lua, (lua_Number)number);
    return 1;
}

static int push_nothing(void)
{
    lua_pushboolean(lua, 0);
    return 1;
}

/* A counter that begins anew is told of. */
static entry *make(const words *w)
{
    const char *end = w->at[1] + w->len[1];

    if (end[-1] == 'e' && end[-6] == ':')
        check_begun(end[-8] - '0', holder);
    return keyspace_make(ks, w->at[1], w->len[1]);
}

/* The weakened scripts for those who write know nothing of those who read. */
static int is_overlooked(const entry *e)
{
    return weakness == SIM_BESIDE && strcmp(e->value, "read") == 0 &&
           strcmp(running, "acquire") == 0;
}

static int do_get(const words *w, entry *e)
{
    (void)w;
    if (e == NULL || is_overlooked(e))
        return push_nothing();
    if (e->kind != STRING)
        return push_error(WRONGTYPE);
    lua_pushstring(lua, e->value);
    return 1;
}

static int do_set(const words *w, entry *e)
{
    int keep = w->n == 4 && strcmp(w->at[3], "KEEPTTL") == 0;
    int px = w->n == 5 && strcmp(w->at[3], "PX") == 0;

    if (w->n != 3 && !keep && !px)
        return push_error("ERR syntax error");
    if (e == NULL)
        e = make(w);
    keyspace_set(e, w->at[2], w->len[2]);
    check_lock(e->value);
    if (px)
        e->expires = keyspace_wall(ks) + sim_number(w->at[4]);
    else if (!keep)
        e->expires = -1;
    return push_ok();
}

static int do_incr(const words *w, entry *e)
{
    char text[RF__DECIMAL_MAX], *end;
    long long number = 0;

    if (e != NULL && e->kind != STRING)
        return push_error(WRONGTYPE);
    if (e != NULL) {
        number = strtoll(e->value, &end, 10);
        if (*end != '\0' || e->value[0] == '\0')
            return push_error("ERR value is not an integer or out of range");
    } else {
        e = make(w);
    }
    keyspace_set(e, text, rf__decimal_write(text, number + 1));
    return push_number(number + 1);
}

static int do_rpush(const words *w, entry *e)
{
    if (e == NULL)
        e = keyspace_make(ks, w->at[1], w->len[1]);
    else if (e->kind != LIST)
        return push_error(WRONGTYPE);
    if (e->n == LIST_MAX)
        sim_fail("%s", "simulator: a list is too long");
    e->kind = LIST;
    sim_copy(e->list[e->n++], sizeof(e->list[0]), w->at[2]);
    push_number(e->n);
    network_pushed(ks->server, w->at[1]);
    return 1;
}

static int do_llen(const words *w, entry *e)
{
    (void)w;
    if (e != NULL && e->kind != LIST)
        return push_error(WRONGTYPE);
    return push_number(e != NULL ? e->n : 0);
}

static int do_del(const words *w, entry *e)
{
    int n = 0;

    for (int i = 1; i < w->n; i++) {
        if (i > 1)
            e = keyspace_find(ks, w->at[i], w->len[i]);
        if (e == NULL)
            continue;
        keyspace_remove(e);
        n++;
    }
    return push_number(n);
}

static int do_pexpire(const words *w, entry *e)
{
    long long ms = sim_number(w->at[2]);

    if (e == NULL)
        return push_number(0);
    e->expires = keyspace_wall(ks) + ms;
    if (ms <= 0)
        keyspace_remove(e);
    return push_number(1);
}

static int do_pttl(const words *w, entry *e)
{
    (void)w;
    if (e == NULL)
        return push_number(-2);
    return push_number(e->expires < 0 ? -1 : e->expires - keyspace_wall(ks));
}

static int do_exists(const words *w, entry *e)
{
    (void)w;
    return push_number(e != NULL);
}

/* ---- Sorted sets, and the time by which they are sorted --------------------------- */

static void push_decimal(int64_t number)
{
    char text[RF__DECIMAL_MAX];

    lua_pushlstring(lua, text, rf__decimal_write(text, number));
}

/* {seconds, microseconds} */
static int do_time(const words *w, entry *e)
{
    int64_t ms = keyspace_wall(ks);

    (void)w, (void)e;
    lua_createtable(lua, 2, 0);
    push_decimal(ms / 1000);
    lua_rawseti(lua, -2, 1);
    push_decimal(ms % 1000 * 1000);
    lua_rawseti(lua, -2, 2);
    return 1;
}

static int do_zadd(const words *w, entry *e)
{
    if (e == NULL)
        e = keyspace_make(ks, w->at[1], w->len[1]);
    else if (e->kind != SORTED)
        return push_error(WRONGTYPE);
    e->kind = SORTED;
    keyspace_add(e, w->at[3], sim_number(w->at[2]));
    return push_number(1);
}

static int do_zscore(const words *w, entry *e)
{
    const member *m;

    if (e != NULL && e->kind != SORTED)
        return push_error(WRONGTYPE);
    m = keyspace_member(e, w->at[2]);
    if (m == NULL)
        return push_nothing();
    push_decimal(m->score);
    return 1;
}

static int do_zrem(const words *w, entry *e)
{
    if (e != NULL && e->kind != SORTED)
        return push_error(WRONGTYPE);
    return push_number(keyspace_drop(e, keyspace_member(e, w->at[2])));
}

/* ZREMRANGEBYSCORE key -inf most */
static int do_zremrange(const words *w, entry *e)
{
    int64_t most = sim_number(w->at[3]);
    int n = 0;

    if (e != NULL && e->kind != SORTED)
        return push_error(WRONGTYPE);
    for (int i = e != NULL ? e->n - 1 : -1; i >= 0; i--) {
        if (e->set[i].score <= most)
            n += keyspace_drop(e, &e->set[i]);
    }
    return push_number(n);
}

/* ZREVRANGE key 0 0 WITHSCORES: the last one. */
static int do_zrevrange(const words *w, entry *e)
{
    const member *last = NULL;

    (void)w;
    if (e != NULL && e->kind != SORTED)
        return push_error(WRONGTYPE);
    for (int i = 0; e != NULL && i < e->n; i++) {
        if (last == NULL || e->set[i].score > last->score)
            last = &e->set[i];
    }
    lua_createtable(lua, 2, 0);
    if (last == NULL)
        return 1;
    lua_pushstring(lua, last->name);
    lua_rawseti(lua, -2, 1);
    push_decimal(last->score);
    lua_rawseti(lua, -2, 2);
    return 1;
}

/* The usual ones first. */
static const struct {
    const char *name;
    size_t len;
    int least, most; /* words */
    int (*run)(const words *w, entry *e);
} commands[] = {
    { "GET", 3, 2, 2, do_get },
    { "PTTL", 4, 2, 2, do_pttl },
    { "SET", 3, 3, 5, do_set },
    { "INCR", 4, 2, 2, do_incr },
    { "DEL", 3, 2, 9, do_del },
    { "EXISTS", 6, 2, 2, do_exists },
    { "LLEN", 4, 2, 2, do_llen },
    { "RPUSH", 5, 3, 3, do_rpush },
    { "PEXPIRE", 7, 3, 3, do_pexpire },
    { "TIME", 4, 1, 1, do_time },
    { "ZADD", 4, 4, 4, do_zadd },
    { "ZSCORE", 6, 3, 3, do_zscore },
    { "ZREM", 4, 3, 3, do_zrem },
    { "ZREVRANGE", 9, 5, 5, do_zrevrange },
    { "ZREMRANGEBYSCORE", 16, 4, 4, do_zremrange },
};
#define COMMANDS ((int)(sizeof(commands) / sizeof(commands[0])))

static int run_command(const words *w)
{
    entry *e = w->n > 1 ? keyspace_find(ks, w->at[1], w->len[1]) : NULL;

    for (int i = 0; i < COMMANDS; i++) {
        if (w->len[0] == commands[i].len && w->n >= commands[i].least &&
            w->n <= commands[i].most &&
            memcmp(w->at[0], commands[i].name, w->len[0]) == 0)
            return commands[i].run(w, e);
    }
    sim_fail("simulator: command %s with %d words is not known", w->at[0],
             w->n);
}

static int redis_call(lua_State *l)
{
    words w = { .n = lua_gettop(l) };

    if (w.n < 1 || w.n > ARGS_MAX)
        return luaL_error(l, "wrong number of words");
    for (int i = 0; i < w.n; i++)
        w.at[i] = lua_tolstring(l, i + 1, &w.len[i]);
    if (!run_command(&w) && !lua_toboolean(l, lua_upvalueindex(1)))
        return lua_error(l);
    return 1;
}

/* ---- Lua --------------------------------------------------------------------------- */

/* KEYS and ARGV: the same tables again and again, and often the same words. */
typedef struct list {
    int table, n;
    struct {
        size_t len;
        char text[NAME_SIZE];
    } word[WORDS_MAX];
} list;

static list keys, args;

static int is_word(const list *l, int i, const char *text, size_t len)
{
    return i < l->n && l->word[i].len == len &&
           memcmp(l->word[i].text, text, len) == 0;
}

static void set_list(list *l, int n, char **words, const size_t *len)
{
    if (n > WORDS_MAX)
        sim_fail("%s", "simulator: a script has too many words");
    lua_rawgeti(lua, LUA_REGISTRYINDEX, l->table);
    for (int i = 0; i < n; i++) {
        if (is_word(l, i, words[i], len[i]))
            continue;
        if (len[i] > sizeof(l->word[i].text))
            sim_fail("simulator: no room for %s", words[i]);
        memcpy(l->word[i].text, words[i], len[i]);
        l->word[i].len = len[i];
        lua_pushlstring(lua, words[i], len[i]);
        lua_rawseti(lua, -2, i + 1);
    }
    for (int i = n; i < l->n; i++) {
        lua_pushnil(lua);
        lua_rawseti(lua, -2, i + 1);
    }
    lua_pop(lua, 1);
    l->n = n;
}

static void add_list(list *l, const char *name)
{
    lua_createtable(lua, 8, 0);
    lua_pushvalue(lua, -1);
    lua_setglobal(lua, name);
    l->table = luaL_ref(lua, LUA_REGISTRYINDEX);
}

static void add_function(const char *name, int protected)
{
    lua_pushboolean(lua, protected);
    lua_pushcclosure(lua, redis_call, 1);
    lua_setfield(lua, -2, name);
}

static void open_lua(void)
{
    lua = lua_newstate(memory_for_lua, NULL);
    lua_gc(lua, LUA_GCSTOP, 0);
    luaL_openlibs(lua);
    /* LuaJIT does not compile what makes functions, and all of ours do. */
    (void)luaL_dostring(lua, "if jit then jit.off() end");
    make_ok();
    lua_newtable(lua);
    add_function("call", 0);
    add_function("pcall", 1);
    lua_setglobal(lua, "redis");
    add_list(&keys, "KEYS");
    add_list(&args, "ARGV");
    for (int i = 0; i < SCRIPTS; i++) {
        if (luaL_loadbuffer(lua, scripts[i].text, strlen(scripts[i].text),
                            "@user_script") != 0)
            sim_fail("script %d: %s", i, lua_tostring(lua, -1));
        scripts[i].compiled = luaL_ref(lua, LUA_REGISTRYINDEX);
    }
    memory_keep_lua();
}

void scripts_begin(void)
{
    if (lua == NULL)
        open_lua();
    else if (memory_rewind_lua())
        keys.n = args.n = 0;
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
    default: sim_fail("%s", "a script returns what none of ours does");
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

/* The weakened quorum: told that all is well, nothing was done. */
static void pretend_to_raise(const script_call *call)
{
    reply_array(call->out, 5);
    reply_word(call->out, call->name);
    reply_word(call->out, call->args[0]);
    reply_word(call->out, call->args[2]);
    reply_word(call->out, "OK");
    reply_word(call->out, call->args[1]);
}

/* The first n_keys and n_args of what was sent. */
static void run_script(int which, const script_call *call, int n_keys,
                       int n_args)
{
    const size_t *len = call->len + 3;

    running = scripts[which].name;
    holder = call->args[0];
    set_list(&keys, n_keys, call->keys, len);
    set_list(&args, n_args, call->args, len + call->n_keys);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, scripts[which].compiled);
    if (lua_pcall(lua, 0, 1, 0) != 0 && !lua_istable(lua, -1))
        sim_fail("a script fails: %s", lua_tostring(lua, -1));
    reply_lua(call->out);
    lua_settop(lua, 0);
}

/* The weakened "all": the first one is taken, whatever becomes of the others. */
static void take_the_first(const script_call *call)
{
    reply scratch = { .len = 0 };
    script_call one = *call;

    one.out = &scratch;
    run_script(0, &one, 4, 5);
}

static void run_weakened(int which, const script_call *call)
{
    if (weakness == SIM_NO_RAISE && strcmp(call->name, "raise") == 0) {
        pretend_to_raise(call);
        return;
    }
    /* Among those that take a lock only these have a floor. */
    if (weakness == SIM_SILENT && strncmp(call->name, "acquire", 7) == 0 &&
        call->args[2][0] == '?')
        call->args[2][0] = '0';
    if (weakness == SIM_HALF && strcmp(call->name, "acquire_all") == 0)
        take_the_first(call);
    run_script(which, call, call->n_keys, call->n_args);
}

/* Digests and texts alike differ early, but for what all texts begin with. */
static int find_script(const char *what, int by_digest, size_t len)
{
    for (int i = 0; i < SCRIPTS; i++) {
        const char *known = by_digest ? scripts[i].sha1 : scripts[i].text;

        if (memcmp(what, known, 8) == 0 && strncmp(what, known, len) == 0 &&
            known[len] == '\0')
            return i;
    }
    sim_fail("simulator: a script is not known");
}

void scripts_eval(script_call *call)
{
    char **argv = call->argv;
    int by_digest = strcmp(argv[0], "EVALSHA") == 0;
    int which = find_script(argv[1], by_digest, call->len[1]);

    ks = call->ks;
    call->name = NULL;
    if (by_digest && !(ks->scripts & 1u << which)) {
        reply_error(call->out, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    ks->scripts |= 1u << which;
    call->name = scripts[which].name;
    call->n_keys = (int)sim_number(argv[2]);
    call->keys = argv + 3;
    call->args = argv + 3 + call->n_keys;
    call->n_args = call->argc - 3 - call->n_keys;
    run_weakened(which, call);
}
