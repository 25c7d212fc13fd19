/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * refusal.c
 *		How a trigger says no, or that it would have said no.
 *
 * The only place that knows of observe mode, so that no check can forget it
 * and none pays for it as long as writes are right.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timestamp.h"

#include "errcodes.h"
#include "protection.h"
#include "refusal.h"
#include "stats.h"

/* A statement over a million rows shall not write a million warnings. */
#define WARNINGS_PER_STATEMENT	10

/* True for the first few times in one statement of the client. */
static bool
warning_wanted(void)
{
	static TimestampTz statement = 0;
	static int	told = 0;

	if (statement != GetCurrentStatementStartTimestamp())
	{
		statement = GetCurrentStatementStartTimestamp();
		told = 0;
	}
	return told++ < WARNINGS_PER_STATEMENT;
}

/*
 * What is wrong with a statement is found at each of its partitions, and by
 * the triggers on rows as well.
 */
static bool
is_told(Oid root, int sqlstate)
{
	static TransactionId last_xid = InvalidTransactionId;
	static CommandId last_command;
	static Oid	last_root;
	static int	last_sqlstate;

	if (last_xid == GetTopTransactionId() &&
		last_command == GetCurrentCommandId(false) &&
		last_root == root && last_sqlstate == sqlstate)
		return true;
	last_xid = GetTopTransactionId();
	last_command = GetCurrentCommandId(false);
	last_root = root;
	last_sqlstate = sqlstate;
	return false;
}

static void
report(int level, Relation rel, const RfRefusal *refusal)
{
	ereport(level,
			(errcode(refusal->sqlstate),
			 errmsg_internal("%s", refusal->message),
			 errdetail_internal("%s%s", refusal->detail,
								level == WARNING ?
								"  Let through in observe mode." : ""),
			 errhint("%s", refusal->hint),
			 refusal->attnum > 0 ? errtablecol(rel, refusal->attnum) :
			 errtable(rel)));
}

void
rf_refuse(Relation rel, const RfRefusal *refusal)
{
	Oid			root = rf_root_table(rel);

	if (!rf_protection_observes(root))
	{
		if (refusal->sqlstate == ERRCODE_RF_STALE)
			rf_count(RF_COUNT_STALE);
		else if (refusal->sqlstate == ERRCODE_RF_UNFENCED)
			rf_count(RF_COUNT_UNFENCED);
		report(ERROR, rel, refusal);
	}
	if (refusal->of_statement && is_told(root, refusal->sqlstate))
		return;
	rf_count(RF_COUNT_OBSERVED);
	if (warning_wanted())
		report(WARNING, rel, refusal);
}
