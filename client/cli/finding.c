/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * finding.c - what was found, how bad it is, and what to do about it
 */
#include "finding.h"

#include <string.h>

#include "exit.h"
#include "help.h"

static const struct {
    const char *name;
    cli_colour colour;
} severities[RF_SEVERITIES] = { [RF_FINE] = { "ok", CLI_GREEN },
                                [RF_NOTICE] = { "notice", CLI_BOLD },
                                [RF_WARNING] = { "warning", CLI_YELLOW },
                                [RF_CRITICAL] = { "critical", CLI_RED } };

const char *cli_severity_name(rf_severity severity)
{
    return severities[severity].name;
}

rf_severity cli_severity_of(const char *name)
{
    for (int i = 0; i < RF_SEVERITIES; i++) {
        if (strcmp(severities[i].name, name) == 0)
            return (rf_severity)i;
    }
    /* A word that is not known is not taken for harmless. */
    return RF_CRITICAL;
}

int cli_findings_begin(cli_findings *all, const cli_call *call)
{
    memset(all, 0, sizeof(*all));
    all->call = call;
    if (!cli_json(call))
        return 0;
    all->json = json_array();
    return all->json != NULL ? 0 : cli_fail(RF_NOMEM, "out of memory");
}

static void add_json(cli_findings *all, const cli_finding *f)
{
    (void)json_array_append_new(
        all->json, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "severity",
                             cli_severity_name(f->severity), "where", f->where,
                             "subject", f->subject, "found", f->found,
                             "meaning", f->meaning, "remedy", f->remedy));
}

static void show(const cli_finding *f)
{
    cli_colour colour = severities[f->severity].colour;

    (void)printf("%s%-9s%s ", cli_colour_on(colour),
                 cli_severity_name(f->severity), cli_colour_off(colour));
    if (*f->where != '\0')
        (void)printf("%s: ", f->where);
    (void)printf("%s%s%s\n", f->subject,
                 *f->subject != '\0' && *f->found != '\0' ? ": " : "",
                 f->found);
    if (*f->meaning != '\0')
        cli_help_indented(f->meaning, 10);
    /* Often a statement: not to be broken in the middle. */
    if (*f->remedy != '\0')
        (void)printf("%10s-> %s\n", "", f->remedy);
}

void cli_findings_add(cli_findings *all, const cli_finding *finding)
{
    all->told++;
    if (finding->severity > all->worst)
        all->worst = finding->severity;
    if (all->json != NULL)
        add_json(all, finding);
    else
        show(finding);
}

int cli_findings_end(cli_findings *all)
{
    if (all->json != NULL)
        (void)cli_print_json(all->json);
    all->json = NULL;
    if (all->worst == RF_CRITICAL)
        return CLI_NO;
    return all->worst == RF_WARNING ? CLI_WARNING : CLI_DONE;
}
