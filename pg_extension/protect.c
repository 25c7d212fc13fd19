/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * protect.c
 *		protect() and unprotect(): for the owner of the table, and nobody else.
 *
 * Everything is checked first, as the caller.  Only then the work is done, as
 * the owner of this extension: the caller needs no privilege on our trigger
 * functions, nor on the record.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "column.h"
#include "compat.h"
#include "errcodes.h"
#include "grant.h"
#include "install.h"
#include "protection.h"
#include "template.h"

PG_FUNCTION_INFO_V1(ringfence_protect);
PG_FUNCTION_INFO_V1(ringfence_unprotect);

/* ---- What can be wrong with the call ------------------------------------ */

static void
raise_argument(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

static void
raise_setup(Relation rel, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_SETUP),
			 errmsg(RF_MSG_SETUP),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint),
			 errtable(rel)));
}

static void
check_owner(Oid relid)
{
	if (!rf_owns_table(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

static void
raise_no_table(Oid relid)
{
	raise_argument(psprintf("There is no table with OID %u.", relid),
				   "It may have been dropped.");
}

/*
 * Lock the table against other changes of its kind before looking at it; and
 * look first whether the caller may lock it.
 */
static Relation
open_own_table(Oid relid, LOCKMODE lock)
{
	Relation	rel;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		raise_no_table(relid);
	check_owner(relid);
	rel = try_relation_open(relid, lock);
	if (rel == NULL)
		raise_no_table(relid);
	check_owner(relid);
	return rel;
}

/* What it is instead of a table that can be protected, or NULL. */
static const char *
other_kind(Relation rel)
{
	char		kind = rel->rd_rel->relkind;
	Oid			schema = RelationGetNamespace(rel);

	if (kind == RELKIND_FOREIGN_TABLE)
		return "a foreign table: its rows are written elsewhere";
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		return "not a table";
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return "temporary";
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "unlogged: after a crash it is empty, fences and all";
	if (IsCatalogRelation(rel) || IsCatalogNamespace(schema) ||
		strcmp(get_namespace_name(schema), "information_schema") == 0 ||
		strcmp(get_namespace_name(schema), RF_SCHEMA) == 0)
		return "a system table";
	return NULL;
}

static void
check_kind(Relation rel)
{
	const char *other = other_kind(rel);

	if (other != NULL)
		raise_setup(rel, psprintf("\"%s\" is %s.", rf_table_name(rel), other),
					"Protect permanent tables, where their rows are.");
}

static void
raise_inheritance(Relation rel)
{
	raise_setup(rel, psprintf("\"%s\" inherits, or is inherited from.",
							  rf_table_name(rel)),
				"Use partitions instead of inheritance.");
}

static void
check_is_root(Relation rel)
{
	if (rel->rd_rel->relispartition)
		raise_setup(rel, psprintf("\"%s\" is a partition.",
								  rf_table_name(rel)),
					psprintf("Protect the root of the tree: %s.",
							 get_rel_name(rf_root_table(rel))));
	if (has_superclass(RelationGetRelid(rel)))
		raise_inheritance(rel);
}

static void
check_partitions(List *tables)
{
	ListCell   *cell;

	foreach(cell, tables)
	{
		Relation	rel = relation_open(lfirst_oid(cell), NoLock);

		check_kind(rel);
		relation_close(rel, NoLock);
	}
}

static void
check_column(Relation rel, const char *column)
{
	char	   *problem;

	if (column == NULL)
		return;
	problem = rf_column_problem(rel, column);
	if (problem != NULL)
		raise_setup(rel, problem,
					"A fence column is a bigint of its own in every row.");
}

/* The text between the columns, which no value can make valid. */
static char *
fixed_text_problem(const RfTemplate *template)
{
	StringInfoData fixed;
	int			i;

	initStringInfo(&fixed);
	for (i = 0; i < template->ncolumns; i++)
		appendStringInfoString(&fixed, template->columns[i].before);
	appendStringInfoString(&fixed, template->after);
	if (fixed.len == 0 && template->ncolumns > 0)
		return NULL;
	return rf_resource_problem(fixed.data, fixed.len);
}

static void
check_template(Relation rel, const char *source)
{
	char	   *problem = NULL;
	RfTemplate *template;

	if (source == NULL)
		return;
	template = rf_template_parse(source, &problem);
	if (template != NULL)
		problem = fixed_text_problem(template);
	if (problem != NULL)
		raise_argument(problem, "A template is a text such as"
					   " 'inventory:{sku}', with a column between braces.");
	problem = rf_template_bind(template, rel, CurrentMemoryContext);
	if (problem != NULL)
		raise_setup(rel, problem, "Use columns of a text, integer or uuid"
					" type; others can be had as generated text columns.");
}

static void
check_mode(const char *mode)
{
	if (mode == NULL ||
		(strcmp(mode, "enforce") != 0 && strcmp(mode, "observe") != 0))
		raise_argument(psprintf("The mode is %s%s%s.", mode ? "\"" : "",
								mode ? mode : "NULL", mode ? "\"" : ""),
					   "A mode is enforce or observe.");
}

/* ---- Which key columns must stay as they are ---------------------------- */

/* Columns that decide a row's partition, on any level of the tree. */
static bool
is_partition_key(List *tables, const char *column)
{
	ListCell   *cell;
	bool		found = false;

	foreach(cell, tables)
	{
		Relation	rel = table_open(lfirst_oid(cell), NoLock);
		AttrNumber	attnum = rf_column_number(RelationGetDescr(rel), column);

		if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
			found = found ||
				has_partition_attrs(rel,
									bms_make_singleton(attnum - FirstLowInvalidHeapAttributeNumber),
									NULL);
		table_close(rel, NoLock);
	}
	return found;
}

/*
 * The primary key, except for what moves a row between partitions: a row that
 * moves keeps its fence.
 */
static List *
find_keys(Relation rel, List *tables)
{
	Bitmapset  *key = RelationGetIndexAttrBitmap(rel,
												 INDEX_ATTR_BITMAP_PRIMARY_KEY);
	List	   *names = NIL;
	int			member = -1;

	while ((member = bms_next_member(key, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;
		char	   *name = get_attname(RelationGetRelid(rel), attnum, false);

		if (!is_partition_key(tables, name))
			names = lappend(names, name);
	}
	return names;
}

/* ---- The record --------------------------------------------------------- */

static const char record_sql[] =
"INSERT INTO " RF_SCHEMA ".protection AS p"
" SELECT t.nspname, t.relname, r.nspname, r.relname, $3, $4, $5, $6,"
" pg_catalog.clock_timestamp()"
" FROM (SELECT n.nspname, c.relname FROM pg_catalog.pg_class c"
" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
" WHERE c.oid OPERATOR(pg_catalog.=) $1) t,"
" (SELECT n.nspname, c.relname FROM pg_catalog.pg_class c"
" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
" WHERE c.oid OPERATOR(pg_catalog.=) $2) r"
" ON CONFLICT (table_schema, table_name) DO UPDATE SET"
" root_schema = EXCLUDED.root_schema, root_name = EXCLUDED.root_name,"
" fence_column = EXCLUDED.fence_column, resource = EXCLUDED.resource,"
" mode = EXCLUDED.mode, protected_by = EXCLUDED.protected_by,"
" protected_at = EXCLUDED.protected_at";

static const char forget_sql[] =
"DELETE FROM " RF_SCHEMA ".protection p"
" USING pg_catalog.pg_class c, pg_catalog.pg_namespace n"
" WHERE c.oid OPERATOR(pg_catalog.=) $1"
" AND n.oid OPERATOR(pg_catalog.=) c.relnamespace"
" AND ((p.table_schema OPERATOR(pg_catalog.=) n.nspname"
" AND p.table_name OPERATOR(pg_catalog.=) c.relname)"
" OR (p.root_schema OPERATOR(pg_catalog.=) n.nspname"
" AND p.root_name OPERATOR(pg_catalog.=) c.relname))";

static void
record_table(const RfProtection *protection, Oid relid, const char *by)
{
	Oid			types[6] = {OIDOID, OIDOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID};
	Datum		values[6];
	char		nulls[7] = "      ";

	values[0] = ObjectIdGetDatum(relid);
	values[1] = ObjectIdGetDatum(protection->relid);
	values[2] = values[3] = (Datum) 0;
	if (protection->fence != NULL)
		values[2] = CStringGetTextDatum(protection->fence);
	else
		nulls[2] = 'n';
	if (protection->resource != NULL)
		values[3] = CStringGetTextDatum(protection->resource);
	else
		nulls[3] = 'n';
	values[4] = CStringGetTextDatum(protection->mode);
	values[5] = CStringGetTextDatum(by);
	if (SPI_execute_with_args(record_sql, 6, types, values, nulls, false,
							  0) != SPI_OK_INSERT)
		elog(ERROR, "could not record the protection");
}

/* Of the table, and of what are or were its partitions. */
static uint64
forget_table(Oid relid)
{
	Oid			types[1] = {OIDOID};
	Datum		values[1];

	values[0] = ObjectIdGetDatum(relid);
	if (SPI_execute_with_args(forget_sql, 1, types, values, NULL, false,
							  0) != SPI_OK_DELETE)
		elog(ERROR, "could not delete from the record");
	return SPI_processed;
}

/* ---- As the owner of the extension -------------------------------------- */

typedef struct Caller
{
	Oid			role;
	int			context;
} Caller;

static Oid
function_owner(FunctionCallInfo fcinfo)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u",
			 fcinfo->flinfo->fn_oid);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* An error ends it too: the server restores the role. */
static Caller
become_owner(FunctionCallInfo fcinfo)
{
	Caller		caller;

	GetUserIdAndSecContext(&caller.role, &caller.context);
	SetUserIdAndSecContext(function_owner(fcinfo),
						   caller.context | SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
	return caller;
}

static void
become_caller(Caller caller)
{
	SPI_finish();
	SetUserIdAndSecContext(caller.role, caller.context);
}

/* ---- protect() and unprotect() ------------------------------------------ */

static char *
text_arg(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

static Oid
table_arg(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		raise_argument("The table is NULL.", "Name the table to protect.");
	return PG_GETARG_OID(0);
}

/*
 * The server wants the greater lock for a CHECK; asked for later, it would be
 * a deadlock with whoever reads now and writes then.
 */
static LOCKMODE
needed_lock(const RfProtection *protection)
{
	return rf_wants_claim_check(protection) ? AccessExclusiveLock :
		ShareRowExclusiveLock;
}

/* Check all, and say what is to be done. */
static void
plan_protection(FunctionCallInfo fcinfo, RfProtection *protection)
{
	Relation	rel;

	memset(protection, 0, sizeof(*protection));
	protection->relid = table_arg(fcinfo);
	protection->fence = PG_ARGISNULL(1) ? NULL :
		pstrdup(NameStr(*PG_GETARG_NAME(1)));
	protection->resource = text_arg(fcinfo, 2);
	protection->mode = text_arg(fcinfo, 3);
	rel = open_own_table(protection->relid, needed_lock(protection));
	if (protection->fence == NULL && protection->resource == NULL)
		raise_argument("Neither a fence column nor a resource is given.",
					   "Name one of them, or both.");
	check_mode(protection->mode);
	check_kind(rel);
	check_is_root(rel);
	protection->tables = find_all_inheritors(protection->relid,
											 ShareRowExclusiveLock, NULL);
	protection->partitioned =
		rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		list_length(protection->tables) > 1;
	check_partitions(protection->tables);
	check_column(rel, protection->fence);
	check_template(rel, protection->resource);
	protection->keys = find_keys(rel, protection->tables);

	/* The lock stays; an open table can't be altered. */
	relation_close(rel, NoLock);
}

/*
 * Statements on the parent of a plain table reach children past its triggers,
 * unless an extension has cloned these, as TimescaleDB does for a hypertable's
 * chunks.  Which is told by looking, whatever extension there is.
 */
static void
check_installed(const RfProtection *protection)
{
	Relation	rel;

	if (rf_is_installed(protection))
		return;
	rel = relation_open(protection->relid, NoLock);
	raise_inheritance(rel);
}

Datum
ringfence_protect(PG_FUNCTION_ARGS)
{
	RfProtection protection;
	Caller		caller;
	char	   *by = GetUserNameFromId(GetUserId(), false);
	ListCell   *cell;

	plan_protection(fcinfo, &protection);
	caller = become_owner(fcinfo);
	rf_install_protection(&protection);
	check_installed(&protection);
	forget_table(protection.relid);
	foreach(cell, protection.tables)
		record_table(&protection, lfirst_oid(cell), by);
	become_caller(caller);
	PG_RETURN_VOID();
}

/* A partition of what is not protected may still have triggers of its own. */
static void
check_not_by_root(Relation rel)
{
	Oid			root = rf_root_table(rel);

	if (root != RelationGetRelid(rel) && rf_protection_exists(root))
		raise_setup(rel, psprintf("\"%s\" is a partition.",
								  rf_table_name(rel)),
					psprintf("Take the protection from the root of the tree:"
							 " %s.", get_rel_name(root)));
}

Datum
ringfence_unprotect(PG_FUNCTION_ARGS)
{
	Relation	rel = open_own_table(table_arg(fcinfo),
										 ShareRowExclusiveLock);
	Oid			relid = RelationGetRelid(rel);
	List	   *tables;
	Caller		caller;

	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		raise_setup(rel, psprintf("\"%s\" is not a table.",
								  rf_table_name(rel)),
					"Nothing else can have been protected.");
	check_not_by_root(rel);
	tables = find_all_inheritors(relid, ShareRowExclusiveLock, NULL);
	relation_close(rel, NoLock);
	caller = become_owner(fcinfo);
	rf_remove_protection(tables);
	if (forget_table(relid) == 0)
		ereport(NOTICE,
				(errmsg("table is not protected")));
	become_caller(caller);
	PG_RETURN_VOID();
}
