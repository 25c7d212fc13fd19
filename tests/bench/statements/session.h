/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * session.h - one connection, on which every contestant of a database is
 * prepared
 *
 * All contestants of a client use one backend, so that none has the better
 * place in memory; those in another database can't.  Failures end the program.
 */
#ifndef SESSION_H
#define SESSION_H

#include "plan.h"

typedef struct session session;

/* To the database of that contestant. */
session *session_open(const plan *p, size_t contestant, size_t client);
bool session_is_of(const plan *p, size_t contestant, size_t other);
void session_close(session *s);

/* Run once for the plan and for each contestant; not measured. */
void session_setup(session *s, const plan *p);

/* What must be done before the contestant's statement is executed. */
void session_before(session *s, size_t contestant);

/* The contestant's statements: one transaction, one round trip. */
void session_execute(session *s, size_t contestant);

/* Processor time that the backend has used, in microseconds. */
double session_cpu_us(const session *s);

/* Where the log stands, in bytes. */
double session_wal(session *s);

#endif /* SESSION_H */
