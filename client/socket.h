/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * socket.h - bytes to and from a server, never beyond a deadline
 *
 * Signals don't stretch a deadline, a closed peer raises no SIGPIPE, and
 * nothing is inherited by programs that the caller starts.
 */
#ifndef RF_SOCKET_H
#define RF_SOCKET_H

#include <sys/types.h>

#include "internal.h"
#include "url.h"

/* RF_OK with *fd connected; RF_RETRY or RF_MISUSE with a text and *fd -1. */
rf_status rf__socket_connect(const rf__url *url, int64_t deadline_ms,
                             rf__error *error, int *fd);

/*
 * Send all of it.  Returns 0, or an errno value: ETIMEDOUT when the deadline
 * came first.  *sent is how many bytes the kernel took.
 */
int rf__socket_send(int fd, const char *data, size_t len, int64_t deadline_ms,
                    size_t *sent);

/* Receive what there is, at least one byte.  *got 0 is the peer's end. */
int rf__socket_recv(int fd, char *data, size_t size, int64_t deadline_ms,
                    size_t *got);

#endif /* RF_SOCKET_H */
