/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * child.h - a command in a process group of its own
 *
 * Signals go to the whole group.  On a terminal the group gets the keyboard, as
 * a shell would give it.  Should we be killed, the command is told to stop.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <signal.h>
#include <sys/types.h>

typedef struct cli_child {
    pid_t pid;    /* of the command, and of its group                */
    int terminal; /* 1: the group has the keyboard                   */
    int ended;    /* 1: the command itself is over                   */
    int status;   /* then: as waitpid() tells                        */
} cli_child;

/*
 * Start it.  mask: what the command's signal mask shall be.  0, or the errno of
 * what could not be done.  From here on whatever of the group loses its parent
 * becomes our child.
 */
int cli_child_start(cli_child *child, char **command_line,
                    const sigset_t *mask);

/* To the whole group; one that is stopped is let go on. */
void cli_child_signal(const cli_child *child, int signal);
void cli_child_stop(const cli_child *child, int signal);

/*
 * Look at what has ended or stopped, without waiting.  Returns 1 when nothing of
 * the group is left.
 */
int cli_child_look(cli_child *child);

/* Take the keyboard back. */
void cli_child_end(cli_child *child);

/* The exit code that a shell would show. */
int cli_child_code(const cli_child *child);

#endif /* CLI_CHILD_H */
