/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * protection.h
 *		Names of the triggers and the CHECK that protect a table, and the record of what
 *		should be protected (table ringfence.protection).
 */
#ifndef RF_PROTECTION_H
#define RF_PROTECTION_H

#include "postgres.h"
#include "utils/rel.h"

/*
 * Triggers of one kind fire in byte order of their names: a leading tilde
 * sorts after every letter, so that ours see what the others left behind.
 */
#define RF_TRIGGER_COLUMN	"~ringfence_column"
#define RF_TRIGGER_DELETE	"~ringfence_delete"
#define RF_TRIGGER_KEY		"~ringfence_key"
#define RF_TRIGGER_SEAL		"~ringfence_seal"
#define RF_TRIGGER_RESOURCE	"~ringfence_resource"
#define RF_TRIGGER_INSERT	"~ringfence_insert"
#define RF_TRIGGER_UPDATE	"~ringfence_update"
#define RF_TRIGGER_TRUNCATE	"~ringfence_truncate"

/* And the CHECK of a table that is one resource. */
#define RF_CHECK_CLAIM		"~ringfence_claim"

#define RF_SCHEMA			"ringfence"

/* Is the table recorded?  To be asked about roots of partition trees. */
extern bool rf_protection_exists(Oid relid);

/* And in observe mode? */
extern bool rf_protection_observes(Oid relid);

/*
 * The table itself, or the root of the partition tree that it is part of, or
 * the protected table that it inherits from.
 */
extern Oid	rf_root_table(Relation rel);

/* "schema.table", palloc'd, for messages. */
extern char *rf_table_name(Relation rel);

#endif							/* RF_PROTECTION_H */
