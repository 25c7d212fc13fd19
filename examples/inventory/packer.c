/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * packer.c - waits for two things at once: the packer's end, and the bell
 */
#include "packer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/*
 * Start it with the end of a pipe, which is closed when nobody of it is left.
 * Returns the other end, or -1.
 */
static int start(const char *command, const char *number, pid_t *pid)
{
    char *argv[] = { (char *)command, (char *)number, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2], error;

    if (pipe(ends) != 0)
        return -1;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    error = posix_spawnp(pid, command, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* 1 once the packer has ended, 0 when the bell rang before. */
static int wait_for(int packer, int bell)
{
    struct pollfd watched[] = { { .fd = packer, .events = POLLIN },
                                { .fd = bell, .events = POLLIN } };
    char said[256];

    for (;;) {
        if (poll(watched, 2, -1) < 0) {
            if (errno != EINTR)
                return 0;
        } else if (watched[1].revents != 0) {
            return 0;
        } else if (watched[0].revents != 0 &&
                   read(packer, said, sizeof(said)) <= 0) {
            return 1;
        }
    }
}

rf_status packer_ask(const char *command, const char *number, int bell)
{
    pid_t pid;
    int packer = start(command, number, &pid);
    int ended, code = 0;

    if (packer < 0)
        return RF_RETRY;
    ended = wait_for(packer, bell);
    if (!ended)
        kill(pid, SIGKILL);
    close(packer);
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
        ;
    if (!ended)
        return RF_LOST;
    return WIFEXITED(code) && WEXITSTATUS(code) == 0 ? RF_OK : RF_REFUSED;
}
