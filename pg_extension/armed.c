/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * armed.c
 *		Is what judges the rows still there?
 */
#include "postgres.h"

#include "commands/trigger.h"

#include "armed.h"
#include "claim_check.h"
#include "errcodes.h"
#include "protection.h"
#include "refusal.h"

bool
rf_is_armed(Relation rel, const char *trigger)
{
	const TriggerDesc *all = rel->trigdesc;
	int			i;

	for (i = 0; all != NULL && i < all->numtriggers; i++)
		if (strcmp(all->triggers[i].tgname, trigger) == 0)
			return all->triggers[i].tgenabled == TRIGGER_FIRES_ALWAYS ||
				all->triggers[i].tgenabled == TRIGGER_FIRES_ON_ORIGIN;
	return false;
}

static void
refuse_disarmed(Relation rel, const char *missing)
{
	RfRefusal	refusal = {
		ERRCODE_RF_SETUP, RF_MSG_SETUP, NULL,
		"Ask ringfence.audit() how to mend it.", InvalidAttrNumber, true
	};

	refusal.detail = psprintf("%s of table \"%s\" is missing or switched off.",
							  missing, rf_table_name(rel));
	rf_refuse(rel, &refusal);
}

void
rf_check_armed(Relation rel, const char *trigger)
{
	if (!rf_is_armed(rel, trigger))
		refuse_disarmed(rel, psprintf("Trigger \"%s\"", trigger));
}

void
rf_check_whole_armed(Relation rel, const char *trigger)
{
	if (!rf_is_armed(rel, trigger) && !rf_claim_check_holds(rel))
		refuse_disarmed(rel, psprintf("Constraint \"" RF_CHECK_CLAIM "\", or"
									  " trigger \"%s\",", trigger));
}
