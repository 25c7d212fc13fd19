/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * privileges.c
 *		grant_to(): what an application's role needs, and no more.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "errcodes.h"

PG_FUNCTION_INFO_V1(ringfence_grant_to);

static const char *const grants[] = {
	"GRANT USAGE ON SCHEMA ringfence TO %s",
	"GRANT EXECUTE ON FUNCTION"
	" ringfence.guard(pg_catalog.text, bigint, pg_catalog.text, interval, boolean),"
	" ringfence.try_guard(pg_catalog.text, bigint, pg_catalog.text, interval, boolean),"
	" ringfence.fence(pg_catalog.text),"
	" ringfence.high_water(pg_catalog.text),"
	" ringfence.once(pg_catalog.text, pg_catalog.text)"
	" TO %s"
};

Datum
ringfence_grant_to(PG_FUNCTION_ARGS)
{
	const char *role;
	int			i;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("The role is null.")));
	role = quote_identifier(GetUserNameFromId(PG_GETARG_OID(0), false));

	SPI_connect();
	for (i = 0; i < lengthof(grants); i++)
		if (SPI_execute(psprintf(grants[i], role), false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "could not grant");
	SPI_finish();
	PG_RETURN_VOID();
}
