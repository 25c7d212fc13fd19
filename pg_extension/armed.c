/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * armed.c
 *		Is the trigger that judges rows still there?
 */
#include "postgres.h"

#include "commands/trigger.h"

#include "armed.h"
#include "errcodes.h"
#include "protection.h"
#include "refusal.h"

static bool
is_armed(const TriggerDesc *all, const char *trigger)
{
	int			i;

	for (i = 0; i < all->numtriggers; i++)
		if (strcmp(all->triggers[i].tgname, trigger) == 0)
			return all->triggers[i].tgenabled == TRIGGER_FIRES_ALWAYS ||
				all->triggers[i].tgenabled == TRIGGER_FIRES_ON_ORIGIN;
	return false;
}

void
rf_check_armed(Relation rel, const char *trigger)
{
	RfRefusal	refusal = {
		ERRCODE_RF_SETUP, RF_MSG_SETUP, NULL,
		"Ask ringfence.audit() how to mend it.", InvalidAttrNumber, true
	};

	if (is_armed(rel->trigdesc, trigger))
		return;
	refusal.detail = psprintf("Trigger \"%s\" of table \"%s\" is missing or"
							  " switched off.", trigger, rf_table_name(rel));
	rf_refuse(rel, &refusal);
}
