/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * pg_link.h - a connection of the library's own to PostgreSQL
 *
 * Made when first needed and again when it broke.  Not the caller's connection,
 * which may be in a transaction when a lock is renewed.
 */
#ifndef RF_PG_LINK_H
#define RF_PG_LINK_H

#include "pg_internal.h"

/* There are no more names than these. */
enum { RF__PG_KNOWN_MAX = 4 };

typedef struct rf__pg_link {
    char *url;
    PGconn *conn; /* NULL: none                                             */
    pid_t pid;    /* whose connection it is                                  */
    int pooled;   /* the server behind it changes: no session to listen with */
    int nameless; /* the server has refused a name of ours                   */
    int n_known;  /* names whose statements are planned                      */
    const char *known[RF__PG_KNOWN_MAX];
} rf__pg_link;

/* RF_OK when libpq understands the URL.  Its own words may quote a password. */
rf_status rf__pg_link_check(const char *url, rf__error *error);

/*
 * Be connected.  Returns RF_OK, RF_RETRY (not reached, not in time), RF_MISUSE
 * (the server refuses us: password, database) or RF_NOMEM.
 */
rf_status rf__pg_link_open(rf__pg_link *link, int64_t deadline_ms,
                           rf__error *error);

/*
 * Hold a conversation, once more when the connection had gone before anything
 * was sent.  Returns what rf__pg_converse() and rf__pg_link_open() return.
 */
rf_status rf__pg_link_talk(rf__pg_link *link, rf__pg_talk *talk);

/*
 * The same with a single step, which a server without a pooler in between plans
 * but once for each connection, under that name.
 */
rf_status rf__pg_link_talk_as(rf__pg_link *link, const char *name,
                              rf__pg_talk *talk);

/*
 * Sleep until a notice comes on the channel, cancel_fd is readable, the
 * connection breaks, or it is until_ms.
 */
void rf__pg_link_sleep(rf__pg_link *link, const char *channel, int cancel_fd,
                       int64_t until_ms);

/* A forked child leaves the parent's conversation alone. */
void rf__pg_link_close(rf__pg_link *link);

#endif /* RF_PG_LINK_H */
