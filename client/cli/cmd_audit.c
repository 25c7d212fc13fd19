/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_audit.c - every hole in the protection of the tables
 */
#include "audit.h"
#include "exit.h"

static int run(cli_call *call)
{
    cli_findings all;
    int code = cli_settings_read(call), worst;

    if (code == 0)
        code = cli_connect(call);
    if (code == 0)
        code = cli_findings_begin(&all, call);
    if (code != 0)
        return code;
    code = cli_audit(call, &all);
    if (code != 0) {
        json_decref(all.json);
        json_decref(all.seen);
        return code;
    }
    if (all.worst == RF_FINE && !cli_json(call))
        (void)puts("no hole was found");
    worst = cli_findings_end(&all);
    return worst;
}

int cli_audit(cli_call *call, cli_findings *all)
{
    int code;
    PGresult *holes = cli_ask(call,
                              "SELECT severity, object, problem, remedy FROM "
                              "ringfence.audit()",
                              0, NULL, &code);

    for (int row = 0; holes != NULL && row < PQntuples(holes); row++) {
        cli_finding f = { .severity = cli_severity_of(
                              PQgetvalue(holes, row, 0)),
                          .where = "",
                          .subject = PQgetvalue(holes, row, 1),
                          .found = PQgetvalue(holes, row, 2),
                          .meaning = "",
                          .remedy = PQgetvalue(holes, row, 3) };

        cli_findings_add(all, &f);
    }
    PQclear(holes);
    return code;
}

static const cli_option_id options[] = { OPT_PG, OPT_CONFIG, CLI_ALL_OPTIONS };

const cli_command cli_audit_command = {
    .name = "audit",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "every hole in the protection",
    .text = "Prints what ringfence.audit() finds in the database: each hole in "
            "the protection of its tables, the worst first, with the statement "
            "that mends it. 1 when one is critical (an unfenced write gets "
            "past), 2 when there are warnings, 0 otherwise.",
    .example = "ringfence audit",
    .options = options,
    .run = run,
};
