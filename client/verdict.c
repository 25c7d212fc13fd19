/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * verdict.c - what a finding comes to, and telling of it
 */
#include "verdict.h"

#include <stdlib.h>

void rf__verdict_tell(const rf__examination *e, const char *where,
                      const char *subject, const char *found, rf__verdict v)
{
    rf_finding finding = { .severity = v.severity,
                           .where = where,
                           .subject = subject,
                           .found = found,
                           .meaning = v.meaning,
                           .remedy = v.remedy };

    e->on_finding(&finding, e->arg);
}

rf__verdict rf__verdict_on_members(size_t members, size_t named)
{
    static const rf__verdict fine = { RF_FINE, "", "" };
    static const rf__verdict alone = {
        RF_NOTICE,
        "Nobody gets a lock while it is away, and with its disk go its "
        "numbers.",
        "Three members, or five."
    };
    static const rf__verdict even = {
        RF_NOTICE,
        "An even number outlives no more failures than one member fewer.",
        "Three members, or five."
    };
    static const rf__verdict unnamed = {
        RF_NOTICE,
        "The URL names fewer: when those are away, the others aren't asked.",
        "Name all of them in the URL: a,b,c"
    };

    if (members == 1)
        return alone;
    if (members % 2 == 0)
        return even;
    return named < members ? unnamed : fine;
}

int rf__version_is_below(const char *version, long major, long minor)
{
    char *end;
    long has_major = strtol(version, &end, 10),
         has_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

    return has_major < major || (has_major == major && has_minor < minor);
}
