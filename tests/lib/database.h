/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * database.h - the database of a test program, as tests talk to it
 *
 * The runner made it and says in the environment where it is.  Whatever fails
 * here ends the program: a test without its database proves nothing.
 */
#ifndef DATABASE_H
#define DATABASE_H

#include <libpq-fe.h>

/* Connect.  options: more of a connection string, or "".  End with PQfinish. */
PGconn *database_connect(const char *options);

/* Run statements that must not fail. */
void database_run(PGconn *conn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The single value of a query, NULL as -1. */
long long database_number(PGconn *conn, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* End somebody's session, and wait until it is gone. */
void database_terminate(PGconn *conn, const PGconn *whose);

/* Wait until a session is waiting for a lock. */
void database_await_blocked(PGconn *conn, const PGconn *whose);

#endif /* DATABASE_H */
