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

#endif /* RF_URL_H */
