/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * etcd_cluster.h - a throwaway etcd of one or three members
 *
 * Ready when it is started; a program whose etcd does not get ready ends.
 */
#ifndef ETCD_CLUSTER_H
#define ETCD_CLUSTER_H

typedef struct etcd_cluster etcd_cluster;

/* members: 1 or 3. */
etcd_cluster *etcd_cluster_start(int members);
void etcd_cluster_stop(etcd_cluster *c);

/* etcd://127.0.0.1:port,... */
const char *etcd_cluster_url(const etcd_cluster *c);
int etcd_cluster_port(const etcd_cluster *c, int member);

/* Which member leads; waits until one does. */
int etcd_cluster_leader(etcd_cluster *c);

/* SIGKILL and start again with its data; SIGSTOP and SIGCONT. */
void etcd_cluster_kill(etcd_cluster *c, int member);
void etcd_cluster_restart(etcd_cluster *c, int member);
void etcd_cluster_freeze(etcd_cluster *c, int member);
void etcd_cluster_thaw(etcd_cluster *c, int member);

/*
 * POST the body to the JSON gateway of a member.  The answer's body is valid
 * until the next call; "" when there was none.
 */
const char *etcd_cluster_post(etcd_cluster *c, int member, const char *path,
                              const char *body);

#endif /* ETCD_CLUSTER_H */
