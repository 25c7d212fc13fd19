/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * slots.c - which node of a cluster has which resource
 *
 * A slot moves in three steps: its keys are under way, and neither node serves
 * them; they are on the new node, which serves only who was sent on there; and
 * then all nodes have heard of it.
 */
#include "slots.h"

#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "network.h"
#include "world.h"

typedef enum step { AT_HOME, UNDER_WAY, ARRIVED } step;

typedef struct place {
    int owner; /* 0 or 1 */
    step step; /* of its move to the other */
    int slot;
} place;

static place places[RESOURCES];
static keyspace *nodes[2];
static int asked; /* the next command was sent on */

void slots_begin(keyspace *first, keyspace *second)
{
    static const char *const names[RESOURCES] = { "r0", "r1" };

    nodes[0] = first;
    nodes[1] = second;
    asked = 0;
    for (int r = 0; r < RESOURCES; r++) {
        places[r].owner = r;
        places[r].step = AT_HOME;
        if (places[r].slot == 0)
            places[r].slot = rf__slot("lock:v1:", names[r]);
    }
}

int slots_server(int resource)
{
    const place *p = &places[resource];

    return p->step == ARRIVED ? 1 - p->owner : p->owner;
}

/* "{lock:v1:r0}:fence" */
static int resource_of(const char *key)
{
    return strchr(key, '}')[-1] - '0';
}

static void point(reply *out, const char *how, int resource, int node)
{
    char text[64];

    snprintf(text, sizeof(text), "%s %d 10.0.0.%d:6379", how,
             places[resource].slot, node + 1);
    reply_error(out, text);
}

int slots_refuse(int server, const char *key, reply *out)
{
    int resource = resource_of(key), was_asked = asked;
    const place *p = &places[resource];

    asked = 0;
    if (weakness == SIM_ANY_NODE)
        return 0;
    if (server == p->owner && p->step == UNDER_WAY)
        reply_error(out, "TRYAGAIN Multiple keys request during rehashing");
    else if (server == p->owner && p->step == ARRIVED)
        point(out, "ASK", resource, 1 - p->owner);
    else if (server != p->owner && !(p->step == ARRIVED && was_asked))
        point(out, "MOVED", resource, p->owner);
    else
        return 0;
    return 1;
}

void slots_ask(reply *out)
{
    asked = 1;
    reply_word(out, "OK");
}

static void tell_range(reply *out, int from, int to, int node)
{
    char host[24];

    snprintf(host, sizeof(host), "10.0.0.%d", node + 1);
    reply_array(out, 3);
    reply_number(out, from);
    reply_number(out, to);
    reply_array(out, 2);
    reply_word(out, host);
    reply_number(out, 6379);
}

/* As all nodes know it, or as one did that has not heard of the last move. */
void slots_tell(reply *out)
{
    int first = places[0].slot < places[1].slot ? 0 : 1;
    int wrong = sim_strikes(SIM_MISLEAD);

    reply_array(out, 2);
    tell_range(out, 0, places[first].slot, places[first].owner ^ wrong);
    tell_range(out, places[first].slot + 1, RF__SLOTS - 1,
               places[1 - first].owner ^ wrong);
}

/* ---- A move ---------------------------------------------------------------------- */

static void move_keys(int resource)
{
    keyspace *from = nodes[places[resource].owner];
    keyspace *to = nodes[1 - places[resource].owner];

    for (int i = 0; i < from->count; i++) {
        entry *e = &from->keys[i], *fresh;

        if (e->len == 0 || resource_of(e->name) != resource)
            continue;
        fresh = keyspace_make(to, e->name, e->len);
        *fresh = *e;
        /* Each node has a wall clock of its own: what moves is the time left. */
        if (e->expires >= 0)
            fresh->expires += keyspace_wall(to) - keyspace_wall(from);
        keyspace_remove(e);
    }
}

static void go_on(void *what, int64_t resource)
{
    place *p = what;

    if (p->step == UNDER_WAY) {
        move_keys((int)resource);
        p->step = ARRIVED;
        sim_at(sim_now() + sim_between(0, 60), go_on, p, resource);
    } else {
        p->owner = 1 - p->owner;
        p->step = AT_HOME;
    }
    sim_trace("cluster: resource %d is on node %d now, step %d", (int)resource,
              slots_server((int)resource), (int)p->step);
}

void slots_migrate(void)
{
    int resource = (int)sim_between(0, RESOURCES - 1);
    place *p = &places[resource];

    if (p->step != AT_HOME)
        return;
    p->step = UNDER_WAY;
    sim_at(sim_now() + sim_between(0, 20), go_on, p, resource);
}
