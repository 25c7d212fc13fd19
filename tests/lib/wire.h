/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wire.h - a bad line between a client and a server
 *
 * Passes bytes on without looking at them, from a free port of the loopback to
 * another port there, and fails after a number of them: for what can't be told
 * apart by requests and replies, like a TLS handshake.
 */
#ifndef WIRE_H
#define WIRE_H

typedef struct wire wire;

typedef enum wire_fault {
    WIRE_PASS,
    WIRE_CUT,    /* of each connection, after so many bytes of the server's */
    WIRE_SILENT, /* the same, but it stays open and says nothing any more   */
    WIRE_DRIBBLE /* all the server's bytes, one by one                      */
} wire_fault;

wire *wire_start(int port);
void wire_stop(wire *w);
int wire_port(const wire *w);

/* For connections made from now on. */
void wire_set(wire *w, wire_fault fault, long after);

/*
 * Hold the next request back in which the text stands, whoever sends it and
 * whether or not that one still waits.  It arrives with wire_let_go(), which
 * ends when the server has answered or hung up.
 */
void wire_hold(wire *w, const char *text);
int wire_is_holding(wire *w);
void wire_let_go(wire *w);

/* How many connections there were, and bytes from the server in the last. */
int wire_connections(wire *w);
long wire_bytes(wire *w);

#endif /* WIRE_H */
