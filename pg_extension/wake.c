/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * wake.c
 *		listen(), unlisten(), and the notice to those who do.
 *
 * Commits that send a notice queue up behind each other in the whole server, so
 * one is sent only when somebody waits.  That is told by a lock: every waiter
 * shares it for as long as its session listens.
 */
#include "wake.h"

#include "commands/async.h"
#include "fmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"

#include "checks.h"
#include "compat.h"
#include "resource_lock.h"

PG_FUNCTION_INFO_V1(ringfence_listen);
PG_FUNCTION_INFO_V1(ringfence_unlisten);

static const char *
channel_of(const RfGrant *grant)
{
	return psprintf("ringfence:%016llx", (unsigned long long) grant->hash);
}

/* Nobody waits when the lock can be had alone. */
static bool
somebody_waits(const RfGrant *grant)
{
	LOCKTAG		tag;

	rf_waiter_tag(&tag, grant->hash);
	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, ExclusiveLock, false);
	return false;
}

void
rf_wake(const RfGrant *grant)
{
	if (somebody_waits(grant))
		Async_Notify(channel_of(grant), "");
}

static void
read_resource(FunctionCallInfo fcinfo, RfGrant *grant)
{
	rf_check_server();
	rf_check_not_null(fcinfo, 0, "resource");
	rf_grant_set_resource(grant, PG_GETARG_TEXT_PP(0));
}

/* For the session: it has to be one's own, not one of a pool. */
Datum
ringfence_listen(PG_FUNCTION_ARGS)
{
	const char *channel;
	LOCKTAG		tag;
	RfGrant		grant;

	read_resource(fcinfo, &grant);
	channel = channel_of(&grant);
	rf_waiter_tag(&tag, grant.hash);
	if (!rf_lock_held(&tag, ShareLock))
		(void) LockAcquire(&tag, ShareLock, true, false);
	Async_Listen(channel);
	PG_RETURN_TEXT_P(cstring_to_text(channel));
}

Datum
ringfence_unlisten(PG_FUNCTION_ARGS)
{
	LOCKTAG		tag;
	RfGrant		grant;

	read_resource(fcinfo, &grant);
	rf_waiter_tag(&tag, grant.hash);
	Async_Unlisten(channel_of(&grant));
	if (rf_lock_held(&tag, ShareLock))
		(void) LockRelease(&tag, ShareLock, true);
	PG_RETURN_VOID();
}
