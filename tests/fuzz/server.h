/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * server.h - a server that answers what a fuzzer wants
 *
 * Takes the place of the network and of time: whoever connects, reaches it, and
 * waiting costs nothing.  All connections are served from one list of answers,
 * in the order in which requests come.
 *
 * An answer is bytes, of which some stand for what the client wants to read:
 *
 *   01  the holder, as a bulk string     04  take what has come so far first
 *   02  the tag                          05  close the connection
 *   03  the name of the script           06  the answer before, once more
 *   ff  end of this answer
 *
 * When there is none left, or it is empty, nothing comes and time goes by.
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include <stddef.h>
#include <stdint.h>

void server_begin(const uint8_t *answers, size_t size);

/* After all is closed: how many of its connections are still open. */
int server_open(void);

#endif /* FUZZ_SERVER_H */
