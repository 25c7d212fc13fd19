/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * zookeeper_ensemble.h - a throwaway ZooKeeper of one or three servers
 *
 * Ready when it is started; a program whose ZooKeeper does not get ready ends.
 * Sessions may last from 400 ms to 40 s.
 */
#ifndef ZOOKEEPER_ENSEMBLE_H
#define ZOOKEEPER_ENSEMBLE_H

#define ZOOKEEPER_SESSION_MIN_MS 400
#define ZOOKEEPER_SESSION_MAX_MS 40000

typedef struct zookeeper_ensemble zookeeper_ensemble;

/* servers: 1 or 3.  They do not wait for the disk, which is for speed. */
zookeeper_ensemble *zookeeper_ensemble_start(int servers);

/* The same, but each flushes its log, as ZooKeeper does unless told otherwise. */
zookeeper_ensemble *zookeeper_ensemble_start_flushing(int servers);
void zookeeper_ensemble_stop(zookeeper_ensemble *e);

/* zookeeper://127.0.0.1:port,... */
const char *zookeeper_ensemble_url(const zookeeper_ensemble *e);
int zookeeper_ensemble_port(const zookeeper_ensemble *e, int server);

/*
 * What a server answers to one of its four-letter words, "" when it doesn't.
 * Valid until the next call.
 */
const char *zookeeper_ensemble_ask(zookeeper_ensemble *e, int server,
                                   const char *word);

/* Which server leads; waits until one does. */
int zookeeper_ensemble_leader(zookeeper_ensemble *e);

/* SIGKILL and start again with its data; SIGSTOP and SIGCONT. */
void zookeeper_ensemble_kill(zookeeper_ensemble *e, int server);
void zookeeper_ensemble_restart(zookeeper_ensemble *e, int server);
/* The same, but one that is alone answers who only reads. */
void zookeeper_ensemble_restart_read_only(zookeeper_ensemble *e, int server);
void zookeeper_ensemble_freeze(zookeeper_ensemble *e, int server);
void zookeeper_ensemble_thaw(zookeeper_ensemble *e, int server);

#endif /* ZOOKEEPER_ENSEMBLE_H */
