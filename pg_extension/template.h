/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * template.h
 *		From a row to the name of its resource: 'inventory:{sku}'.
 */
#ifndef RF_TEMPLATE_H
#define RF_TEMPLATE_H

#include "postgres.h"
#include "access/attnum.h"
#include "access/htup.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/rel.h"

/* One column, and the text that stands before it. */
typedef struct RfTemplateColumn
{
	const char *before;
	const char *name;
	AttrNumber	attnum;
	bool		is_text;		/* stored as it prints */
	FmgrInfo	output;
} RfTemplateColumn;

typedef struct RfTemplate
{
	int			ncolumns;
	RfTemplateColumn *columns;
	const char *after;			/* the text after the last column */
} RfTemplate;

/*
 * Take the template apart, in the current memory context.  NULL, and a reason
 * in *problem, when it can't be read.
 */
extern RfTemplate *rf_template_parse(const char *source, char **problem);

/*
 * Find the template's columns in the table.  Returns why that can't be, or
 * NULL.
 */
extern char *rf_template_bind(RfTemplate *template, Relation rel,
							  MemoryContext context);

/* Prepare one column for values of that type.  Likewise. */
extern char *rf_template_bind_type(RfTemplateColumn *column, Oid type,
								   MemoryContext context);

/*
 * Append a column's value, with the text before it, to the name; the caller
 * has cleared that, sees to NULL, and appends the text after the last one.
 */
extern void rf_template_append(const RfTemplateColumn *column, Datum value,
							   StringInfo name);

/*
 * Write the name of the row's resource into *name.  Returns the column that is
 * NULL, which leaves the row without a resource; otherwise NULL.
 */
extern const RfTemplateColumn *rf_template_render(const RfTemplate *template,
												  TupleDesc desc,
												  HeapTuple tuple,
												  StringInfo name);

#endif							/* RF_TEMPLATE_H */
