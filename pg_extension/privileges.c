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

#include "checks.h"
#include "errcodes.h"

PG_FUNCTION_INFO_V1(ringfence_grant_to);

static const char *const grants[] = {
	"GRANT USAGE ON SCHEMA ringfence TO %s",
	"GRANT EXECUTE ON FUNCTION"
	" ringfence.guard(pg_catalog.text, bigint, pg_catalog.text, interval, boolean),"
	" ringfence.try_guard(pg_catalog.text, bigint, pg_catalog.text, interval, boolean),"
	" ringfence.fence(pg_catalog.text),"
	" ringfence.high_water(pg_catalog.text),"
	" ringfence.once(pg_catalog.text, pg_catalog.text),"
	" ringfence.acquire(pg_catalog.text, pg_catalog.text, interval, bigint),"
	" ringfence.reissue(pg_catalog.text, bigint, pg_catalog.text, bigint),"
	" ringfence.renew(pg_catalog.text, bigint, pg_catalog.text, interval),"
	" ringfence.release(pg_catalog.text, bigint, pg_catalog.text),"
	" ringfence.listen(pg_catalog.text),"
	" ringfence.unlisten(pg_catalog.text)"
	" TO %s",
	"GRANT SELECT ON ringfence.locks TO %s"
};

static const char *
read_role(FunctionCallInfo fcinfo)
{
	char	   *role;

	rf_check_not_null(fcinfo, 0, "role");
	role = GetUserNameFromId(PG_GETARG_OID(0), true);
	if (role == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_RF_ARGUMENT),
				 errmsg(RF_MSG_ARGUMENT),
				 errdetail("There is no role with OID %u.", PG_GETARG_OID(0))));
	return quote_identifier(role);
}

Datum
ringfence_grant_to(PG_FUNCTION_ARGS)
{
	const char *role = read_role(fcinfo);
	int			i;

	SPI_connect();
	for (i = 0; i < lengthof(grants); i++)
		if (SPI_execute(psprintf(grants[i], role), false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "could not grant");
	SPI_finish();
	PG_RETURN_VOID();
}
