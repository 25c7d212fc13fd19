/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * weak.c - the client, weakened on purpose
 *
 * What belongs to a server is weakened where the server is.
 */
#include "ballot.h"
#include "client.h"
#include "lock.h"
#include "section.h"
#include "servers.h"

int __real_rf__unkeep(rf_lock *lock);
int __wrap_rf__unkeep(rf_lock *lock);

/* The keeper does not hear of a release, and goes on. */
int __wrap_rf__unkeep(rf_lock *lock)
{
    if (weakness != SIM_KEEPS_ON)
        return __real_rf__unkeep(lock);
    lock->kept = NULL;
    return 1;
}

/* A quorum that is content with less than half. */
void weaken(rf_client *client)
{
    rf__quorum *q = (rf__quorum *)client->source;

    if (weakness == SIM_MINORITY && servers_are_quorum())
        q->majority = q->n / 2;
}
