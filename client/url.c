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

#include <string.h>

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

/* host[:port][/db] */
static rf_status parse_tcp(span text, rf__url *out, rf__error *error)
{
    rf_status status = parse_user(&text, out, error);
    span port = { "6379", 4 };

    if (status != RF_OK)
        return status;
    if (!take_host(&text, out))
        return wrong(error, "the host is missing or malformed");
    if (text.len > 0 && text.at[0] == ':') {
        port.at = ++text.at;
        text.len--;
        for (port.len = 0; port.len < text.len && *text.at != '/'; port.len++)
            text.at++;
        text.len -= port.len;
    }
    out->port = number(port, 65535);
    if (out->port < 1)
        return wrong(error, "the port must be a number from 1 to 65535");
    if (text.len == 0)
        return RF_OK;
    if (text.at[0] != '/')
        return wrong(error, "something other than /db follows the host");
    text.at++;
    text.len--;
    return text.len == 0 ? RF_OK : parse_db(text, out, error);
}

/* /path[?db=n] */
static rf_status parse_unix(span text, rf__url *out, rf__error *error)
{
    rf_status status = parse_user(&text, out, error);
    span path;

    if (status != RF_OK)
        return status;
    if (cut(&text, '?', &path)) {
        if (text.len < 3 || memcmp(text.at, "db=", 3) != 0)
            return wrong(error, "only ?db=n may follow the path");
        text.at += 3;
        text.len -= 3;
        status = parse_db(text, out, error);
        if (status != RF_OK)
            return status;
    } else {
        path = text;
    }
    if (path.len == 0 || path.at[0] != '/')
        return wrong(error, "the path of the socket must begin with /");
    if (!decode(path, out->path, sizeof(out->path)))
        return wrong(error, "the path of the socket is too long (107 bytes) "
                            "or badly encoded");
    return RF_OK;
}

rf_status rf__url_parse(const char *text, rf__url *out, rf__error *error)
{
    static const char unix_scheme[] = "redis+unix://";
    static const char tls_scheme[] = "rediss://";
    static const char tcp_scheme[] = "redis://";
    span rest = { text, strlen(text) };

    memset(out, 0, sizeof(*out));
    if (strncmp(text, unix_scheme, sizeof(unix_scheme) - 1) == 0) {
        rest.at += sizeof(unix_scheme) - 1;
        rest.len -= sizeof(unix_scheme) - 1;
        return parse_unix(rest, out, error);
    }
    if (strncmp(text, tcp_scheme, sizeof(tcp_scheme) - 1) == 0) {
        rest.at += sizeof(tcp_scheme) - 1;
        rest.len -= sizeof(tcp_scheme) - 1;
        return parse_tcp(rest, out, error);
    }
    if (strncmp(text, tls_scheme, sizeof(tls_scheme) - 1) == 0)
        return wrong(error, "rediss:// needs TLS, and this library was built "
                            "without it");
    return wrong(error, "it must begin with redis:// or redis+unix://");
}
