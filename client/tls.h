/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * tls.h - encrypted connections to servers that prove who they are
 *
 * Nothing here waits: what can't go on says which events to wait for.  There is
 * no way to leave the checks out.
 */
#ifndef RF_TLS_H
#define RF_TLS_H

#include "internal.h"
#include "url.h"

/* What all connections of a client have in common.  From any thread. */
typedef struct rf__tls rf__tls;

/*
 * Read the files that a service names and hand the result to all its places;
 * nothing to do when it is not secure.  RF_OK, RF_NOMEM, or RF_MISUSE with a
 * text.  End it with rf__tls_drop(service->data.tls).
 */
rf_status rf__tls_open(rf__service *service, rf__error *error);

/* Each user of it keeps it; the last one to drop it frees it.  NULL is fine. */
rf__tls *rf__tls_keep(rf__tls *tls);
void rf__tls_drop(rf__tls *tls);

/* One connection over a connected socket that does not block. */
typedef struct rf__tls_link rf__tls_link;

/* NULL: out of memory.  host: whose certificate it has to be. */
rf__tls_link *rf__tls_link_new(rf__tls *tls, int fd, const char *host);

/*
 * Says nothing to the peer: in a forked child that would end the parent's
 * connection.  NULL is fine.
 */
void rf__tls_link_free(rf__tls_link *link);

/*
 * Each of them returns 0, EAGAIN (wait for rf__tls_events()) or an errno value;
 * EACCES means that a person must look, and rf__tls_reason() says at what.
 * After anything but 0 and EAGAIN the connection is of no more use.
 */
int rf__tls_handshake(rf__tls_link *link);

/* To be repeated with the same bytes after EAGAIN; may take some of them. */
int rf__tls_send(rf__tls_link *link, const char *data, size_t len,
                 size_t *sent);

/* *got 0 is the peer's end. */
int rf__tls_recv(rf__tls_link *link, char *data, size_t size, size_t *got);

/* Whether there is something to receive, or never will be any more: 0. */
int rf__tls_ready(rf__tls_link *link);

short rf__tls_events(const rf__tls_link *link);

/* NULL, or what went wrong, in words.  Static storage. */
const char *rf__tls_reason(const rf__tls_link *link);

#endif /* RF_TLS_H */
