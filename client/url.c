/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * url.c - takes the URL of a lock service apart
 *
 * Strict: what is not understood is refused, because a misread host or
 * database number would put two programs on different locks.  Messages never
 * quote the URL.
 */
#include "url.h"

#include <stddef.h>
#include <string.h>

#include "internal.h"

/* A piece of the URL: not terminated. */
typedef struct span {
    const char *at;
    size_t len;
} span;

static rf_status wrong(rf__error *error, const char *what)
{
    rf__set_error(error, "URL of the lock service: %s", what);
    return RF_MISUSE;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decode %XX into out.  0 when it doesn't fit or is no proper encoding. */
static int decode(span in, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < in.len; i++) {
        int c = (unsigned char)in.at[i];

        if (c == '%') {
            if (in.len - i < 3 || hex_value(in.at[i + 1]) < 0 ||
                hex_value(in.at[i + 2]) < 0)
                return 0;
            c = hex_value(in.at[i + 1]) * 16 + hex_value(in.at[i + 2]);
            i += 2;
        }
        if (c < ' ' || c == 127 || n + 1 >= size)
            return 0;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return 1;
}

/* A decimal number without sign or leading zero, at most max; else -1. */
static int number(span in, int max)
{
    int value = 0;

    if (in.len == 0 || in.len > 9 || (in.len > 1 && in.at[0] == '0'))
        return -1;
    for (size_t i = 0; i < in.len; i++) {
        if (in.at[i] < '0' || in.at[i] > '9')
            return -1;
        value = value * 10 + (in.at[i] - '0');
    }
    return value <= max ? value : -1;
}

/* Cut text off at the first c: what stands before it, and what after. */
static int cut(span *text, char c, span *before)
{
    const char *found = memchr(text->at, c, text->len);

    if (found == NULL)
        return 0;
    before->at = text->at;
    before->len = (size_t)(found - text->at);
    text->len -= before->len + 1;
    text->at = found + 1;
    return 1;
}

/* "user:password@" or ":password@" in front, or nothing. */
static rf_status parse_user(span *text, rf__url *out, rf__error *error)
{
    span both, user;

    if (!cut(text, '@', &both))
        return RF_OK;
    if (!cut(&both, ':', &user))
        return wrong(error, "a user needs a password: user:password@");
    if (both.len == 0)
        return wrong(error, "the password is empty");
    if (!decode(user, out->user, sizeof(out->user)))
        return wrong(error, "the user is too long or badly encoded");
    if (!decode(both, out->password, sizeof(out->password)))
        return wrong(error, "the password is too long or badly encoded");
    return RF_OK;
}

static rf_status parse_db(span text, rf__url *out, rf__error *error)
{
    out->db = number(text, 999999999);
    if (out->db < 0)
        return wrong(error, "the database must be a number");
    return RF_OK;
}

static int host_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

/* Move a host name, or an IPv6 address in brackets, from text into out. */
static int take_host(span *text, rf__url *out)
{
    span host = *text;
    size_t n = 0;

    if (host.len > 0 && host.at[0] == '[') {
        text->at++;
        text->len--;
        if (!cut(text, ']', &host))
            return 0;
        while (n < host.len && (hex_value(host.at[n]) >= 0 ||
                                host.at[n] == ':' || host.at[n] == '.'))
            n++;
        if (n != host.len)
            return 0;
    } else {
        while (n < host.len && host_char(host.at[n]))
            n++;
        text->at += n;
        text->len -= n;
    }
    if (n == 0 || n >= sizeof(out->host))
        return 0;
    memcpy(out->host, host.at, n);
    out->host[n] = '\0';
    return 1;
}

/* host[:port] */
static rf_status take_place(span *text, int port, rf__url *out,
                            rf__error *error)
{
    span digits;

    if (!take_host(text, out))
        return wrong(error, "the host is missing or malformed");
    out->port = port;
    if (text->len == 0 || text->at[0] != ':')
        return RF_OK;
    digits.at = ++text->at;
    text->len--;
    for (digits.len = 0;
         digits.len < text->len && *text->at != '/' && *text->at != ',';
         digits.len++)
        text->at++;
    text->len -= digits.len;
    out->port = number(digits, 65535);
    if (out->port < 1)
        return wrong(error, "the port must be a number from 1 to 65535");
    return RF_OK;
}

/* ---- What follows a question mark ------------------------------------------ */

enum { DB, SENTINEL, BASE, CAFILE, CERTFILE, KEYFILE, SERVERNAME, KEYS };

#define ONE(key)  (1u << (key))
#define FILE_KEYS (ONE(CAFILE) | ONE(CERTFILE) | ONE(KEYFILE))
#define TLS_KEYS  (FILE_KEYS | ONE(SERVERNAME))

/* As they stand there, still encoded; at is NULL where there is none. */
typedef struct query {
    span value[KEYS];
} query;

static int key_of(span name)
{
    static const char *const keys[KEYS] = { "db",        "sentinel", "base",
                                            "cafile",    "certfile", "keyfile",
                                            "servername" };
    int key = 0;

    while (key < KEYS && (strlen(keys[key]) != name.len ||
                          memcmp(keys[key], name.at, name.len) != 0))
        key++;
    return key;
}

/* Cut ?key=value&key=value off; each of the allowed ones once at most. */
static rf_status take_query(span *text, unsigned allowed, query *out,
                            rf__error *error)
{
    span rest = *text, pair, name;

    memset(out, 0, sizeof(*out));
    if (!cut(&rest, '?', text))
        return RF_OK;
    for (int more = 1; more;) {
        int key;

        more = cut(&rest, '&', &pair);
        if (!more)
            pair = rest;
        key = cut(&pair, '=', &name) ? key_of(name) : KEYS;
        if (key == KEYS || (allowed & ONE(key)) == 0)
            return wrong(error, "what follows the ? is not known here");
        if (out->value[key].at != NULL)
            return wrong(error, "something stands behind the ? twice");
        out->value[key] = pair;
    }
    return RF_OK;
}

static int take_value(const query *q, int key, char *out, size_t size)
{
    return q->value[key].at == NULL ||
           (q->value[key].len > 0 && decode(q->value[key], out, size));
}

/* ?cafile=...&certfile=...&keyfile=...&servername=... */
static rf_status take_tls(const query *q, rf__tls_files *out, rf__error *error)
{
    if (!take_value(q, CAFILE, out->cafile, sizeof(out->cafile)) ||
        !take_value(q, CERTFILE, out->certfile, sizeof(out->certfile)) ||
        !take_value(q, KEYFILE, out->keyfile, sizeof(out->keyfile)) ||
        !take_value(q, SERVERNAME, out->servername, sizeof(out->servername)))
        return wrong(error, "cafile, certfile, keyfile or servername is empty, "
                            "too long or badly encoded");
    if (out->keyfile[0] != '\0' && out->certfile[0] == '\0')
        return wrong(error, "keyfile is of no use without certfile");
    return RF_OK;
}

/* ---- One place ------------------------------------------------------------- */

/* host[:port][/db][?...] */
static rf_status parse_tcp(span text, rf__service *out, rf__error *error)
{
    rf__url *node = &out->node[0];
    rf_status status = parse_user(&text, node, error);
    query q;

    out->n = 1;
    if (status == RF_OK)
        status = take_query(&text, out->secure ? TLS_KEYS : 0, &q, error);
    if (status == RF_OK)
        status = take_tls(&q, &out->tls, error);
    if (status == RF_OK)
        status = take_place(&text, 6379, node, error);
    if (status != RF_OK || text.len == 0)
        return status;
    if (text.at[0] != '/')
        return wrong(error, "something other than /db follows the host");
    text.at++;
    text.len--;
    return text.len == 0 ? RF_OK : parse_db(text, node, error);
}

/* /path[?db=n] */
static rf_status parse_unix(span text, rf__service *out, rf__error *error)
{
    rf__url *node = &out->node[0];
    rf_status status = parse_user(&text, node, error);
    query q;

    out->n = 1;
    if (status == RF_OK)
        status = take_query(&text, ONE(DB), &q, error);
    if (status == RF_OK && q.value[DB].at != NULL)
        status = parse_db(q.value[DB], node, error);
    if (status != RF_OK)
        return status;
    if (text.len == 0 || text.at[0] != '/')
        return wrong(error, "the path of the socket must begin with /");
    if (!decode(text, node->path, sizeof(node->path)))
        return wrong(error, "the path of the socket is too long (107 bytes) "
                            "or badly encoded");
    return RF_OK;
}

/* ---- Several places ------------------------------------------------------- */

static int same_place(const rf__url *a, const rf__url *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* host[:port],host[:port]...; each with the user that stands in node[0]. */
static rf_status take_places(span *text, int port, rf__service *out,
                             rf__error *error)
{
    rf__url first = out->node[0];

    for (out->n = 0; out->n < RF__NODES_MAX;) {
        rf__url *node = &out->node[out->n];
        rf_status status;

        *node = first;
        status = take_place(text, port, node, error);
        if (status != RF_OK)
            return status;
        for (size_t i = 0; i < out->n; i++) {
            if (same_place(node, &out->node[i]))
                return wrong(error, "a host and port stand there twice");
        }
        out->n++;
        if (text->len == 0 || text->at[0] != ',')
            return RF_OK;
        text->at++;
        text->len--;
    }
    return wrong(error, "more than 16 hosts");
}

/* sentinel=user:password or sentinel=:password */
static rf_status take_sentinel_user(const query *q, rf__url *out,
                                    rf__error *error)
{
    span password = q->value[SENTINEL], user;

    if (password.at == NULL)
        return RF_OK;
    if (!cut(&password, ':', &user) || password.len == 0 ||
        !decode(user, out->user, sizeof(out->user)) ||
        !decode(password, out->password, sizeof(out->password)))
        return wrong(error, "?sentinel= must be user:password, encoded");
    return RF_OK;
}

/* /name[/db] */
static rf_status take_name(span text, rf__service *out, rf__error *error)
{
    rf_status status = RF_OK;
    span name;

    if (text.len == 0 || text.at[0] != '/')
        return wrong(error, "the name of the master must follow: /name");
    text.at++;
    text.len--;
    name = text;
    if (cut(&text, '/', &name) && text.len > 0)
        status = parse_db(text, &out->data, error);
    if (status == RF_OK &&
        (name.len == 0 || !decode(name, out->name, sizeof(out->name))))
        status = wrong(error, "the name of the master is empty, too long or "
                              "badly encoded");
    return status;
}

/* [user@]host[:port],.../name[/db][?sentinel=user:password&...] */
static rf_status parse_sentinel(span text, rf__service *out, rf__error *error)
{
    unsigned allowed = ONE(SENTINEL) | (out->secure ? TLS_KEYS : 0);
    rf_status status;
    query q;

    out->topology = RF__SENTINEL;
    status = take_query(&text, allowed, &q, error);
    if (status == RF_OK)
        status = take_sentinel_user(&q, &out->node[0], error);
    if (status == RF_OK)
        status = take_tls(&q, &out->tls, error);
    if (status == RF_OK)
        status = parse_user(&text, &out->data, error);
    if (status == RF_OK)
        status = take_places(&text, 26379, out, error);
    return status == RF_OK ? take_name(text, out, error) : status;
}

/* [user@]host[:port],...[?...] */
static rf_status parse_places(span text, rf__service *out, rf__error *error)
{
    rf_status status = parse_user(&text, &out->node[0], error);
    query q;

    if (status == RF_OK)
        status = take_query(&text, out->secure ? TLS_KEYS : 0, &q, error);
    if (status == RF_OK)
        status = take_tls(&q, &out->tls, error);
    if (status == RF_OK)
        status = take_places(&text, 6379, out, error);
    if (status == RF_OK && text.len > 0)
        status = wrong(error, "something other than a host follows");
    return status;
}

static rf_status parse_quorum(span text, rf__service *out, rf__error *error)
{
    rf_status status = parse_places(text, out, error);

    out->topology = RF__QUORUM;
    if (status == RF_OK &&
        (out->n < 3 || out->n > RF__QUORUM_MAX || out->n % 2 == 0))
        status = wrong(error, "a quorum is of 3, 5, 7 or 9 masters");
    return status;
}

static rf_status parse_cluster(span text, rf__service *out, rf__error *error)
{
    out->topology = RF__CLUSTER;
    return parse_places(text, out, error);
}

static rf_status take_base(const query *q, rf_fence *out, rf__error *error)
{
    char digits[RF__DECIMAL_MAX];

    if (q->value[BASE].at == NULL)
        return RF_OK;
    if (!take_value(q, BASE, digits, sizeof(digits)) ||
        !rf__decimal_read(digits, 0, RF_FENCE_MAX, out))
        return wrong(error, "base must be a number up to 2^53 - 1");
    return RF_OK;
}

/* [user@]host[:port],...[?base=n&...] */
static rf_status parse_etcd(span text, rf__service *out, rf__error *error)
{
    unsigned allowed = ONE(BASE) | (out->secure ? FILE_KEYS : 0);
    rf_status status = parse_user(&text, &out->node[0], error);
    query q;

    out->topology = RF__ETCD;
    if (status == RF_OK)
        status = take_query(&text, allowed, &q, error);
    if (status == RF_OK)
        status = take_tls(&q, &out->tls, error);
    if (status == RF_OK)
        status = take_base(&q, &out->base, error);
    if (status == RF_OK)
        status = take_places(&text, 2379, out, error);
    if (status == RF_OK && text.len > 0)
        status = wrong(error, "something other than a host follows");
    return status;
}

/* /node/node: there are no others below which ZooKeeper would find anything. */
static rf_status take_node(span text, rf__service *out, rf__error *error)
{
    if (text.len == 0 || text.at[0] != '/')
        return text.len == 0 ? RF_OK
                             : wrong(error, "something other than a host "
                                            "follows");
    text.at++;
    text.len--;
    if (text.len == 0)
        return RF_OK;
    if (!decode(text, out->name, sizeof(out->name)) || out->name[0] == '/' ||
        out->name[strlen(out->name) - 1] == '/' ||
        strstr(out->name, "//") != NULL)
        return wrong(error, "the node is too long, malformed or badly "
                            "encoded");
    return RF_OK;
}

/* "user:password" is what ZooKeeper is told: one colon too many moves names. */
static rf_status take_digest_user(span *text, rf__url *out, rf__error *error)
{
    rf_status status = parse_user(text, out, error);

    if (status == RF_OK && out->password[0] != '\0' &&
        (out->user[0] == '\0' || strchr(out->user, ':') != NULL))
        return wrong(error, "a user without a colon must stand before the "
                            "password");
    return status;
}

/* [user@]host[:port],...[/node][?base=n] */
static rf_status parse_zookeeper(span text, rf__service *out, rf__error *error)
{
    rf_status status = take_digest_user(&text, &out->node[0], error);
    query q;

    out->topology = RF__ZOOKEEPER;
    if (status == RF_OK)
        status = take_query(&text, ONE(BASE), &q, error);
    if (status == RF_OK)
        status = take_base(&q, &out->base, error);
    if (status == RF_OK)
        status = take_places(&text, 2181, out, error);
    return status == RF_OK ? take_node(text, out, error) : status;
}

/* Both are libpq's own, which takes them apart. */
static int is_postgresql(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 ||
           strncmp(text, "postgres://", 11) == 0;
}

rf_status rf__service_parse(const char *text, rf__service *out,
                            rf__error *error)
{
    static const struct {
        const char *scheme;
        int secure;
        rf_status (*parse)(span text, rf__service *out, rf__error *error);
    } kinds[] = { { "redis://", 0, parse_tcp },
                  { "rediss://", 1, parse_tcp },
                  { "redis+unix://", 0, parse_unix },
                  { "redis+sentinel://", 0, parse_sentinel },
                  { "rediss+sentinel://", 1, parse_sentinel },
                  { "redis+cluster://", 0, parse_cluster },
                  { "rediss+cluster://", 1, parse_cluster },
                  { "redlock://", 0, parse_quorum },
                  { "redlocks://", 1, parse_quorum },
                  { "etcd://", 0, parse_etcd },
                  { "etcds://", 1, parse_etcd },
                  { "zookeeper://", 0, parse_zookeeper } };

    memset(out, 0, offsetof(rf__service, node[1]));
    out->text = text;
    if (is_postgresql(text)) {
        out->topology = RF__POSTGRESQL;
        return RF_OK;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = strlen(kinds[i].scheme);
        span rest = { text + len, 0 };

        if (strncmp(text, kinds[i].scheme, len) != 0)
            continue;
        rest.len = strlen(rest.at);
        out->secure = kinds[i].secure;
        return kinds[i].parse(rest, out, error);
    }
    return wrong(error, "it must begin with redis://, redis+unix://, "
                        "redis+sentinel://, redis+cluster://, redlock://, "
                        "postgresql://, etcd:// or zookeeper://; for TLS with "
                        "rediss, redlocks or etcds");
}
