/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * main.c - ringfence: finds the command and runs it
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "exit.h"
#include "help.h"
#include "output.h"

const cli_command *const cli_commands[] = { &cli_run,     &cli_acquire,
                                            &cli_renew,   &cli_release,
                                            &cli_inspect, &cli_list,
                                            &cli_watch,   &cli_doctor,
                                            &cli_guard,   &cli_force_release,
                                            &cli_heal,    &cli_audit_command,
                                            &cli_drill,   NULL };

int cli_json(const cli_call *call)
{
    return call->value[OPT_JSON] != NULL;
}

int cli_open(cli_call *call)
{
    rf_options opts = RF_OPTIONS_INIT;
    int64_t timeout_ms;
    rf_status status;
    int code;

    if (call->client != NULL)
        return 0;
    code = cli_duration(call, OPT_TIMEOUT, opts.timeout_ms, &timeout_ms);
    if (code == 0)
        code = cli_settings_read(call);
    if (code != 0)
        return code;
    if (call->settings.url == NULL)
        return cli_fail(RF_MISUSE,
                        "where are the locks? --url URL, RINGFENCE_URL, or "
                        "url = URL in ~/.config/ringfence or "
                        "/etc/ringfence.conf");
    if (timeout_ms > RF_TTL_MAX_MS)
        timeout_ms = RF_TTL_MAX_MS;
    opts.timeout_ms = (int)timeout_ms;
    if (call->settings.prefix != NULL)
        opts.prefix = call->settings.prefix;
    status = rf_open(call->settings.url, &opts, &call->client);
    if (status != RF_OK)
        return cli_fail(status, "%s", rf_message(NULL));
    return 0;
}

static const cli_command *find(const char *name)
{
    for (int i = 0; cli_commands[i] != NULL; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    }
    return NULL;
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_call call = { .command = command };
    int code = cli_parse(&call, argc, argv);

    if (code == 0 && call.value[OPT_HELP] != NULL) {
        cli_help(command);
    } else if (code == 0) {
        if (cli_json(&call))
            cli_fail_in_json();
        code = command->run(&call);
    }
    rf_close(call.client);
    PQfinish(call.conn);
    cli_settings_free(&call.settings);
    return code;
}

/* What "make" asks for: pages and completion, from the same tables. */
static int print_page(int argc, char **argv)
{
    const cli_command *command = argc > 2 ? find(argv[2]) : NULL;

    if (argc > 2 && command == NULL)
        return cli_fail(RF_MISUSE, "no command \"%s\"", argv[2]);
    if (command != NULL)
        cli_man(command);
    else
        cli_man_all();
    return CLI_DONE;
}

static int start(int argc, char **argv)
{
    const cli_command *command;

    if (argc < 2 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "help") == 0) {
        cli_help_all();
        return argc < 2 ? cli_fail(RF_MISUSE, "no command") : CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("ringfence %s\n", rf_version());
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--man") == 0)
        return print_page(argc, argv);
    if (strcmp(argv[1], "--completion") == 0) {
        cli_completion();
        return CLI_DONE;
    }
    command = find(argv[1]);
    if (command == NULL)
        return cli_fail(RF_MISUSE,
                        "no command \"%s\"; \"ringfence --help\" lists them",
                        argv[1]);
    return run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    /* A reader that has gone is a failure like any other, and told. */
    (void)signal(SIGPIPE, SIG_IGN);
    cli_output_begin();
    return cli_output_end(start(argc, argv));
}
