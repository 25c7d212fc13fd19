/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_world.h - what tests of locks have around them
 *
 * One Redis for a program's tests; for each of them an empty keyspace and a
 * client, straight to the server or through a fault proxy.
 */
#ifndef REDIS_WORLD_H
#define REDIS_WORLD_H

#include "proxy.h"
#include "redis_server.h"
#include "rf_test.h"

extern redis_server *server;
extern proxy *fault; /* NULL: the client talks straight to the server */
extern rf_client *client;

/* The keys of a resource, for redis_server_command(). */
#define LOCK    "{lock:v1:%s}"
#define COUNTER "{lock:v1:%s}:fence"

/* For the group. */
int redis_world_start(void **state);
int redis_world_stop(void **state);

/* Before each test: 0 when all is there. */
int redis_world_open(int timeout_ms);
int redis_world_open_far(int timeout_ms); /* through the proxy */

/* After each test. */
int redis_world_close(void **state);

#endif /* REDIS_WORLD_H */
