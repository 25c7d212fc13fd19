/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * grant.c
 *		A grant as it is presented to the guard, and the checks it must pass.
 */
#include "grant.h"

#include "common/hashfn.h"
#include "mb/pg_wchar.h"

#include "compat.h"
#include "errcodes.h"
#include "settings.h"

/*
 * The first byte of a control character (C0, DEL, and in UTF-8 C1), or NULL.
 * Such a name cannot be told apart from another one by a person who reads a
 * log.
 */
static const char *
find_control(const char *name, int len, bool utf8)
{
	int			i;

	for (i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) name[i];

		if (c < 0x20 || c == 0x7f)
			return name + i;
		if (utf8 && c == 0xc2 && i + 1 < len &&
			(unsigned char) name[i + 1] < 0xa0)
			return name + i;
	}
	return NULL;
}

static char *
name_problem(const char *what, const char *name, int len)
{
	int			encoding = GetDatabaseEncoding();
	const char *control;

	if (len < 1)
		return psprintf("The %s is empty.", what);
	if (len > RF_RESOURCE_MAX)
		return psprintf("The %s has %d bytes, more than %d.",
						what, len, RF_RESOURCE_MAX);

	/* A database without an encoding takes any bytes; the name does not. */
	if (encoding == PG_SQL_ASCII)
		encoding = PG_UTF8;
	if (!pg_verify_mbstr(encoding, name, len, true))
		return psprintf("The %s is not valid %s.",
						what, pg_encoding_to_char(encoding));
	control = find_control(name, len, encoding == PG_UTF8);
	if (control != NULL)
		return psprintf("The %s has a control character at byte %d.",
						what, (int) (control - name) + 1);
	return NULL;
}

char *
rf_resource_problem(const char *name, int len)
{
	return name_problem("resource", name, len);
}

void
rf_check_resource(const char *name, int len)
{
	rf_check_name("resource", name, len);
}

void
rf_check_name(const char *what, const char *name, int len)
{
	char	   *problem = name_problem(what, name, len);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail_internal("%s", problem)));
}

void
rf_check_fence(int64 fence)
{
	if (fence < 1)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The fence is %lld, less than 1.",
						   (long long) fence)));
	if (fence > rf_max_fence)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The fence is %lld, above the ceiling of %lld.",
						   (long long) fence, (long long) rf_max_fence),
				 errhint("The ceiling is the setting ringfence.max_fence.")));
}

uint64
rf_resource_hash(const char *name, int len)
{
	return hash_bytes_extended((const unsigned char *) name, len, 0);
}

void
rf_grant_set_resource(RfGrant *grant, text *resource)
{
	grant->resource = resource;
	grant->name = VARDATA_ANY(resource);
	grant->name_len = VARSIZE_ANY_EXHDR(resource);
	rf_check_resource(grant->name, grant->name_len);
	grant->hash = rf_resource_hash(grant->name, grant->name_len);
}

/*
 * An empty holder is what a program sends whose variable was never set: all
 * such programs would be one holder.  NULL says the same on purpose.
 */
void
rf_grant_set_holder(RfGrant *grant, const text *holder)
{
	int			len = VARSIZE_ANY_EXHDR(holder);

	if (len < 1)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The holder is empty."),
				 errhint("Leave the holder out if it has no name.")));
	if (len > RF_HOLDER_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The holder has %d bytes, more than %d.",
						   len, RF_HOLDER_MAX)));
	memcpy(grant->holder_space, VARDATA_ANY(holder), len);
	grant->holder_space[len] = '\0';
	grant->holder = grant->holder_space;
}

bool
rf_grant_is_for(const RfGrant *grant, const text *name)
{
	return VARSIZE_ANY_EXHDR(name) == grant->name_len &&
		memcmp(VARDATA_ANY(name), grant->name, grant->name_len) == 0;
}
