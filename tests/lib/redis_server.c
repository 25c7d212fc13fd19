/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_server.c - a throwaway Redis for a test program
 */
#include "redis_server.h"
#include "free_port.h"
#include "temp_folder.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_LIMIT_MS 20000
#define STEP_MS        5
/* One in five is too high for a node of a cluster, whose second is 10000 above. */
#define PORTS_TRIED 30

struct redis_server {
    pid_t pid;
    int port;
    char folder[TEMP_FOLDER_MAX];
    char socket[96];
    char config[96];
    char password[32];
    char url[128];
    const char *options[32];
    redisContext *context;
    redisContext *busy;
    char text[65536];
};

static void die(const char *what)
{
    fprintf(stderr, "redis_server: %s: %s\n", what, strerror(errno));
    exit(99);
}

static void run_server(redis_server *s)
{
    char port[16], log[96];
    const char *argv[64] = {
        "redis-server", s->config,   "--port",       port,
        "--bind",       "127.0.0.1", "--unixsocket", s->socket,
        "--dir",        s->folder,   "--save",       "",
        "--appendonly", "no",        "--logfile",    log,
        "--daemonize",  "no"
    };
    size_t n = 0;
    int secure = 0;

    snprintf(port, sizeof(port), "%d", s->port);
    snprintf(log, sizeof(log), "%s/redis.log", s->folder);
    while (argv[n] != NULL)
        n++;
    for (size_t i = 0; s->options[i] != NULL; i++) {
        argv[n++] = s->options[i];
        secure |= strcmp(s->options[i], "--tls-cert-file") == 0;
    }
    if (secure) {
        argv[2] = "--tls-port";
        argv[n++] = "--port";
        argv[n++] = "0";
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[0], (char *const *)argv);
    die("cannot run redis-server");
}

/* 1 when it answers anything at all: LOADING and NOAUTH count as alive. */
static int answers(redis_server *s)
{
    redisReply *reply;

    if (s->context == NULL)
        s->context = redisConnectUnix(s->socket);
    if (s->context == NULL || s->context->err != 0) {
        redisFree(s->context);
        s->context = NULL;
        return 0;
    }
    reply = s->password[0] != '\0'
                ? redisCommand(s->context, "AUTH %s", s->password)
                : redisCommand(s->context, "PING");
    freeReplyObject(reply);
    if (reply != NULL)
        return 1;
    redisFree(s->context);
    s->context = NULL;
    return 0;
}

static void reap(redis_server *s)
{
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    s->pid = 0;
}

/* 1 when it runs and answers, 0 when it ended (its port was taken). */
static int launch(redis_server *s)
{
    s->pid = fork();
    if (s->pid < 0)
        die("fork");
    if (s->pid == 0)
        run_server(s);
    for (int waited = 0; waited < START_LIMIT_MS; waited += STEP_MS) {
        if (answers(s))
            return 1;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
            s->pid = 0;
            return 0;
        }
        poll(NULL, 0, STEP_MS);
    }
    die("redis-server does not answer");
    return 0;
}

static void tell_log(const redis_server *s)
{
    char path[96], text[4096];
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/redis.log", s->folder);
    file = fopen(path, "r");
    if (file == NULL)
        return;
    n = fread(text, 1, sizeof(text), file);
    fclose(file);
    fwrite(text, 1, n, stderr);
}

static void write_config(redis_server *s, const char *text)
{
    FILE *file;

    snprintf(s->config, sizeof(s->config), "%s/redis.conf", s->folder);
    file = fopen(s->config, "w");
    if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0)
        die("cannot write redis.conf");
}

redis_server *redis_server_start(const char *const *options)
{
    return redis_server_start_with("", options);
}

redis_server *redis_server_start_with(const char *config,
                                      const char *const *options)
{
    redis_server *s = calloc(1, sizeof(*s));

    if (s == NULL)
        die("out of memory");
    temp_folder(s->folder);
    write_config(s, config);
    snprintf(s->socket, sizeof(s->socket), "%s/redis.sock", s->folder);
    snprintf(s->url, sizeof(s->url), "redis+unix://%s", s->socket);
    for (size_t i = 0; options != NULL && options[i] != NULL && i < 30; i++)
        s->options[i] = options[i];
    for (int tries = 0; tries < PORTS_TRIED; tries++) {
        s->port = free_port();
        if (launch(s))
            return s;
    }
    tell_log(s);
    die("redis-server does not start");
    return NULL;
}

