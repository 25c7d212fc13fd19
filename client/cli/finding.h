/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * finding.h - what was found, how bad it is, and what to do about it
 */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include "command.h"
#include "output.h"

/* Texts that there are none of are "". */
typedef struct cli_finding {
    rf_severity severity;
    const char *where;   /* a server, or nothing */
    const char *subject; /* what was looked at   */
    const char *found;   /* what it is           */
    const char *meaning; /* for the fence        */
    const char *remedy;  /* what to change       */
} cli_finding;

typedef struct cli_findings {
    const cli_call *call;
    rf_severity worst;
    int told;
    json_t *json; /* all of them, when machines read; else NULL */
    json_t *seen; /* which were told of a server                 */
} cli_findings;

/* 0, or the exit code. */
int cli_findings_begin(cli_findings *all, const cli_call *call);

/* Tell one, at once when people read. */
void cli_findings_add(cli_findings *all, const cli_finding *finding);

/* One of the library's; all is a cli_findings. */
void cli_findings_pass_on(const rf_finding *finding, void *all);

/* The exit code: 0, CLI_WARNING or CLI_NO. */
int cli_findings_end(cli_findings *all);

/* "ok", "notice", "warning", "critical"; and the way back. */
const char *cli_severity_name(rf_severity severity);
rf_severity cli_severity_of(const char *name);

#endif /* CLI_FINDING_H */
