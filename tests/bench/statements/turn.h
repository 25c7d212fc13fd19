/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * turn.h - one contestant's turn in a round
 */
#ifndef TURN_H
#define TURN_H

#include "plan.h"
#include "session.h"

typedef struct turn {
    double us;     /* per execution; with several clients, of all together */
    double cpu_us; /* of the backend, per execution */
    double wal;    /* bytes per execution */
} turn;

turn turn_take(const plan *p, session **sessions, size_t contestant);

#endif /* TURN_H */
