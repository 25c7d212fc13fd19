/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * compat.h
 *		Every branch on the server's version, 13 to 19.
 */
#ifndef RF_COMPAT_H
#define RF_COMPAT_H

#include "postgres.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "postmaster/autovacuum.h"
#include "replication/walsender.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/relcache.h"

#if PG_VERSION_NUM < 130002
#error "ringfence needs PostgreSQL 13.2 or later"
#endif

/* What is inside a text: part of postgres.h before 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* A check hook's extra: freed by the server, so from its allocator. */
#if PG_VERSION_NUM >= 160000
#define rf_guc_malloc(size)		guc_malloc(LOG, (size))
#else
#define rf_guc_malloc(size)		malloc(size)
#endif

#if PG_VERSION_NUM >= 150000
#define rf_reserve_prefix(name)	MarkGUCPrefixReserved(name)
#else
#define rf_reserve_prefix(name)	EmitWarningsOnPlaceholders(name)
#endif

#if PG_VERSION_NUM >= 170000
#define rf_lock_held(tag, mode)	LockHeldByMe((tag), (mode), true)
#else
#define rf_lock_held(tag, mode)	LockHeldByMe((tag), (mode))
#endif

/* What kind of scan it is to be: asked from 19 on. */
#if PG_VERSION_NUM >= 190000
#define rf_table_beginscan(rel, snapshot) \
	table_beginscan((rel), (snapshot), 0, NULL, 0)
#else
#define rf_table_beginscan(rel, snapshot) \
	table_beginscan((rel), (snapshot), 0, NULL)
#endif

#if PG_VERSION_NUM >= 190000
#define rf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0, 0)
#elif PG_VERSION_NUM >= 180000
#define rf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define rf_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif

/* The file that a table is kept in. */
#if PG_VERSION_NUM >= 160000
#define RfFile					RelFileLocator
#define rf_file_of(rel)			((rel)->rd_locator)
#else
#define RfFile					RelFileNode
#define rf_file_of(rel)			((rel)->rd_node)
#endif

/*
 * Pin a buffer if it still has that page of the file.  Before 14 one cannot
 * tell without looking for the page among all buffers.
 */
#if PG_VERSION_NUM >= 140000
#define rf_read_recent_buffer(file, block, buffer) \
	ReadRecentBuffer((file), MAIN_FORKNUM, (block), (buffer))
#else
#define rf_read_recent_buffer(file, block, buffer)	false
#endif

/*
 * What ends a session when a transaction's time is over: 25P04 from 17 on,
 * 25P03 (idle in transaction, although it may be busy) before.
 */
#if PG_VERSION_NUM >= 170000
#define rf_end_pending			TransactionTimeoutPending
#define rf_end_setting			TransactionTimeout
#else
#define rf_end_pending			IdleInTransactionSessionTimeoutPending
#define rf_end_setting			IdleInTransactionSessionTimeout
#endif

/*
 * How many backends there can be.  Before 15 the server has not counted yet
 * when a preloaded library asks.
 */
#if PG_VERSION_NUM >= 150000
#define rf_max_backends()		MaxBackends
#else
#define rf_max_backends() \
	(MaxConnections + autovacuum_max_workers + 1 + \
	 max_worker_processes + max_wal_senders)
#endif

/*
 * Shared memory is asked for in a hook from 15 on, before that at once.
 * RF_SHMEM_REQUEST() defines rf_shmem_request_init(), which sees to it that
 * request() is called.
 */
#if PG_VERSION_NUM >= 150000
#define RF_SHMEM_REQUEST(request) \
	static shmem_request_hook_type previous_request = NULL; \
	static void \
	request_in_hook(void) \
	{ \
		if (previous_request) \
			previous_request(); \
		request(); \
	} \
	static void \
	rf_shmem_request_init(void) \
	{ \
		previous_request = shmem_request_hook; \
		shmem_request_hook = request_in_hook; \
	}
#else
#define RF_SHMEM_REQUEST(request) \
	static void \
	rf_shmem_request_init(void) \
	{ \
		request(); \
	}
#endif

/* The index of the primary key; not one that can be deferred. */
#if PG_VERSION_NUM >= 180000
#define rf_primary_key(rel)		RelationGetPrimaryKeyIndex((rel), false)
#else
#define rf_primary_key(rel)		RelationGetPrimaryKeyIndex(rel)
#endif

