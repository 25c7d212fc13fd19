/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * cmd_watch.c - a live view: locks, and the database's claims beside them
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "claims.h"
#include "command.h"
#include "database.h"
#include "exit.h"
#include "held.h"
#include "info.h"

typedef struct view {
    cli_call *call;
    int64_t every_ms, count;
    cli_held now, before; /* before: what has been shown, on lines */
    cli_claims claims;
    char note[512]; /* what keeps something from being shown */
} view;

static volatile sig_atomic_t ended_by;

static void on_signal(int signal)
{
    if (signal != SIGWINCH)
        ended_by = signal;
}

/* A resized window, too, ends the nap. */
static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGWINCH, &action, NULL);
}

/* ---- Looking ---------------------------------------------------------- */

static rf_status look_at_named(view *v)
{
    cli_call *call = v->call;
    rf_status status = RF_OK;

    v->now.lock = calloc((size_t)call->operands, sizeof(*v->now.lock));
    if (v->now.lock == NULL)
        return RF_NOMEM;
    for (int i = 0; i < call->operands && status == RF_OK; i++) {
        cli_lock *lock = &v->now.lock[v->now.n];

        status = rf_inspect(call->client, call->operand[i], &lock->info);
        if (status == RF_OK) {
            memcpy(lock->resource, call->operand[i],
                   strlen(call->operand[i]) + 1);
            v->now.n++;
        }
    }
    return status;
}

/* What can't be had now is said, and looked for again; mistakes end it. */
static int look(view *v)
{
    cli_call *call = v->call;
    rf_status status;

    v->note[0] = '\0';
    status = call->operands > 0 ? look_at_named(v)
                                : cli_held_ask(call, &v->now);
    if (status == RF_MISUSE || status == RF_NOMEM)
        return cli_held_fail(call, status);
    if (status != RF_OK)
        (void)snprintf(v->note, sizeof(v->note), "%s",
                       rf_message(call->client));
    if (call->conn != NULL)
        cli_claims_read(call, &v->now, &v->claims, v->note, sizeof(v->note));
    cli_clean(v->note);
    return 0;
}

/* ---- A terminal ------------------------------------------------------- */

/* Below this a holder, of which people only see that it is another, goes. */
#define NARROW 60

static void window(int *rows, int *columns)
{
    struct winsize size = { 0 };

    *rows = 24;
    *columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0) {
        *rows = size.ws_row;
        *columns = size.ws_col;
    }
}

static void add_row(view *v, cli_table *table, const cli_lock *lock)
{
    cli_info_cells(table, lock->resource, &lock->info);
    if (v->call->conn != NULL)
        cli_claims_cell(table, &v->claims, lock);
}

static void draw_last_line(const view *v, size_t shown, int columns)
{
    char line[64];
    int used;

    (void)snprintf(line, sizeof(line), "%zu of %zu; Ctrl-C ends%s", shown,
                   v->now.n, v->note[0] != '\0' ? "; " : "");
    used = cli_print_cut(line, columns);
    (void)fputs(cli_colour_on(CLI_YELLOW), stdout);
    (void)cli_print_cut(v->note, columns - used);
    (void)fputs(cli_colour_off(CLI_YELLOW), stdout);
}

/* Drawn over the last one, so that nothing flickers. */
static int draw(view *v)
{
    cli_table table;
    int rows, columns, code;
    size_t shown;

    window(&rows, &columns);
    shown = rows > 3 ? (size_t)rows - 3 : 1;
    if (shown > v->now.n)
        shown = v->now.n;
    cli_table_begin(&table, CLI_INFO_COLUMNS + (v->call->conn != NULL));
    if (columns < NARROW)
        table.hidden = 1U << CLI_INFO_HOLDER | 1U << CLI_INFO_WAITED_FOR;
    cli_info_titles(&table);
    if (v->call->conn != NULL)
        cli_table_add(&table, CLI_BOLD, "CLAIM");
    for (size_t i = 0; i < shown; i++)
        add_row(v, &table, &v->now.lock[i]);
    (void)fputs("\033[H", stdout);
    code = cli_table_print(&table, columns, "\033[K\r\n");
    cli_table_end(&table);
    (void)fputs("\033[J", stdout);
    draw_last_line(v, shown, columns);
    return code;
}

static void screen(int on)
{
    /* The other screen, and no cursor; afterwards as it was. */
    (void)fputs(on ? "\033[?1049h\033[?25l\033[2J" : "\033[?25h\033[?1049l",
                stdout);
    (void)fflush(stdout);
}

/* ---- Lines ------------------------------------------------------------ */

