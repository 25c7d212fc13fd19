/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * shared.c
 *		Shared memory, for those who preload the library.
 *
 * Everything works without it; with it, counters are those of the server, and
 * fewer first claims have to be retried.
 */
#include "shared.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "compat.h"
#include "recent.h"
#include "stats.h"

static shmem_startup_hook_type previous_startup = NULL;

/* As the server will count them; before 15 it has not yet when we ask. */
int
rf_backend_slots(void)
{
#if PG_VERSION_NUM >= 150000
	return MaxBackends;
#else
	return MaxConnections + autovacuum_max_workers + 1 +
		max_worker_processes + max_wal_senders;
#endif
}

static void
start_shared(void)
{
	void	   *memory;
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct("ringfence counters", rf_stats_size(), &found);
	rf_stats_start(memory, found);
	memory = ShmemInitStruct("ringfence recent", rf_recent_size(), &found);
	rf_recent_start(memory, found);
	LWLockRelease(AddinShmemInitLock);
}

static void
request_memory(void)
{
	RequestAddinShmemSpace(add_size(rf_stats_size(), rf_recent_size()));
}

#if PG_VERSION_NUM >= 150000
static shmem_request_hook_type previous_request = NULL;

static void
request_shared(void)
{
	if (previous_request)
		previous_request();
	request_memory();
}
#endif

void
rf_shared_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
#if PG_VERSION_NUM >= 150000
	previous_request = shmem_request_hook;
	shmem_request_hook = request_shared;
#else
	request_memory();
#endif
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = start_shared;
}
