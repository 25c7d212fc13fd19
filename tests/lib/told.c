/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * told.c - what an examination has told
 */
#include "told.h"
#include "rf_test.h"

#include <stdio.h>
#include <string.h>

void told_note(const rf_finding *finding, void *arg)
{
    told *t = arg;
    size_t used = strlen(t->all);

    assert_string_not_equal(finding->where, "");
    assert_string_not_equal(finding->found, "");
    if (finding->severity != RF_FINE) {
        assert_string_not_equal(finding->meaning, "");
        assert_string_not_equal(finding->remedy, "");
    }
    t->of[finding->severity]++;
    snprintf(t->all + used, sizeof(t->all) - used, "%s=%s;", finding->subject,
             finding->found);
}

int told_times(const told *t, const char *what)
{
    int n = 0;

    for (const char *at = t->all; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}
