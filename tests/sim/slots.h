/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * slots.h - which node of a cluster has which resource
 */
#ifndef SIM_SLOTS_H
#define SIM_SLOTS_H

#include "keyspace.h"
#include "reply.h"

/* Two nodes, and what they have in memory. */
void slots_begin(keyspace *first, keyspace *second);

/* Who serves a resource at this moment. */
int slots_server(int resource);

/* 1: that node does not serve the key's slot to this request, and says so. */
int slots_refuse(int server, const char *key, reply *out);

/* ASKING, CLUSTER SLOTS */
void slots_ask(reply *out);
void slots_tell(reply *out);

/* A resource's slot begins to move to the other node. */
void slots_migrate(void);

#endif /* SIM_SLOTS_H */
