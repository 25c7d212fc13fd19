/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * redis_server.h - a throwaway Redis for a test program
 *
 * Lives in a temporary folder of its own, listens on a Unix socket there and
 * on a free port of the loopback, saves nothing, and ends with the thread that
 * started it at the latest.  A failure to start or to talk ends the program: a test without
 * its server proves nothing.
 */
#ifndef REDIS_SERVER_H
#define REDIS_SERVER_H

#include <sys/types.h>

typedef struct redis_server redis_server;

/*
 * More of redis.conf as command-line words, NULL-terminated; or NULL.  They must
 * live on.  With --tls-cert-file the port speaks TLS, the socket never does.
 */
redis_server *redis_server_start(const char *const *options);

/*
 * The same with a configuration file of its own, which begins with this text;
 * for a sentinel, give it the option "--sentinel".
 */
redis_server *redis_server_start_with(const char *config,
                                      const char *const *options);

/* What it demands of redis_server_command(), now and after every restart. */
void redis_server_login(redis_server *server, const char *password);

/* Stop by pid, remove the folder, free.  NULL is fine. */
void redis_server_stop(redis_server *server);

/*
 * kill -9, and start again on the same socket and port: without its data, or
 * with what it last saved (then it may still be loading it).
 */
void redis_server_kill(redis_server *server);
void redis_server_restart(redis_server *server);
void redis_server_restart_with_data(redis_server *server);

/* SIGSTOP and SIGCONT. */
void redis_server_freeze(redis_server *server);
void redis_server_thaw(redis_server *server);

/* Keep it busy with a script that never ends, until SCRIPT KILL. */
void redis_server_make_busy(redis_server *server);

const char *redis_server_url(const redis_server *server); /* redis+unix://  */
const char *redis_server_socket(const redis_server *server);
const char *redis_server_folder(const redis_server *server);
int redis_server_port(const redis_server *server);

/*
 * Run a command and return the reply as text (arrays: elements joined by a
 * blank; nil: "(nil)"; errors: as Redis writes them).  printf-like as hiredis
 * has it: every %s is one argument.  Valid until the next call.
 */
const char *redis_server_command(redis_server *server, const char *format, ...);

/* The same, as a number. */
long long redis_server_number(redis_server *server, const char *format, ...);

#endif /* REDIS_SERVER_H */
