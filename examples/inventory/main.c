/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * inventory - a stock with reservations: nothing is promised twice
 *
 *     inventory URL PACKER <requests >answers
 *
 * Requests and answers are lines (request.h).  PACKER is a program that is run
 * with the number of each reservation that is to be shipped.  The database is
 * the one that PGHOST, PGDATABASE and so on name, with what schema.sql creates.
 * Any number of these may run at the same time, and any of them may be stopped
 * or killed anywhere.
 */
#include <poll.h>
#include <stdio.h>

#include "packer.h"
#include "stock.h"

#define ATTEMPTS 20

typedef struct service {
    rf_client *client;
    PGconn *conn;
    const char *packer;
    section section;
} service;

/* Read, compute, ask, write; all of it inside the section. */
static rf_status work(service *s, const request *r, answer *out)
{
    shelves shelves;
    int committed = 0, standing;
    rf_status status = rf_pg_resolve(s->conn, s->section.locks[0], r->id,
                                     &committed);

    *out = DONE; /* an attempt before this one had landed */
    if (status != RF_OK || committed)
        return status;
    status = stock_read(s->conn, r, &standing, &shelves);
    if (status != RF_OK)
        return status;
    *out = NONE;
    if (!standing && (r->verb == SHIP || r->verb == CANCEL))
        return RF_OK;
    *out = SHORT;
    if (!stock_compute(r, &shelves))
        return RF_OK;
    if (r->verb == SHIP)
        status = packer_ask(s->packer, r->number, s->section.bell[0]);
    *out = DONE;
    return status != RF_OK ? status
                           : stock_write(s->conn, &s->section, r, &shelves);
}

/* One section: a new lock, new reads. */
static rf_status attempt(service *s, request *r, answer *out)
{
    rf_status status = stock_lines(s->conn, r);

    *out = NONE;
    if (status != RF_OK || r->n == 0)
        return status;
    status = section_open(&s->section, s->client, s->conn, r);
    if (status == RF_OK)
        status = work(s, r, out);
    if (status != RF_OK)
        fprintf(stderr, "%s: %s %s\n", r->id, rf_status_name(status),
                rf_message(s->client));
    section_close(&s->section);
    return status;
}

/* May another section end better? */
static int again(rf_status status)
{
    switch (status) {
    case RF_LOST:      /* we were late: nothing of this one was written */
    case RF_STALE:     /* likewise, says the database                   */
    case RF_COLLISION: /* likewise                                      */
    case RF_UNKNOWN:   /* the next one looks for the receipt first      */
    case RF_RETRY:     /* nothing landed                                */
    case RF_TIMEOUT:   /* others were quicker all the time              */
    case RF_BUSY: return 1;
    default: return 0;
    }
}

static void serve(service *s, request *r)
{
    rf_status status = RF_RETRY;
    answer out = FAILED;

    for (int i = 0; i < ATTEMPTS && again(status); i++) {
        if (i > 0)
            poll(NULL, 0, 10 << (i < 6 ? i : 6)); /* let what is ill recover */
        if (PQstatus(s->conn) != CONNECTION_OK)
            PQreset(s->conn);
        status = attempt(s, r, &out);
    }
    if (status == RF_REFUSED)
        out = LATER;
    else if (status != RF_OK)
        out = FAILED;
    printf("%s %s%s%s\n", r->id, answer_word(out), status == RF_OK ? "" : " ",
           status == RF_OK ? "" : rf_status_name(status));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    rf_options options = RF_OPTIONS_INIT;
    service s = { 0 };
    char text[512];
    request r;

    options.breaker_failures = 5; /* nobody queues up behind a dead Redis */
    if (argc != 3 || !section_init(&s.section) ||
        rf_open(argv[1], &options, &s.client) != RF_OK) {
        fprintf(stderr, "usage: %s URL PACKER <requests >answers\n%s\n",
                argv[0], argc == 3 ? rf_message(NULL) : "");
        return 2;
    }
    s.packer = argv[2];
    s.conn = PQconnectdb("");
    while (fgets(text, sizeof(text), stdin) != NULL) {
        if (request_read(text, &r))
            serve(&s, &r);
        else
            printf("? failed: ID VERB NUMBER SKU COUNT is wanted\n");
    }
    PQfinish(s.conn);
    rf_close(s.client);
    return 0;
}
