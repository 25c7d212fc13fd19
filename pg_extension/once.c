/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * once.c
 *		once(): an operation's receipt, in the transaction that applies it.
 *
 * After a commit whose outcome is not known, the retry asks again: the receipt
 * is there if, and only if, the operation was committed.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "fmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "checks.h"
#include "claims.h"
#include "compat.h"
#include "errcodes.h"
#include "grant.h"
#include "place.h"
#include "resource_lock.h"

PG_FUNCTION_INFO_V1(ringfence_once);

enum
{
	COLUMN_RESOURCE = 1,
	COLUMN_OPERATION,
	COLUMN_FENCE,
	COLUMN_APPLIED_AT,
	COLUMNS = COLUMN_APPLIED_AT
};

static RfPlace place = {.table = "receipts", .index = "receipts_pkey"};

/* Who wrote the receipt, invalid if there is none.  No snapshot of the past. */
static TransactionId
find_receipt(Relation receipts, const RfGrant *grant, text *operation)
{
	Relation	index = rf_place_open_index(&place);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(receipts, NULL);
	TransactionId writer = InvalidTransactionId;
	ScanKeyData keys[2];
	IndexScanDesc scan;

	ScanKeyInit(&keys[0], COLUMN_RESOURCE, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(grant->resource));
	ScanKeyInit(&keys[1], COLUMN_OPERATION, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(operation));
	scan = rf_index_beginscan(receipts, index, snapshot, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	if (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);

		writer = HeapTupleHeaderGetXmin(tuple->t_data);
		if (should_free)
			heap_freetuple(tuple);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	index_close(index, NoLock);
	return writer;
}

static void
write_receipt(const RfGrant *grant, text *operation)
{
	Relation	receipts = rf_place_open(&place, RowExclusiveLock);
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};
	HeapTuple	tuple;

	values[COLUMN_RESOURCE - 1] = PointerGetDatum(grant->resource);
	values[COLUMN_OPERATION - 1] = PointerGetDatum(operation);
	values[COLUMN_FENCE - 1] = Int64GetDatum(grant->fence);
	values[COLUMN_APPLIED_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	tuple = heap_form_tuple(RelationGetDescr(receipts), values, nulls);
	CatalogTupleInsert(receipts, tuple);
	heap_freetuple(tuple);
	CommandCounterIncrement();
	table_close(receipts, NoLock);
}

static uint64
operation_hash(const RfGrant *grant, const text *operation)
{
	return grant->hash * UINT64CONST(31) +
		rf_resource_hash(VARDATA_ANY(operation), VARSIZE_ANY_EXHDR(operation));
}

/* The same operation at the same time: the second one waits for the first. */
static bool
apply(const RfGrant *grant, text *operation)
{
	Relation	receipts = rf_place_open(&place, AccessShareLock);
	TransactionId writer;

	rf_lock_operation(operation_hash(grant, operation));
	writer = find_receipt(receipts, grant, operation);
	table_close(receipts, NoLock);
	if (TransactionIdIsValid(writer))
		return TransactionIdIsCurrentTransactionId(writer);
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_RF_SETUP),
				 errmsg(RF_MSG_SETUP),
				 errdetail("A receipt cannot be written in a read-only "
						   "transaction.")));
	write_receipt(grant, operation);
	return true;
}

Datum
ringfence_once(PG_FUNCTION_ARGS)
{
	text	   *operation;
	RfGrant		grant;

	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_check_not_null(fcinfo, 1, "operation");
	rf_grant_set_resource(&grant, PG_GETARG_TEXT_PP(0));
	operation = PG_GETARG_TEXT_PP(1);
	rf_check_name("operation", VARDATA_ANY(operation),
				  VARSIZE_ANY_EXHDR(operation));
	grant.fence = rf_claim_require(&grant)->fence;
	PG_RETURN_BOOL(apply(&grant, operation));
}