/* The virtual transaction that a process is in, or invalid. */
#if PG_VERSION_NUM >= 170000
#define rf_proc_lxid(proc)		((proc)->vxid.lxid)
#else
#define rf_proc_lxid(proc)		((proc)->lxid)
#endif

/* Walk the locks of a process in one partition of the lock table. */
#if PG_VERSION_NUM >= 160000
#define rf_foreach_proclock(proclock, proc, partition) \
	dlist_iter iter_; \
	dlist_foreach(iter_, &(proc)->myProcLocks[partition]) \
		if (((proclock) = dlist_container(PROCLOCK, procLink, iter_.cur)) != NULL)
#else
#define rf_foreach_proclock(proclock, proc, partition) \
	for ((proclock) = (PROCLOCK *) \
		 SHMQueueNext(&(proc)->myProcLocks[partition], \
					  &(proc)->myProcLocks[partition], \
					  offsetof(PROCLOCK, procLink)); \
		 (proclock) != NULL; \
		 (proclock) = (PROCLOCK *) \
		 SHMQueueNext(&(proc)->myProcLocks[partition], \
					  &(proclock)->procLink, \
					  offsetof(PROCLOCK, procLink)))
#endif

#if PG_VERSION_NUM >= 140000
#define rf_role_signal_backend	ROLE_PG_SIGNAL_BACKEND
#else
#define rf_role_signal_backend	DEFAULT_ROLE_SIGNAL_BACKENDID
#endif

/* ExecutorRun() had a last argument, run_once. */
#if PG_VERSION_NUM >= 180000
#define RF_RUN_ONCE_DECL
#define RF_RUN_ONCE
#else
#define RF_RUN_ONCE_DECL		, bool run_once
#define RF_RUN_ONCE				, run_once
#endif

#if PG_VERSION_NUM >= 160000
#define rf_owns_table(relid, role) \
	object_ownercheck(RelationRelationId, (relid), (role))
#else
#define rf_owns_table(relid, role)	pg_class_ownercheck((relid), (role))
#endif

/* The module says its name from 18 on. */
#if PG_VERSION_NUM >= 180000
#define RF_MODULE_MAGIC			PG_MODULE_MAGIC_EXT(.name = "ringfence")
#else
#define RF_MODULE_MAGIC			PG_MODULE_MAGIC
#endif

/* From 18 on a generated column may be computed when it is read. */
#if PG_VERSION_NUM >= 180000
#define rf_is_virtual(att) \
	((att)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define rf_is_virtual(att)		false
#endif

/* From 18 on a CHECK may be there and not hold. */
#if PG_VERSION_NUM >= 180000
#define rf_is_enforced(check)	((check)->ccenforced)
#else
#define rf_is_enforced(check)	true
#endif

/*
 * Which columns a part of a plan updates in its i-th table: told from 14 on.
 * Before that, each row has to be looked at.
 */
#if PG_VERSION_NUM >= 140000
#define RF_PLAN_TELLS_COLUMNS	true
#define rf_update_columns(part, i) \
	((List *) list_nth((part)->updateColnosLists, (i)))
#define rf_conflict_columns(part)	((part)->onConflictCols)
#else
#define RF_PLAN_TELLS_COLUMNS	false
#define rf_update_columns(part, i)	NIL
#define rf_conflict_columns(part)	NIL
#endif

/* 19 wants room for a page of the visibility map, and may mark pages in it. */
static inline void
rf_prune_page(Relation table, Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	Buffer		map = InvalidBuffer;

	heap_page_prune_opt(table, buffer, &map, false);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
#else
	heap_page_prune_opt(table, buffer);
#endif
}

/* The columns of each UPDATE of a MERGE, which there is from 15 on. */
static inline List *
rf_merge_updates(ModifyTable *part, int i)
{
	List	   *updates = NIL;

#if PG_VERSION_NUM >= 150000
	ListCell   *cell;

	if (part->operation == CMD_MERGE)
		foreach(cell, (List *) list_nth(part->mergeActionLists, i))
		{
			MergeAction *action = lfirst_node(MergeAction, cell);

			if (action->commandType == CMD_UPDATE)
				updates = lappend(updates, action->updateColnos);
		}
#endif
	return updates;
}

#endif							/* RF_COMPAT_H */
