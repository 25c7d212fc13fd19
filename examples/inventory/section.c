/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * section.c - lock all, keep all, claim all; in this order
 *
 * The locks are short and a keeper renews them, so that a service that dies
 * blocks its articles for two seconds, and one that waits for somebody may take
 * its time, but not for ever.
 */
#include "section.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "query.h"

#define TTL_MS      2000
#define WAIT_MS     20000
#define HOLD_MAX_MS 8000

int section_init(section *s)
{
    if (pipe(s->bell) != 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(s->bell[i], F_SETFL, O_NONBLOCK);
        (void)fcntl(s->bell[i], F_SETFD, FD_CLOEXEC);
    }
    return 1;
}

/* On the keeper's thread, where little is allowed: ring. */
static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    const section *s = arg;
    int kept = errno;

    (void)lock;
    (void)reason;
    /* A bell that is full rings already. */
    if (write(s->bell[1], "!", 1) < 0)
        errno = kept;
}

/* What rang for the section before is no news for this one. */
static void silence(section *s)
{
    char rung[LINES_MAX];

    while (read(s->bell[0], rung, sizeof(rung)) > 0)
        ;
}

static rf_status lock_all(section *s, rf_client *client, PGconn *conn,
                          const request *r)
{
    rf_acquire_options options = RF_ACQUIRE_INIT;
    char names[LINES_MAX][NAME_SIZE + 8];
    const char *resources[LINES_MAX];

    for (size_t i = 0; i < r->n; i++) {
        snprintf(names[i], sizeof(names[i]), "stock:%s", r->lines[i].sku);
        resources[i] = names[i];
    }
    options.ttl_ms = TTL_MS;
    options.wait_ms = WAIT_MS;
    options.ask_floor = rf_pg_floor; /* when Redis has lost its memory */
    options.ask_floor_arg = conn;
    return rf_acquire_all(client, resources, r->n, &options, s->locks);
}

rf_status section_open(section *s, rf_client *client, PGconn *conn,
                       const request *r)
{
    rf_keep_options keep = RF_KEEP_INIT;
    rf_status status;

    silence(s);
    s->n = 0;
    status = lock_all(s, client, conn, r);
    if (status != RF_OK)
        return status;
    s->n = r->n;
    keep.hold_max_ms = HOLD_MAX_MS;
    keep.on_lost = on_lost;
    keep.arg = s;
    for (size_t i = 0; i < s->n && status == RF_OK; i++)
        status = rf_pg_claim(conn, s->locks[i]);
    for (size_t i = 0; i < s->n && status == RF_OK; i++)
        status = rf_keep(s->locks[i], &keep);
    return status;
}

/* A transaction begins with one claim; the others are made in it. */
static rf_status claim_too(PGconn *conn, const rf_lock *lock)
{
    char fence[24];
    const char *values[] = { rf_lock_resource(lock), fence,
                             rf_lock_holder(lock) };

    snprintf(fence, sizeof(fence), "%lld", (long long)rf_lock_fence(lock));
    return query(conn, "SELECT ringfence.guard($1, $2, $3)", 3, values, NULL);
}

rf_status section_begin(section *s, PGconn *conn)
{
    rf_status status = rf_pg_begin(conn, s->locks[0], RF_PG_READ_COMMITTED);

    if (status != RF_OK)
        return status;
    for (size_t i = 1; i < s->n && status == RF_OK; i++)
        status = claim_too(conn, s->locks[i]);
    if (status != RF_OK)
        (void)rf_pg_rollback(conn, s->locks[0]);
    return status;
}

void section_close(section *s)
{
    /* Whatever comes of it: a lock that is not given back runs out. */
    (void)rf_release_all(s->locks, s->n);
    s->n = 0;
}
