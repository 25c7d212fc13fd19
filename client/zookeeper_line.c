/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_line.c - who stands where in front of a lock
 *
 * (ZooKeeper's "Locks" in its Recipes and Solutions.)  The numbers tell the
 * order in which nodes were made in one folder, and nothing else: they begin
 * anew with a new folder, and after the greatest comes the least.
 */
#include "zookeeper_line.h"

#include <string.h>

static int is_before(const char *a, const char *b)
{
    int32_t number_a, number_b;

    if (!rf__zoo_number(a, &number_a))
        return 1;
    return rf__zoo_number(b, &number_b) &&
           rf__zoo_is_before(number_a, number_b);
}

static int is_of(const char *name, const char *holder)
{
    return strncmp(name, holder, RF_HOLDER_LEN) == 0 &&
           name[RF_HOLDER_LEN] == '-';
}

rf__zoo_line rf__zoo_line_up(const rf__zoo_reply *list, const char *own,
                             const char *holder)
{
    rf__zoo_line line = { NULL, NULL, NULL, NULL };
    const char *name = list->names;

    for (size_t i = 0; i < list->n; i++, name += strlen(name) + 1) {
        if (line.first == NULL || is_before(name, line.first))
            line.first = name;
        if (strcmp(name, own) == 0)
            line.own = name;
        else if (own[0] != '\0' && is_before(name, own) &&
                 (line.before == NULL || is_before(line.before, name)))
            line.before = name;
        if (is_of(name, holder))
            line.found = name;
    }
    return line;
}
