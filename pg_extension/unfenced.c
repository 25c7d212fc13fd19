/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * unfenced.c
 *		What is said to a statement that carries no fence.
 */
#include "unfenced.h"

#include "errcodes.h"
#include "protection.h"
#include "refusal.h"

void
rf_refuse_unnamed(Relation rel, AttrNumber attnum)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Set the column to the fence of your grant, as in"
		" UPDATE ... SET fence = 42.", InvalidAttrNumber, true
	};

	refusal.detail = psprintf("The statement updates table \"%s\" and does"
							  " not name its fence column.",
							  rf_table_name(rel));
	refusal.attnum = attnum;
	rf_refuse(rel, &refusal);
}

void
rf_refuse_unclaimed(Relation rel, const char *resource)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"Call ringfence.guard(resource, fence, holder) first, in the same"
		" transaction.", InvalidAttrNumber, false
	};

	refusal.detail = psprintf("A row of table \"%s\" belongs to resource"
							  " \"%s\", which this transaction has not"
							  " claimed.",
							  rf_table_name(rel), resource);
	rf_refuse(rel, &refusal);
}

void
rf_refuse_in_cascade(Relation rel)
{
	RfRefusal	refusal = {
		ERRCODE_RF_UNFENCED, RF_MSG_UNFENCED, NULL,
		"It could not be judged, being the first that this session does to"
		" a protected table.  Load the library before, with"
		" session_preload_libraries.", InvalidAttrNumber, true
	};

	refusal.detail = psprintf("A trigger wrote table \"%s\" during a cascade,"
							  " and is not the cascade.",
							  rf_table_name(rel));
	rf_refuse(rel, &refusal);
}
