/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * loop.h - an event loop for tests, and a client in it
 */
#ifndef LOOP_H
#define LOOP_H

#include "ringfence_async.h"

typedef struct loop loop;

/* With a client in it whose connections go to the Unix socket of this URL. */
loop *loop_open(const char *url, const rf_options *opts);

/* Now, and no tick afterwards. */
void loop_close_client(loop *l);

/* Closes the client, unless that was done, and sees that no event is left. */
void loop_close(loop *l);

rf_client *loop_client(loop *l);

/* How many connections it has made, and whether it gives any. */
int loop_connections(const loop *l);
void loop_refuse(loop *l, int refuse);

/* Go round until *what is at least n; the program ends after half a minute. */
void loop_until(loop *l, const int *what, int n);

/* Go round for so long. */
void loop_for(loop *l, int64_t ms);

#endif /* LOOP_H */
