/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * url.h - where the lock service is
 */
#ifndef RF_URL_H
#define RF_URL_H

#include "source.h"

/* Strings are "" when the URL does not have them, never NULL. */
typedef struct rf__url {
    char host[256];
    int port;
    char path[108]; /* of a Unix socket; then there is no host */
    char user[128];
    char password[512];
    int db;
} rf__url;

/*
 * Take a URL apart.  Returns RF_OK or RF_MISUSE with a text that names the
 * part at fault and quotes nothing: a password may stand in the wrong place.
 */
rf_status rf__url_parse(const char *text, rf__url *out, rf__error *error);

typedef enum rf__topology {
    RF__SINGLE,
    RF__SENTINEL,  /* nodes are sentinels, which know the master        */
    RF__CLUSTER,   /* nodes are some of its nodes, which know the others */
    RF__QUORUM,    /* nodes are independent masters                      */
    RF__POSTGRESQL /* a database with the extension; text is for libpq  */
} rf__topology;

#define RF__NODES_MAX  16
#define RF__QUORUM_MAX 9

typedef struct rf__service {
    rf__topology topology;
    size_t n;
    rf__url node[RF__NODES_MAX];
    rf__url data;     /* RF__SENTINEL: user, password, database of the master */
    char name[128];   /* RF__SENTINEL: of the master                         */
    const char *text; /* the URL itself, which is the caller's              */
} rf__service;

/* The same for every kind of URL that rf_open() takes. */
rf_status rf__service_parse(const char *text, rf__service *out,
                            rf__error *error);

#endif /* RF_URL_H */
