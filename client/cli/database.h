/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * database.h - the database beside the locks
 */
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

#include "command.h"

/*
 * Connect call->conn, and see that the extension is there and not too old.  Where
 * no database is set, libpq finds one by itself.  0, or the exit code after its
 * message.
 */
int cli_connect(cli_call *call);

/* Connect alone: for who wants to look at what is missing. */
int cli_connect_only(cli_call *call);

/*
 * Ask, with n parameters.  The answer has rows, or *code is the exit code after
 * its message and the answer is NULL.  End it with PQclear().
 */
PGresult *cli_ask(cli_call *call, const char *sql, int n,
                  const char *const *values, int *code);

/* What a person does about this SQLSTATE, or "". */
const char *cli_remedy(const char *sqlstate);

#endif /* CLI_DATABASE_H */
