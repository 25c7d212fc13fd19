/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * network.h - what becomes of the messages between clients and servers
 */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "keyspace.h"
#include "world.h"

void network_begin(void);
int64_t network_sent(void); /* requests so far: each has its number */

/* ---- For servers.c: server is its number ----------------------------------- */

void network_cut(int server); /* all connections to it */

/* Somebody got an element: who waits for it there? */
void network_pushed(int server, const char *key);

/* ---- For system.c ----------------------------------------------------------- */

/* Descriptors below are ours, those from here on are libpq's. */
#define LIBPQ_FD_FIRST 3000

short network_ready(int fd, short events);
void network_set_waiting(int fd, sim_task *task);
int network_close(int fd);
short libpq_ready(int fd, short events);
void libpq_set_waiting(int fd, sim_task *task);

#endif /* SIM_NETWORK_H */
