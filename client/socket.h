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

/*
 * armed_ms: how long the kernel lets a receive block; see rf__socket_recv().
 * reason: what a failure is called, when strerror() does not know it.
 */
typedef struct rf__socket {
    int fd; /* -1: not connected */
    int armed_ms;
    short events; /* what to wait for after EINPROGRESS and ETIMEDOUT */
    struct rf__tls_link *tls; /* NULL: in the clear */
    int refused; /* the peer is not whom we want, or does not want us */
    const char *reason;
} rf__socket;

/*
 * Connect, with TLS where url has it.  usual_ms is how long most receives on it
 * are going to be allowed to take.  RF_OK; otherwise RF_RETRY, RF_MISUSE or
 * RF_NOMEM with a text and fd -1.
 */
rf_status rf__socket_connect(rf__socket *s, const rf__url *url, int usual_ms,
                             int64_t deadline_ms, rf__error *error);
void rf__socket_close(rf__socket *s);

/*
 * Begin to connect to the which-th address (from 0) of url and return at once,
 * but for resolving a name: 0 with a descriptor, an errno value, or -1 when
 * there is no such address.  Then ask rf__socket_begun() when events are there:
 * 0 when connected, EINPROGRESS, or why not; then it is still to be closed.
 */
int rf__socket_begin(rf__socket *s, const rf__url *url, int which);
int rf__socket_begun(rf__socket *s, const rf__url *url, int usual_ms);

/*
 * What a failure on s means to the caller (RF_MISUSE: a person must look, else
 * RF_RETRY or RF_NOMEM), and what it is called.  Still known when it is closed.
 */
rf_status rf__socket_status(int failure);
const char *rf__socket_reason(const rf__socket *s, int failure);

/*
 * Send all of it.  Returns 0, or an errno value: ETIMEDOUT when the deadline
 * came first.  *sent is how many bytes the kernel took.
 */
int rf__socket_send(rf__socket *s, const char *data, size_t len,
                    int64_t deadline_ms, size_t *sent);

/*
 * Wait for something to receive: 0, an errno value, or ECANCELED when other_fd
 * became readable first.
 */
int rf__socket_await(rf__socket *s, int other_fd, int64_t deadline_ms);

/* Receive what there is, at least one byte.  *got 0 is the peer's end. */
int rf__socket_recv(rf__socket *s, char *data, size_t size, int64_t deadline_ms,
                    size_t *got);

#endif /* RF_SOCKET_H */
