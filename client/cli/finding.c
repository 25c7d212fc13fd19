/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * finding.c - what was found, how bad it is, and what to do about it
 */
#include "finding.h"

#include <stdlib.h>
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
    all->seen = json_object();
    all->json = cli_json(call) ? json_array() : NULL;
    return all->seen != NULL && (all->json != NULL || !cli_json(call))
               ? 0
               : cli_fail(RF_NOMEM, "out of memory");
}

static void add_json(cli_findings *all, const cli_finding *f)
{
    (void)json_array_append_new(
        all->json, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "severity",
                             cli_severity_name(f->severity), "where", f->where,
                             "subject", f->subject, "found", f->found,
                             "meaning", f->meaning, "remedy", f->remedy));
}

/* Names in it may be other people's. */
static void print_clean(const char *text)
{
    char *line = strdup(text);

    if (line == NULL)
        return;
    cli_clean(line);
    (void)fputs(line, stdout);
    free(line);
}

static void show(const cli_finding *f)
{
    cli_colour colour = severities[f->severity].colour;

    (void)printf("%s%-9s%s ", cli_colour_on(colour),
                 cli_severity_name(f->severity), cli_colour_off(colour));
    print_clean(f->where);
    (void)fputs(*f->where != '\0' ? ": " : "", stdout);
    print_clean(f->subject);
    (void)fputs(*f->subject != '\0' && *f->found != '\0' ? ": " : "", stdout);
    print_clean(f->found);
    (void)putchar('\n');
    if (*f->meaning != '\0')
        cli_help_indented(f->meaning, 10);
    /* Often a statement: not to be broken in the middle. */
    if (*f->remedy != '\0') {
        (void)printf("%10s-> ", "");
        print_clean(f->remedy);
        (void)putchar('\n');
    }
}

void cli_findings_pass_on(const rf_finding *finding, void *arg)
{
    cli_finding f = { .severity = finding->severity,
                      .where = finding->where,
                      .subject = finding->subject,
                      .found = finding->found,
                      .meaning = finding->meaning,
                      .remedy = finding->remedy };

    cli_findings_add(arg, &f);
}

/*
 * The locks may be kept by the database that judges: what is the same of both is
 * not said twice.
 */
static int is_repeated(cli_findings *all, const cli_finding *f)
{
    char key[1024];

    if (*f->where == '\0')
        return 0;
    (void)snprintf(key, sizeof(key), "%s: %s: %s", f->where, f->subject,
                   f->found);
    if (json_object_get(all->seen, key) != NULL)
        return 1;
    (void)json_object_set_new(all->seen, key, json_true());
    return 0;
}

void cli_findings_add(cli_findings *all, const cli_finding *finding)
{
    if (is_repeated(all, finding))
        return;
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
    json_decref(all->seen);
    all->seen = NULL;
    if (all->worst == RF_CRITICAL)
        return CLI_NO;
    return all->worst == RF_WARNING ? CLI_WARNING : CLI_DONE;
}
