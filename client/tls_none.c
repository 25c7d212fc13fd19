/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * tls_none.c - in the place of tls.c where there was no OpenSSL to build with
 *
 * Opening is refused, so that nothing else is ever called.
 */
#ifndef RF_OPENSSL

#include "tls.h"

#include <errno.h>

rf_status rf__tls_open(rf__service *service, rf__error *error)
{
    if (!service->secure)
        return RF_OK;
    rf__set_error(error, "URL of the lock service: it asks for TLS, and this "
                         "library was built without it");
    return RF_MISUSE;
}

rf__tls *rf__tls_keep(rf__tls *tls)
{
    return tls;
}

void rf__tls_drop(rf__tls *tls)
{
    (void)tls;
}

rf__tls_link *rf__tls_link_new(rf__tls *tls, int fd, const char *host)
{
    (void)tls, (void)fd, (void)host;
    return NULL;
}

void rf__tls_link_free(rf__tls_link *link)
{
    (void)link;
}

int rf__tls_handshake(rf__tls_link *link)
{
    (void)link;
    return ENOTSUP;
}

int rf__tls_send(rf__tls_link *link, const char *data, size_t len, size_t *sent)
{
    (void)link, (void)data, (void)len, (void)sent;
    return ENOTSUP;
}

int rf__tls_recv(rf__tls_link *link, char *data, size_t size, size_t *got)
{
    (void)link, (void)data, (void)size, (void)got;
    return ENOTSUP;
}

int rf__tls_ready(rf__tls_link *link)
{
    (void)link;
    return ENOTSUP;
}

short rf__tls_events(const rf__tls_link *link)
{
    (void)link;
    return 0;
}

const char *rf__tls_reason(const rf__tls_link *link)
{
    (void)link;
    return NULL;
}

#endif /* RF_OPENSSL */
