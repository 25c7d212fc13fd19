/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * child.c - a command in a process group of its own
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit.h"

/* Who is in the background must not touch the keyboard, unless it ignores. */
static void give_terminal(pid_t group)
{
    sigset_t ttou, before;

    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &before);
    (void)tcsetpgrp(STDIN_FILENO, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static int has_terminal(void)
{
    return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/*
 * In the child, between fork and exec: only what is safe while other threads of
 * the parent may have held any lock.
 */
static void become(char **command_line, int terminal, pid_t parent,
                   const sigset_t *mask)
{
    setpgid(0, 0);
    if (terminal)
        give_terminal(getpid());
    /* No handler lives on, but "ignore" would. */
    (void)signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return;
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command_line[0], command_line);
}

int cli_child_start(cli_child *child, char **command_line, const sigset_t *mask)
{
    pid_t parent = getpid();
    int told[2], failure = 0;

    child->ended = 0;
    child->terminal = has_terminal();
    /* So that none of the group gets out of sight when its parent ends. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(told, O_CLOEXEC) != 0)
        return errno;
    child->pid = fork();
    if (child->pid == 0) {
        become(command_line, child->terminal, parent, mask);
        failure = errno;
        (void)!write(told[1], &failure, sizeof(failure));
        _exit(CLI_NOT_RUN);
    }
    close(told[1]);
    if (child->pid < 0) {
        failure = errno;
        close(told[0]);
        return failure;
    }
    /* Both do it, so that it is done whoever comes first. */
    setpgid(child->pid, child->pid);
    while (read(told[0], &failure, sizeof(failure)) < 0 && errno == EINTR)
        continue;
    close(told[0]);
    if (failure == 0)
        return 0;
    (void)waitpid(child->pid, NULL, 0);
    cli_child_end(child);
    return failure;
}

void cli_child_signal(const cli_child *child, int signal)
{
    (void)kill(-child->pid, signal);
}

void cli_child_stop(const cli_child *child, int signal)
{
    cli_child_signal(child, signal);
    cli_child_signal(child, SIGCONT);
}

/*
 * Ctrl-Z stopped the group, which has the keyboard.  Our shell must see us
 * stop, and let us and then the group go on.
 */
static void stop_along(const cli_child *child)
{
    give_terminal(getpgrp());
    (void)raise(SIGSTOP);
    give_terminal(child->pid);
    cli_child_signal(child, SIGCONT);
}

int cli_child_look(cli_child *child)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != child->pid)
            continue;
        if (!WIFSTOPPED(status)) {
            child->ended = 1;
            child->status = status;
        } else if (child->terminal && WSTOPSIG(status) == SIGTSTP) {
            stop_along(child);
        }
    }
    return child->ended && kill(-child->pid, 0) != 0 && errno == ESRCH;
}

void cli_child_end(cli_child *child)
{
    if (child->terminal)
        give_terminal(getpgrp());
    child->terminal = 0;
}

int cli_child_code(const cli_child *child)
{
    if (WIFSIGNALED(child->status))
        return CLI_SIGNAL + WTERMSIG(child->status);
    return WEXITSTATUS(child->status);
}
