/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_run.c - run a command under a lock, and stop it when the lock is lost
 *
 * All that happens comes as something to read: signals, the loss of the lock,
 * the end of the grace time.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "child.h"
#include "command.h"
#include "exit.h"

static const int forwarded[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                 SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };
#define FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

typedef struct running {
    cli_child child;
    int signal_fd; /* signals, SIGCHLD among them                */
    int lost_fd;   /* an eventfd: the reason, when it is lost    */
    int grace_fd;  /* a timerfd: the end of the grace time       */
    int64_t grace_ms;
    rf_lost_reason reason; /* 0: not lost */
    int killed;            /* 1: KILL was sent */
} running;

/* ---- While it waits for the lock -------------------------------------- */

static rf_client *waiting; /* for the handler alone */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    interrupted = signal;
    rf_cancel(waiting);
}

static void on_interrupt(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Take the lock; a signal ends the wait. */
static int take(cli_call *call, rf_lock **out)
{
    int code = cli_open(call);

    if (code != 0)
        return code;
    waiting = call->client;
    on_interrupt(interrupt);
    code = cli_take(call, call->operand[0], out);
    on_interrupt(SIG_DFL);
    return interrupted != 0 ? CLI_SIGNAL + interrupted : code;
}

/* ---- What may happen --------------------------------------------------- */

static void on_lost(rf_lock *lock, rf_lost_reason reason, void *arg)
{
    const running *r = arg;
    uint64_t value = (uint64_t)reason;

    (void)lock;
    (void)!write(r->lost_fd, &value, sizeof(value));
}

static void block_signals(sigset_t *blocked, sigset_t *before)
{
    sigemptyset(blocked);
    sigaddset(blocked, SIGCHLD);
    for (size_t i = 0; i < FORWARDED; i++)
        sigaddset(blocked, forwarded[i]);
    sigprocmask(SIG_BLOCK, blocked, before);
}

static int open_events(running *r, const sigset_t *signals)
{
    r->signal_fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    r->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->grace_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (r->signal_fd >= 0 && r->lost_fd >= 0 && r->grace_fd >= 0)
        return 0;
    return cli_fail(RF_RETRY, "the system gives no descriptor: %s",
                    strerror(errno));
}

static void close_events(running *r)
{
    int fds[] = { r->signal_fd, r->lost_fd, r->grace_fd };

    for (size_t i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

static void pass_signals_on(running *r)
{
    struct signalfd_siginfo info;

    while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            cli_child_signal(&r->child, (int)info.ssi_signo);
    }
}

/* Told to stop at once, and given until the end of the grace time to do so. */
static void begin_to_stop(running *r)
{
    struct itimerspec until = { 0 };
    uint64_t reason;

    if (read(r->lost_fd, &reason, sizeof(reason)) != sizeof(reason))
        return;
    r->reason = (rf_lost_reason)reason;
    until.it_value.tv_sec = (time_t)(r->grace_ms / 1000);
    until.it_value.tv_nsec = (long)(r->grace_ms % 1000) * 1000000 + 1;
    timerfd_settime(r->grace_fd, 0, &until, NULL);
    cli_child_stop(&r->child, SIGTERM);
}

static void end_of_grace(running *r)
{
    uint64_t times;

    if (read(r->grace_fd, &times, sizeof(times)) != sizeof(times))
        return;
    r->killed = 1;
    cli_child_signal(&r->child, SIGKILL);
}

/*
 * Until the command is over; when the lock is lost, until all of its group is.
 * Without the lock nothing of it may go on.
 */
static void watch_over(running *r)
{
    struct pollfd events[] = { { r->signal_fd, POLLIN, 0 },
                               { r->lost_fd, POLLIN, 0 },
                               { r->grace_fd, POLLIN, 0 } };
    int gone;

    for (;;) {
        /* The last of a group may be another's child: then no signal tells. */
        int nap_ms = r->child.ended && r->reason != 0 ? 20 : -1;

        (void)poll(events, 3, nap_ms);
        pass_signals_on(r);
        begin_to_stop(r);
        end_of_grace(r);
        gone = cli_child_look(&r->child);
        if (gone || (r->child.ended && r->reason == 0))
            return;
    }
}

/* ---- The end ------------------------------------------------------------ */

static const char *reason_text(rf_lost_reason reason)
{
    switch (reason) {
    case RF_LOST_EXPIRED: return "it ran out before it could be renewed";
    case RF_LOST_TAKEN: return "another has it now";
    case RF_LOST_CAP: return "it was held as long as --hold-max allows";
    case RF_LOST_UNREACHABLE: return "the lock service could not be reached";
    }
    return "it ran out, or was taken away";
}

/* What was lost while it ran decides over what the command says. */
static int settle(cli_call *call, const running *r, rf_status released)
{
    const char *resource = call->operand[0];

    if (r->reason != 0)
        return cli_fail(
            RF_LOST, "%s: the lock is lost: %s; the command was stopped%s",
            resource, reason_text(r->reason), r->killed ? " by KILL" : "");
    if (released == RF_LOST)
        return cli_fail(RF_LOST,
                        "%s: the lock was lost while the command ran, which "
                        "ended by itself with %d: %s",
                        resource, cli_child_code(&r->child),
                        rf_message(call->client));
    if (released != RF_OK)
        cli_warn("%s: the lock could not be given back and runs out by itself: "
                 "%s",
                 resource, rf_message(call->client));
    return cli_child_code(&r->child);
}

static int could_not_start(const char *name, int failure)
{
    return cli_fail_code(failure == ENOENT ? CLI_NOT_FOUND : CLI_NOT_RUN,
                         "%s: %s", name, strerror(failure));
}

/* ---- The command --------------------------------------------------------- */

static int export_grant(const rf_lock *lock)
{
    char fence[24];

    (void)snprintf(fence, sizeof(fence), "%" PRId64, rf_lock_fence(lock));
    if (setenv("RINGFENCE_RESOURCE", rf_lock_resource(lock), 1) == 0 &&
        setenv("RINGFENCE_FENCE", fence, 1) == 0 &&
        setenv("RINGFENCE_HOLDER", rf_lock_holder(lock), 1) == 0)
        return 0;
    return cli_fail(RF_NOMEM, "out of memory");
}

static int run_under(cli_call *call, rf_lock *lock, running *r,
                     const sigset_t *mask)
{
    rf_keep_options keep = RF_KEEP_INIT;
    rf_status status;
    int code = cli_duration(call, OPT_HOLD_MAX, 0, &keep.hold_max_ms);
    int failure;

    if (code == 0)
        code = export_grant(lock);
    if (code != 0)
        return code;
    keep.on_lost = on_lost;
    keep.arg = r;
    status = rf_keep(lock, &keep);
    if (status != RF_OK)
        return cli_tell(call, call->operand[0], status);
    failure = cli_child_start(&r->child, call->rest, mask);
    if (failure != 0)
        return could_not_start(call->rest[0], failure);
    watch_over(r);
    cli_child_end(&r->child);
    return 0;
}

static int run(cli_call *call)
{
    running r = { .signal_fd = -1, .lost_fd = -1, .grace_fd = -1 };
    sigset_t signals, before;
    rf_lock *lock = NULL;
    rf_status released;
    int code = cli_duration(call, OPT_GRACE, 10000, &r.grace_ms);

    if (code == 0)
        code = take(call, &lock);
    if (code != 0) {
        (void)rf_release(lock); /* granted to one who was told to stop */
        return code;
    }
    /* The claim is made; a command may take days. */
    PQfinish(call->conn);
    call->conn = NULL;
    block_signals(&signals, &before);
    code = open_events(&r, &signals);
    if (code == 0)
        code = run_under(call, lock, &r, &before);
    released = rf_release(lock);
    close_events(&r);
    return code != 0 ? code : settle(call, &r, released);
}

static const cli_option_id options[] = {
    OPT_TTL,        OPT_WAIT,         OPT_HOLD_MAX, OPT_GRACE, OPT_SHARED,
    CLI_PG_OPTIONS, CLI_LOCK_OPTIONS, OPT_HELP,     OPT_END
};

const cli_command cli_run = {
    .name = "run",
    .operands = "RESOURCE -- COMMAND [ARGUMENT...]",
    .least = 1,
    .most = 1,
    .command_line = 1,
    .summary = "run a command under a lock",
    .text =
        "Takes the lock, claims it when a database is set, and runs the "
        "command with RINGFENCE_RESOURCE, RINGFENCE_FENCE and RINGFENCE_HOLDER "
        "in its environment. The lock is renewed until the command is over and "
        "then given back. The exit code is the command's.\n\n"
        "When the lock is lost, the command and all of its process group get "
        "TERM, and after the grace time KILL; the exit code is 103 then. "
        "Stopped or not: as soon as another has claimed, the database refuses "
        "what the command still writes to protected tables, because it sends "
        "its fence with every write.\n\n"
        "Signals are passed on to the command. Should ringfence itself be "
        "killed, the command gets TERM and the lock runs out. A command that "
        "hangs keeps its lock, unless --hold-max says how long it may.",
    .example =
        "ringfence run cron:report --wait 30s -- sh -c 'echo $RINGFENCE_FENCE'",
    .options = options,
    .run = run,
};
