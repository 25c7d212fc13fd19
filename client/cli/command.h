/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * command.h - what a command of ringfence is, and one call of it
 *
 * One file per command; each defines one cli_command, and main.c lists them.
 * Help, manual pages and completion are made from these and from option.c.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <libpq-fe.h>
#include <ringfence.h>

#include "option.h"
#include "settings.h"

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;
    const char *operands; /* as the synopsis shows them         */
    int least, most;      /* how many; -1: any number           */
    int command_line;     /* 1: -- and a command must follow    */
    const char *summary;  /* a few words, for the list          */
    const char *text;     /* paragraphs, parted by empty lines  */
    const char *example;  /* lines for a shell                  */
    const cli_option_id *options;
    int (*run)(cli_call *call); /* returns the exit code */
} cli_command;

/* The last one's name is NULL. */
extern const cli_command *const cli_commands[];

struct cli_call {
    const cli_command *command;
    const char *value[OPT_COUNT_OF]; /* NULL: not given; a switch's is "" */
    char **operand;
    int operands;
    char **rest; /* what stands after --, ended by NULL */
    int rests;
    cli_settings settings;
    rf_client *client; /* NULL until cli_open()    */
    PGconn *conn;      /* NULL until cli_connect() */
};

/* The options of everything that talks to the lock service. */
#define CLI_LOCK_OPTIONS OPT_URL, OPT_PREFIX, OPT_TIMEOUT, OPT_CONFIG
/* Of what may also ask the database. */
#define CLI_PG_OPTIONS OPT_PG, OPT_NO_PG
/* Of everything; ends the list. */
#define CLI_ALL_OPTIONS OPT_JSON, OPT_HELP, OPT_END

int cli_json(const cli_call *call); /* 1: machines read the output */

/* Read the settings and make the client.  0, or the exit code. */
int cli_open(cli_call *call);

/* ---- Grants (grant.c) ------------------------------------------------- */

/* A grant as it goes from one command to another. */
typedef struct cli_grant {
    char resource[RF_RESOURCE_MAX + 1];
    rf_fence fence;
    char holder[RF_HOLDER_LEN + 1];
} cli_grant;

/*
 * Take the lock as the options say, with its claim when a database is set.
 * 0 and the lock, or the exit code after its message.
 */
int cli_take(cli_call *call, const char *resource, rf_lock **out);

/* The grant of the environment, or of --stdin.  0, or the exit code. */
int cli_grant_read(cli_call *call, cli_grant *out);

/* Go on with that grant.  0 and the lock, or the exit code. */
int cli_grant_attach(cli_call *call, rf_lock **out);

/* Say what became of a call about a resource.  Returns the exit code. */
int cli_tell(cli_call *call, const char *resource, rf_status status);

/* ---- The commands ----------------------------------------------------- */

extern const cli_command cli_run, cli_acquire, cli_renew, cli_release,
    cli_inspect, cli_list, cli_watch, cli_force_release, cli_guard, cli_heal,
    cli_audit_command, cli_drill, cli_doctor;

#endif /* CLI_COMMAND_H */
