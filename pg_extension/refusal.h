/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * refusal.h
 *		How a trigger says no, or that it would have said no.
 */
#ifndef RF_REFUSAL_H
#define RF_REFUSAL_H

#include "postgres.h"
#include "access/attnum.h"
#include "utils/rel.h"

typedef struct RfRefusal
{
	int			sqlstate;
	const char *message;		/* constant */
	const char *detail;			/* table, resource, numbers */
	const char *hint;			/* what to do */
	AttrNumber	attnum;			/* column at fault, or 0 */
	bool		of_statement;	/* not of one row: observed, it is told once */
} RfRefusal;

/*
 * Refuse what is being done to the table.  Comes back only when the table is
 * in observe mode: then the caller lets the write through.
 */
extern void rf_refuse(Relation rel, const RfRefusal *refusal);

#endif							/* RF_REFUSAL_H */