static void disconnect(redis_server *s)
{
    if (s->context != NULL)
        redisFree(s->context);
    s->context = NULL;
}

void redis_server_login(redis_server *s, const char *password)
{
    snprintf(s->password, sizeof(s->password), "%s", password);
    disconnect(s);
}

void redis_server_kill(redis_server *s)
{
    disconnect(s);
    if (s->pid == 0)
        return;
    kill(s->pid, SIGKILL);
    reap(s);
    unlink(s->socket);
}

void redis_server_restart_with_data(redis_server *s)
{
    redis_server_kill(s);
    if (!launch(s))
        die("redis-server does not start again");
}

void redis_server_restart(redis_server *s)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/dump.rdb", s->folder);
    redis_server_kill(s);
    unlink(path);
    redis_server_restart_with_data(s);
}

void redis_server_make_busy(redis_server *s)
{
    redisContext *c = redisConnectUnix(s->socket);
    int done = 0;

    if (c == NULL || c->err != 0)
        die("cannot connect");
    redisAppendCommand(c, "EVAL %s 0", "while true do end");
    while (!done) {
        if (redisBufferWrite(c, &done) != REDIS_OK)
            die("cannot send");
    }
    /* The reply comes when the script is killed: nobody reads it. */
    redisFree(s->busy);
    s->busy = c;
    /* Which of two connections is served first is the server's choice. */
    while (strncmp(redis_server_command(s, "PING"), "BUSY", 4) != 0)
        continue;
}

void redis_server_stop(redis_server *s)
{
    char command[96];

    if (s == NULL)
        return;
    redis_server_kill(s);
    redisFree(s->busy);
    snprintf(command, sizeof(command), "rm -rf %s", s->folder);
    if (system(command) != 0)
        fprintf(stderr, "redis_server: %s stays\n", s->folder);
    free(s);
}

void redis_server_freeze(redis_server *s)
{
    kill(s->pid, SIGSTOP);
}

void redis_server_thaw(redis_server *s)
{
    kill(s->pid, SIGCONT);
}

const char *redis_server_url(const redis_server *s)
{
    return s->url;
}

const char *redis_server_socket(const redis_server *s)
{
    return s->socket;
}

const char *redis_server_folder(const redis_server *s)
{
    return s->folder;
}

int redis_server_port(const redis_server *s)
{
    return s->port;
}

static void print(const redisReply *r, char *to, size_t size)
{
    if (r->type == REDIS_REPLY_INTEGER) {
        snprintf(to, size, "%lld", r->integer);
    } else if (r->type == REDIS_REPLY_NIL) {
        snprintf(to, size, "(nil)");
    } else if (r->type == REDIS_REPLY_ARRAY) {
        to[0] = '\0';
        for (size_t i = 0; i < (size_t)r->elements; i++) {
            size_t used = strlen(to);

            if (i > 0)
                snprintf(to + used, size - used, " ");
            used = strlen(to);
            print(r->element[i], to + used, size - used);
        }
    } else {
        snprintf(to, size, "%s", r->str);
    }
}

/* A server that changes its role drops its connections: not worth a command. */
static void leave_if_closed(redis_server *s)
{
    struct pollfd p = { .fd = s->context != NULL ? s->context->fd : -1,
                        .events = POLLIN };

    if (poll(&p, 1, 0) > 0)
        disconnect(s);
}

static const char *command(redis_server *s, const char *format, va_list args)
{
    redisReply *reply;

    leave_if_closed(s);
    if (s->context == NULL && !answers(s))
        die("redis-server is gone");
    reply = redisvCommand(s->context, format, args);
    if (reply == NULL) {
        /* SHUTDOWN, DEBUG SLEEP and the like leave no reply. */
        disconnect(s);
        return "";
    }
    print(reply, s->text, sizeof(s->text));
    freeReplyObject(reply);
    return s->text;
}

const char *redis_server_command(redis_server *s, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = command(s, format, args);
    va_end(args);
    return text;
}

long long redis_server_number(redis_server *s, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = command(s, format, args);
    va_end(args);
    return strtoll(text, NULL, 10);
}
