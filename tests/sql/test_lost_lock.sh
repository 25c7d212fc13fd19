#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Something lets go of a transaction's locks before its end, as DISCARD ALL in a
# pipeline did in servers before November 2022: here a C function that makes the
# same call.  Claims are worth nothing then, and nothing may be committed.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

cat >"$TMPDIR/let_go.c" <<'C'
#include "postgres.h"
#include "fmgr.h"
#include "storage/lock.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(let_go);

Datum
let_go(PG_FUNCTION_ARGS)
{
	LockReleaseAll(USER_LOCKMETHOD, true);
	PG_RETURN_VOID();
}
C
${CC:-gcc} -shared -fPIC -I"$($PG_CONFIG --includedir-server)" \
    -o "$TMPDIR/let_go.so" "$TMPDIR/let_go.c" || exit 1
chmod -R a+rX "$TMPDIR"
ask "CREATE FUNCTION let_go() RETURNS void LANGUAGE c AS '$TMPDIR/let_go';
    CREATE TABLE work (who text)" >/dev/null
ask "SELECT ringfence.guard('r', 5, 'a')" >/dev/null

# state_after STATEMENT...: the SQLSTATE that the last of them ends in.
state_after() {
    session one
    tell one "$@"
    finish one
    code_of one
}
held() {
    ask "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 21062
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
}
claim="SELECT ringfence.guard('r', 6, 'b')"
write="INSERT INTO work VALUES ('one')"

plan 9
is "with its locks, a transaction commits" \
    "$(state_after BEGIN "$claim" "$write" COMMIT)" ""
is "without, it is refused" \
    "$(state_after BEGIN "$claim" "$write" "SELECT let_go()" COMMIT)" 40001
is "and has written nothing" "$(ask "SELECT count(*) FROM work")" 1
is "nor is it prepared" \
    "$(state_after BEGIN "$claim" "$write" "SELECT let_go()" "PREPARE TRANSACTION 'one'")" 40001
is "nor does a newer fence stay" \
    "$(state_after BEGIN "SELECT ringfence.guard('r', 7, 'c')" "SELECT let_go()" COMMIT) $(
        ask "SELECT ringfence.high_water('r')")" "40001 6"
is "one of several is enough" \
    "$(state_after BEGIN "$claim" "SELECT let_go()" "SELECT ringfence.guard('s', 1, 'b')" COMMIT)" 40001
is "claimed again, it is locked again" \
    "$(state_after BEGIN "$claim" "SELECT let_go()" "$claim" "$write" COMMIT)" ""
is "or refused, if somebody newer came between" \
    "$(state_after BEGIN "$claim" "SELECT let_go()" \
        "\\! psql -X -q -c \"SELECT ringfence.guard('r', 7, 'c')\" >/dev/null" "$claim" COMMIT)" RF001
is "nobody holds a lock afterwards" "$(held)" 0
