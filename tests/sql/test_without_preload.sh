#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Without shared_preload_libraries the library is loaded by the first call of a
# session, and everything holds.  Only then is any commit in the server since a
# snapshot a reason to have a first claim retried.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 17

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence; CREATE TABLE stock (n int);
    INSERT INTO stock VALUES (10); SELECT ringfence.guard('r', 5, 'a')" >/dev/null

is "the first call of a session may be refused" \
    "$(ask "SELECT ringfence.guard('r', 4, 'a')")" "ERROR:  RF001"
is "or come from within an UPDATE" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 5, 'a') RETURNING n")" 9
is "whether it advances" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 6, 'a') RETURNING n")" 8
is "or not" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 5, 'a') RETURNING n")" ""

is "stats are those of the session" \
    "$(ask "SET client_min_messages = error; SELECT ringfence.guard('r', 6, 'a');
        SELECT server_wide, checks FROM ringfence.stats()" | tail -n 1)" "f|1"
ok "which is said" grep -q "those of this session" <(psql -X -c "SELECT ringfence.stats()" 2>&1)

# ---- Snapshots ---------------------------------------------------------------------

session new
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT 1"
settle new
ask "CREATE TABLE unrelated (n int)" >/dev/null
tell new "SELECT ringfence.guard('r', 7, 'b')" "ROLLBACK"
settle new
is "a first claim is refused when anything was committed" "$(code_of new)" 40001
is "and not made" "$(ask "SELECT ringfence.high_water('r')")" 6
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" \
    "SELECT ringfence.guard('r', 7, 'b')" "COMMIT" "SELECT 'done'"
settle new
is "a retry passes" "$(ask "SELECT ringfence.high_water('r')")" 7
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT 1"
settle new
ask "DROP TABLE unrelated" >/dev/null
tell new "SELECT ringfence.guard('r', 7, 'b')" "COMMIT"
finish new
is "a stored claim does not mind" "$(grep -c 40001 "$TMPDIR/new.err")" 1

# The old holder's last write, with the newest one's claim inside the statement.
session old
session late
tell old "BEGIN" "SELECT ringfence.guard('r', 7, 'b')" "UPDATE stock SET n = 100"
settle old
tell late "UPDATE stock SET n = (SELECT sum(n) FROM stock) + 1 WHERE ringfence.try_guard('r', 8, 'c')"
wait_until "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
tell old "COMMIT"
finish old
finish late
is "it does not compute from the past" "$(code_of late)" 40001
is "and changes nothing" "$(ask "SELECT n FROM stock")" 100

# From within a function of a statement that was not seen to start: strict, but
# only where it matters, and only once.
ask "CREATE FUNCTION claim(f bigint) RETURNS boolean LANGUAGE plpgsql AS
        \$\$BEGIN RETURN ringfence.try_guard('r', f, 'd'); END\$\$" >/dev/null
nested="UPDATE stock SET n = n + 1 WHERE claim(9)"
session first
tell first "$nested" "$nested" "$nested"
finish first
is "the first one of a session is refused, and a retry passes" \
    "$(code_of first) $(ask "SELECT n FROM stock")" "40001 102"
is "a claim of its own passes in the next one" \
    "$(ask "SELECT ringfence.guard('r', 9, 'd'); $nested RETURNING n" | tail -n 1)" 103
is "a claim that was stored long before passes at once" \
    "$(ask "$nested RETURNING n")" 104

# ---- Leases and preemption need nothing either -----------------------------------------

is "a lease ends the transaction" \
    "$(ask "BEGIN; SELECT ringfence.guard('r', 9, 'd', lease => '100 ms'); SELECT pg_sleep(60)" |
        grep -o '25P0[34]')" "$([ "$(ask 'SHOW server_version_num')" -lt 170000 ] && echo 25P03 || echo 25P04)"
session older
tell older "BEGIN" "SELECT ringfence.guard('r', 9, 'd')"
settle older
is "a newer claim ends an older holder" \
    "$(ask "SELECT ringfence.guard('r', 10, 'e', preempt => true)")" t
finish older
