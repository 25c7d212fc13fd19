/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * url.h - where the lock service is
 */
#ifndef RF_URL_H
#define RF_URL_H

#include "source.h"

/*
 * Strings are "" when the URL does not have them, never NULL.  tls is none of
 * the parser's business: rf__tls_open() sets it.
 */
typedef struct rf__url {
    char host[256];
    int port;
    char path[108]; /* of a Unix socket; then there is no host */
    char user[128];
    char password[512];
    int db;
    struct rf__tls *tls; /* NULL: in the clear */
} rf__url;

typedef enum rf__topology {
    RF__SINGLE,
    RF__SENTINEL,   /* nodes are sentinels, which know the master        */
    RF__CLUSTER,    /* nodes are some of its nodes, which know the others */
    RF__QUORUM,     /* nodes are independent masters                      */
    RF__POSTGRESQL, /* a database with the extension; text is for libpq */
    RF__ETCD,       /* nodes are its members                              */
    RF__ZOOKEEPER   /* nodes are its servers; name: below which node      */
} rf__topology;

#define RF__NODES_MAX  16
#define RF__QUORUM_MAX 9

/* "": the system's authorities; no certificate of our own; the host's name. */
typedef struct rf__tls_files {
    char cafile[1024];
    char certfile[1024];
    char keyfile[1024];
    char servername[256];
} rf__tls_files;

typedef struct rf__service {
    rf__topology topology;
    rf__url data;     /* RF__SENTINEL: user, password, database of the master */
    char name[128];   /* RF__SENTINEL: of the master; RF__ZOOKEEPER, or "" */
    const char *text; /* the URL itself, which is the caller's              */
    int secure;       /* all connections are to be TLS                      */
    rf__tls_files tls;
    rf_fence base; /* RF__ETCD, RF__ZOOKEEPER: added to its numbers        */
    size_t n;
    rf__url node[RF__NODES_MAX]; /* those behind n are not even cleared */
} rf__service;

/*
 * Take the URL of rf_open() apart.  Returns RF_OK or RF_MISUSE with a text that
 * names the part at fault and quotes nothing: a password may stand in the wrong
 * place.
 */
rf_status rf__service_parse(const char *text, rf__service *out,
                            rf__error *error);

#endif /* RF_URL_H */
