/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * libpq_rest.c - the part of libpq that nobody may come to in here
 *
 * What only locks in PostgreSQL need.
 */
#include <libpq-fe.h>

#include "world.h"

#define NOBODY(type, name, parameters)                          \
    type name parameters                                        \
    {                                                           \
        sim_fail("simulator: " #name "() belongs to a library " \
                 "that is not here");                           \
    }

/* NOLINTBEGIN */
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOBODY(int, PQconnectionNeedsPassword, (const PGconn *conn))
NOBODY(PQconninfoOption *, PQconninfoParse, (const char *text, char **error))
NOBODY(void, PQconninfoFree, (PQconninfoOption * options))
NOBODY(void, PQfreemem, (void *at))
NOBODY(PGconn *, PQconnectStartParams,
       (const char *const *words, const char *const *values, int expand))
NOBODY(PostgresPollingStatusType, PQconnectPoll, (PGconn * conn))
NOBODY(PGVerbosity, PQsetErrorVerbosity, (PGconn * conn, PGVerbosity verbosity))
NOBODY(PGnotify *, PQnotifies, (PGconn * conn))
NOBODY(int, PQgetlength, (const PGresult *result, int row, int column))
NOBODY(const char *, PQparameterStatus, (const PGconn *conn, const char *name))
NOBODY(char *, PQhost, (const PGconn *conn))
NOBODY(char *, PQdb, (const PGconn *conn))
/* NOLINTEND */
