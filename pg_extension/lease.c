/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * lease.c
 *		A transaction that ends at a given moment, idle or busy.
 *
 * The server's own timer for idle transactions starts again with every
 * statement, so a holder could outlive its lease.  Ours runs once.  Where it
 * ends, the session is terminated in the server's own way: a holder that was
 * stopped is not there to roll back.
 */
#include "lease.h"

#include <limits.h>

#include "access/xact.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/timeout.h"

#include "compat.h"
#include "errcodes.h"

/*
 * A backend that is stuck in sending to a client that does not read answers
 * to nothing but termination, so that follows.
 */
#define GRACE_MS	500

static TimestampTz lease_end = 0;
static TimeoutId end_timeout = MAX_TIMEOUTS;
static TimeoutId grace_timeout = MAX_TIMEOUTS;

/* What the handler has changed, to be undone should the transaction get away. */
static volatile sig_atomic_t has_ended = false;
static int	saved_setting = 0;

/*
 * In a signal handler.  The flag makes the next check for interrupts terminate
 * the session, if the setting that belongs to it is not 0.
 */
static void
at_lease_end(void)
{
	if (!has_ended)
		saved_setting = rf_end_setting;
	has_ended = true;
	if (rf_end_setting == 0)
		rf_end_setting = 1;
	rf_end_pending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static void
at_grace_end(void)
{
	ProcDiePending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static void
disarm(void)
{
	if (lease_end == 0)
		return;
	disable_timeout(end_timeout, false);
	disable_timeout(grace_timeout, false);
	if (has_ended)
	{
		rf_end_pending = false;
		rf_end_setting = saved_setting;
		has_ended = false;
	}
	lease_end = 0;
}

static void
arm(TimestampTz end)
{
	/* Not when the library is loaded: that may be before there is a backend. */
	if (end_timeout == MAX_TIMEOUTS)
	{
		end_timeout = RegisterTimeout(USER_TIMEOUT, at_lease_end);
		grace_timeout = RegisterTimeout(USER_TIMEOUT, at_grace_end);
	}
	lease_end = end;
	enable_timeout_at(end_timeout, end);
	enable_timeout_at(grace_timeout,
					  TimestampTzPlusMilliseconds(end, GRACE_MS));
}

TimestampTz
rf_lease_limit(TimestampTz end)
{
	TimestampTz previous = lease_end;

	if (previous == 0 || end < previous)
		arm(end);
	return previous;
}

void
rf_lease_restore(TimestampTz previous)
{
	if (previous == lease_end)
		return;
	disarm();
	if (previous != 0)
		arm(previous);
}

static void
refuse_lease(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_RF_ARGUMENT),
			 errmsg(RF_MSG_ARGUMENT),
			 errdetail("The lease is %s.", why)));
}

/* Days have 24 hours here and months 30 days: a lease is a length of time. */
TimestampTz
rf_lease_end(const Interval *lease)
{
	int64		days = (int64) lease->month * DAYS_PER_MONTH + lease->day;
	int64		usec;
	int64		msec;

	if (pg_mul_s64_overflow(days, USECS_PER_DAY, &usec) ||
		pg_add_s64_overflow(usec, lease->time, &usec))
		refuse_lease("out of range");
	if (usec <= 0)
		refuse_lease("zero or less");
	/* Rounded up, since 0 would mean none. */
	msec = usec / 1000 + (usec % 1000 != 0);
	if (msec > INT_MAX)
		refuse_lease("longer than 24 days");
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), msec);
}

/*
 * A lease that has ended stops the commit, up to here.  From here on a commit
 * is under way, and to end the session could leave open whether it happened.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (lease_end != 0)
				CHECK_FOR_INTERRUPTS();
			disarm();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			disarm();
			break;
		default:
			break;
	}
}

void
rf_lease_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
}
