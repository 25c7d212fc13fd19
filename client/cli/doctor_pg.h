/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * doctor_pg.h - what a person wants to know of the database
 */
#ifndef CLI_DOCTOR_PG_H
#define CLI_DOCTOR_PG_H

#include "finding.h"

/* Tell of the database of call->conn, which is connected. */
void cli_doctor_pg(cli_call *call, cli_findings *all);

#endif /* CLI_DOCTOR_PG_H */
