/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * certificates.h - what servers and clients of a test show each other
 */
#ifndef CERTIFICATES_H
#define CERTIFICATES_H

#include "redis_server.h"

/*
 * Make them in a folder of their own, and remove it.  Which there are stands in
 * certificates.sh.  Ends the program when they can't be made.
 */
void certificates_make(void);
void certificates_remove(void);

/* Path of one of them.  It stays. */
const char *certificate(const char *name);

/*
 * A server whose port speaks TLS with this certificate and nothing else; its
 * Unix socket stays in the clear.  more: further options, or NULL.
 */
redis_server *secure_server(const char *name, const char *const *more);

/* The same for clients that have a certificate of ca.pem, and no others. */
redis_server *picky_server(const char *const *more);

/*
 * Options for servers that talk TLS among themselves as well, with server.pem.
 * Static storage.
 */
const char *const *secure_options(void);

#endif /* CERTIFICATES_H */
