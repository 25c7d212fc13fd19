/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * place.c
 *		Where a table of the extension is, by name, without asking each time.
 *
 * What was found is forgotten when table or index change, so that dropping and
 * creating the extension in one session works.
 */
#include "place.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "errcodes.h"
#include "hint.h"

static RfPlace *places = NULL;

static void
forget(Datum arg, Oid relid)
{
	RfPlace    *place;

	for (place = places; place != NULL; place = place->next)
	{
		if (OidIsValid(relid) &&
			relid != place->table_oid && relid != place->index_oid)
			continue;
		place->table_oid = place->index_oid = InvalidOid;
		rf_hint_forget_all();
	}
}

static void
register_place(RfPlace *place)
{
	if (place->is_known)
		return;
	if (places == NULL)
		CacheRegisterRelcacheCallback(forget, (Datum) 0);
	place->next = places;
	places = place;
	place->is_known = true;
}

static void
find(RfPlace *place)
{
	Oid			schema = get_namespace_oid("ringfence", true);
	Oid			table = InvalidOid;
	Oid			index = InvalidOid;

	register_place(place);
	if (OidIsValid(schema))
	{
		table = get_relname_relid(place->table, schema);
		index = get_relname_relid(place->index, schema);
	}
	if (!OidIsValid(table) || !OidIsValid(index))
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("Table ringfence.%s or its index %s is not there.",
						   place->table, place->index),
				 errhint("Schema, table and index must keep the names that "
						 "CREATE EXTENSION gave them.")));
	place->table_oid = table;
	place->index_oid = index;
}

/* Taking a lock may bring the news that the place has changed. */
Oid
rf_place_lock(RfPlace *place, LOCKMODE mode)
{
	for (;;)
	{
		Oid			wanted;

		if (!OidIsValid(place->table_oid))
			find(place);
		wanted = place->table_oid;
		LockRelationOid(wanted, mode);
		if (wanted == place->table_oid)
			return wanted;
		UnlockRelationOid(wanted, mode);
	}
}

Relation
rf_place_open(RfPlace *place, LOCKMODE mode)
{
	return table_open(rf_place_lock(place, mode), NoLock);
}

Relation
rf_place_open_index(RfPlace *place)
{
	/* Opening the table may have brought such news, too.  It is locked. */
	if (!OidIsValid(place->index_oid))
		find(place);
	return index_open(place->index_oid, AccessShareLock);
}

void
rf_place_prune(Relation table, const ItemPointerData *tid)
{
	Buffer		buffer = ReadBuffer(table, ItemPointerGetBlockNumber(tid));

	rf_prune_page(table, buffer);
	ReleaseBuffer(buffer);
}

IndexScanDesc
rf_place_scan(Relation table, Relation index, const text *resource,
			  Snapshot snapshot)
{
	static ScanKeyData key;
	IndexScanDesc scan;

	if (key.sk_attno == 0)
	{
		ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_TEXTEQ, (Datum) 0);
		fmgr_info_cxt(F_TEXTEQ, &key.sk_func, TopMemoryContext);
	}
	key.sk_argument = PointerGetDatum(resource);
	scan = rf_index_beginscan(table, index, snapshot, 1);
	index_rescan(scan, &key, 1, NULL, 0);
	return scan;
}
