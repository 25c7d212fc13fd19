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

RF_SHMEM_REQUEST(request_memory)

void
rf_shared_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	rf_shmem_request_init();
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = start_shared;
}
