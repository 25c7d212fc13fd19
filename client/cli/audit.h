/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * audit.h - what ringfence.audit() finds, for audit and for doctor
 */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "database.h"
#include "finding.h"

/* 0, or the exit code after its message. */
int cli_audit(cli_call *call, cli_findings *all);

#endif /* CLI_AUDIT_H */
