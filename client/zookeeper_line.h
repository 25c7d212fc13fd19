/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_line.h - who stands where in front of a lock
 */
#ifndef RF_ZOOKEEPER_LINE_H
#define RF_ZOOKEEPER_LINE_H

#include "zookeeper.h"

/* Each is a name in the list, or NULL. */
typedef struct rf__zoo_line {
    const char *first;  /* has the lock                       */
    const char *own;    /* of the name that was asked about   */
    const char *before; /* the next one in front of own       */
    const char *found;  /* any of the holder's                */
} rf__zoo_line;

/*
 * A name without a number stands in front of all: what is not understood is
 * nothing to go past.
 */
rf__zoo_line rf__zoo_line_up(const rf__zoo_reply *list, const char *own,
                             const char *holder);

#endif /* RF_ZOOKEEPER_LINE_H */