static void print_line(view *v, const cli_lock *lock)
{
    cli_table table;
    struct tm here;
    time_t now = time(NULL);
    char clock[16] = "";

    if (localtime_r(&now, &here) != NULL)
        (void)strftime(clock, sizeof(clock), "%H:%M:%S ", &here);
    (void)fputs(clock, stdout);
    cli_table_begin(&table, CLI_INFO_COLUMNS + (v->call->conn != NULL));
    add_row(v, &table, lock);
    (void)cli_table_print(&table, 0, "\n");
    cli_table_end(&table);
}

static const cli_lock *find(const cli_held *held, const char *resource)
{
    for (size_t i = 0; i < held->n; i++) {
        if (strcmp(held->lock[i].resource, resource) == 0)
            return &held->lock[i];
    }
    return NULL;
}

static int same(const cli_lock *a, const cli_lock *b)
{
    return a != NULL && b != NULL && a->info.held == b->info.held &&
           a->info.fence == b->info.fence &&
           a->info.readers == b->info.readers &&
           a->info.waited_for == b->info.waited_for &&
           strcmp(a->info.holder, b->info.holder) == 0;
}

/* Only what has changed, so that a log of it can be read. */
static void print_changes(view *v)
{
    for (size_t i = 0; i < v->now.n; i++) {
        if (!same(&v->now.lock[i], find(&v->before, v->now.lock[i].resource)))
            print_line(v, &v->now.lock[i]);
    }
    for (size_t i = 0; i < v->before.n; i++) {
        cli_lock gone = { .info = { 0 } };

        if (find(&v->now, v->before.lock[i].resource) != NULL)
            continue;
        memcpy(gone.resource, v->before.lock[i].resource,
               sizeof(gone.resource));
        print_line(v, &gone);
    }
    if (v->note[0] != '\0')
        cli_warn("%s", v->note);
}

static int print_json(view *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->now.n; i++) {
        json_t *one = cli_info_json(v->now.lock[i].resource,
                                    &v->now.lock[i].info);

        if (v->call->conn != NULL)
            (void)json_object_set_new(
                one, "claim", cli_claims_json(&v->claims, &v->now.lock[i]));
        (void)json_array_append_new(all, one);
    }
    return cli_print_json(all);
}

/* ---- Again and again -------------------------------------------------- */

/* 0: the reader has gone.  While nothing changes, no write would tell. */
static int nap(int64_t ms)
{
    struct pollfd reader = { .fd = STDOUT_FILENO };

    return poll(&reader, 1, ms < INT_MAX ? (int)ms : INT_MAX) <= 0;
}

static int show(view *v)
{
    int code = look(v);

    if (code != 0)
        return code;
    if (cli_json(v->call))
        code = print_json(v);
    else if (cli_on_terminal())
        code = draw(v);
    else
        print_changes(v);
    return code == 0 ? cli_output_end(0) : code;
}

/* What was seen when something was missing is no news. */
static void turn(view *v)
{
    if (v->note[0] == '\0' || v->now.n > 0) {
        cli_held_free(&v->before);
        v->before = v->now;
        memset(&v->now, 0, sizeof(v->now));
    } else {
        cli_held_free(&v->now);
    }
    cli_claims_free(&v->claims);
}

static int go_on(view *v)
{
    int code = 0;

    for (int64_t i = 0; code == 0 && ended_by == 0; i++) {
        code = show(v);
        turn(v);
        if (v->count > 0 && i + 1 >= v->count)
            break;
        if (code == 0 && ended_by == 0 && !nap(v->every_ms))
            code = cli_output_lost(EPIPE);
    }
    return code == 0 && ended_by != 0 ? CLI_SIGNAL + ended_by : code;
}

static int run(cli_call *call)
{
    view v = { .call = call };
    int drawn = cli_on_terminal() && !cli_json(call);
    int code = cli_duration(call, OPT_EVERY, 1000, &v.every_ms);

    if (code == 0)
        code = cli_number(call, OPT_COUNT, 0, &v.count);
    if (code == 0)
        code = cli_open(call);
    if (code == 0 && call->settings.pg != NULL)
        code = cli_connect(call);
    if (code != 0)
        return code;
    catch_signals();
    if (drawn)
        screen(1);
    code = go_on(&v);
    if (drawn)
        screen(0);
    cli_held_free(&v.before);
    return code;
}

static const cli_option_id options[] = { OPT_EVERY, OPT_COUNT, CLI_PG_OPTIONS,
                                         CLI_LOCK_OPTIONS, CLI_ALL_OPTIONS };

const cli_command cli_watch = {
    .name = "watch",
    .operands = "[RESOURCE...]",
    .least = 0,
    .most = -1,
    .summary = "a live view of the locks",
    .text = "Shows every lock that is held, or the resources that are named, "
            "again and again: holder, fence, what is left, whether somebody "
            "asked to wait, and, when a database is set, the fence that it "
            "has accepted last. Without a terminal it prints a line for each "
            "change, with --json an array of all locks each time.",
    .example = "ringfence watch\nringfence watch --json --count 1",
    .options = options,
    .run = run,
};
