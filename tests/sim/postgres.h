/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * postgres.h - between the simulated server and the simulated libpq
 */
#ifndef SIM_POSTGRES_H
#define SIM_POSTGRES_H

#include <stdint.h>

#define STEPS_MAX  5
#define VALUES_MAX 4

typedef enum step_kind {
    STEP_TEXT,
    STEP_PREPARE, /* the one name that there is */
    STEP_NAMED    /* by that name, sql empty    */
} step_kind;

typedef struct step {
    step_kind kind;
    char sql[80];
    int n;
    char values[VALUES_MAX][40];
} step;

typedef enum answer_kind {
    ANSWER_NONE,
    ANSWER_ROW, /* success, with or without a row */
    ANSWER_ERROR,
    ANSWER_SKIPPED, /* an earlier step failed         */
    ANSWER_FATAL    /* and the connection ends        */
} answer_kind;

typedef struct answer {
    answer_kind kind;
    int has_row;
    char value[24], tag[16], sqlstate[6];
    char process[24]; /* a second column, when not empty */
} answer;

/* What travels together: steps there, answers back. */
typedef struct request {
    int64_t life;
    int n, lost;
    int ready; /* at the Sync: 0 idle, 1 in a transaction, 2 in a failed one */
    step steps[STEPS_MAX];
    answer answers[STEPS_MAX + 1]; /* the last: instead of the Sync's */
} request;

typedef struct session session;

/* postgres.c */
#define RECEIPTS_MAX 256 /* numbers of operations are below */
void postgres_begin(void);
void postgres_nemesis(void);
struct pg_conn *postgres_connect(void);
session *server_session(void *client);
int server_process(const session *s);
void server_receives(session *s, request *r); /* r is the server's now */
void server_client_gone(session *s);

/* libpq.c: answers go back the way the request came */
void libpq_begin(void);
void drop_request(request *r);
void answer_row(request *r, int at, const char *value, const char *tag);
void answer_process(request *r, int at, int process); /* of a row, as well */
void answer_error(request *r, int at, const char *sqlstate);
void answer_skipped(request *r, int at);
void client_gets(void *client, request *r, int ready);
void client_gets_fatal(void *client, request *r, int at, const char *sqlstate);
void client_is_cut(void *client);

#endif /* SIM_POSTGRES_H */
