/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * place.h
 *		Where a table of the extension is, by name, without asking each time.
 */
#ifndef RF_PLACE_H
#define RF_PLACE_H

#include "postgres.h"

#include "access/genam.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* Define one as static, with the two names; the rest is filled in. */
typedef struct RfPlace
{
	const char *table;			/* in schema ringfence */
	const char *index;
	Oid			table_oid;		/* invalid: not looked up */
	Oid			index_oid;
	bool		is_known;		/* in the list of places */
	struct RfPlace *next;
} RfPlace;

/*
 * Lock the table; open it as well, or its index under whichever lock the table
 * has.  Locks are kept to the end of the transaction, so that the table cannot
 * be dropped under a claim: close with NoLock.  RF005 when it is not there.
 */
extern Oid	rf_place_lock(RfPlace *place, LOCKMODE mode);
extern Relation rf_place_open(RfPlace *place, LOCKMODE mode);
extern Relation rf_place_open_index(RfPlace *place);

/*
 * Clear away what nobody sees any more from the page of a row that is going to
 * be replaced: that is where its next version should find room.  An index scan
 * does it by the way; who comes by a hint has to ask for it.
 */
extern void rf_place_prune(Relation table, const ItemPointerData *tid);

/* The rows of that resource, which is the first column of table and index. */
extern IndexScanDesc rf_place_scan(Relation table, Relation index,
								   const text *resource, Snapshot snapshot);

#endif							/* RF_PLACE_H */
