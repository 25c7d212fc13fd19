/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * template.c
 *		From a row to the name of its resource: 'inventory:{sku}'.
 *
 * Knows nothing of triggers or claims.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "column.h"
#include "compat.h"
#include "grant.h"
#include "protection.h"
#include "template.h"

/* ---- Taking it apart ---------------------------------------------------- */

/*
 * Read text up to a column or the end, with doubled braces made single.
 * Returns where it stopped, or NULL at a brace that has no partner.
 */
static const char *
read_text(const char *p, StringInfo text)
{
	resetStringInfo(text);
	while (*p != '\0')
	{
		bool		brace = *p == '{' || *p == '}';

		if (brace && p[1] == p[0])
			p++;
		else if (*p == '{')
			break;
		else if (brace)
			return NULL;
		appendStringInfoChar(text, *p++);
	}
	return p;
}

/* Read the column's name after its opening brace.  Likewise. */
static const char *
read_column(const char *p, StringInfo name)
{
	resetStringInfo(name);
	while (*p != '}')
	{
		if (*p == '\0' || *p == '{')
			return NULL;
		appendStringInfoChar(name, *p++);
	}
	return p + 1;
}

static void
add_column(RfTemplate *template, const char *before, const char *name)
{
	Size		size = (template->ncolumns + 1) * sizeof(RfTemplateColumn);
	RfTemplateColumn *column;

	template->columns = template->columns == NULL ? palloc(size) :
		repalloc(template->columns, size);
	column = &template->columns[template->ncolumns++];
	memset(column, 0, sizeof(*column));
	column->before = pstrdup(before);
	column->name = pstrdup(name);
}

RfTemplate *
rf_template_parse(const char *source, char **problem)
{
	RfTemplate *template = palloc0(sizeof(RfTemplate));
	StringInfoData text;
	StringInfoData name;
	const char *p = source;

	initStringInfo(&text);
	initStringInfo(&name);
	while ((p = read_text(p, &text)) != NULL && *p == '{')
	{
		p = read_column(p + 1, &name);
		if (p == NULL)
			break;
		if (name.len == 0)
		{
			*problem = pstrdup("The template has braces with no column"
							   " between them.");
			return NULL;
		}
		add_column(template, text.data, name.data);
	}
	if (p == NULL)
	{
		*problem = pstrdup("The template has a brace without its partner; a"
						   " brace meant as text is written twice.");
		return NULL;
	}
	template->after = text.data;
	return template;
}

/* ---- Finding its columns ------------------------------------------------ */

/*
 * A value that prints differently under another DateStyle would give one row
 * two resources, and two holders at once.  Floats and what is made of them
 * depend on extra_float_digits, whatever their functions say.
 */
static bool
prints_the_same(Oid type, Oid output)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(type, &category, &preferred);
	return func_volatile(output) == PROVOLATILE_IMMUTABLE &&
		output != F_FLOAT4OUT && output != F_FLOAT8OUT &&
		category != TYPCATEGORY_GEOMETRIC;
}

char *
rf_template_bind_type(RfTemplateColumn *column, Oid type,
					  MemoryContext context)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	if (!prints_the_same(type, output))
		return psprintf("Column \"%s\" has type %s, whose text depends on"
						" settings of the session.", column->name,
						format_type_be(type));
	column->is_text = output == F_TEXTOUT || output == F_VARCHAROUT;
	fmgr_info_cxt(output, &column->output, context);
	return NULL;
}

static char *
bind_column(RfTemplateColumn *column, Relation rel, MemoryContext context)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute att;

	column->attnum = rf_column_number(desc, column->name);
	if (column->attnum == InvalidAttrNumber)
		return psprintf("The template names column \"%s\", which table \"%s\""
						" does not have.", column->name, rf_table_name(rel));
	att = TupleDescAttr(desc, column->attnum - 1);
	if (rf_is_virtual(att))
		return psprintf("Column \"%s\" of table \"%s\" is not stored.",
						column->name, rf_table_name(rel));
	return rf_template_bind_type(column, att->atttypid, context);
}

char *
rf_template_bind(RfTemplate *template, Relation rel, MemoryContext context)
{
	int			i;

	for (i = 0; i < template->ncolumns; i++)
	{
		char	   *problem = bind_column(&template->columns[i], rel, context);

		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* ---- Filling it in ------------------------------------------------------ */

/* Of a long value no more than is needed to see that it is too long. */
void
rf_template_append(const RfTemplateColumn *column, Datum value,
				   StringInfo name)
{
	appendStringInfoString(name, column->before);
	if (column->is_text)
	{
		text	   *chars = DatumGetTextPP(value);

		appendBinaryStringInfo(name, VARDATA_ANY(chars),
							   Min(VARSIZE_ANY_EXHDR(chars),
								   RF_RESOURCE_MAX + 1));
	}
	else
		appendStringInfoString(name,
							   OutputFunctionCall((FmgrInfo *) &column->output,
												  value));
}

const RfTemplateColumn *
rf_template_render(const RfTemplate *template, TupleDesc desc,
				   HeapTuple tuple, StringInfo name)
{
	int			i;

	resetStringInfo(name);
	for (i = 0; i < template->ncolumns; i++)
	{
		const RfTemplateColumn *column = &template->columns[i];
		bool		isnull;
		Datum		value = heap_getattr(tuple, column->attnum, desc, &isnull);

		if (isnull)
			return column;
		rf_template_append(column, value, name);
	}
	appendStringInfoString(name, template->after);
	return NULL;
}
