#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A client is stopped in the middle of a transaction.  The next claim does not
# wait for it to wake, and when it does it is told that it is over.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 12

lease_code=25P03
[ "$(ask 'SHOW server_version_num')" -lt 170000 ] || lease_code=25P04
ask "CREATE TABLE work (who text); SELECT ringfence.protect('work', resource => '{who}');
    SELECT ringfence.guard('lease', 5, 'a'), ringfence.guard('preempt', 5, 'a')" >/dev/null

# stopped NAME LEASE: has claimed and written, and stands still.
stopped() {
    session "$1"
    tell "$1" "BEGIN" "SELECT ringfence.guard('$1', 6, 'b', lease => $2)" \
        "INSERT INTO work VALUES ('$1')"
    settle "$1"
    kill -STOP "${session_pid[$1]}"
}

state_of() { sed -n 's/^State:\t\(.\).*/\1/p' "/proc/${session_pid[$1]}/status"; }

wake() {
    kill -CONT "${session_pid[$1]}"
    tell "$1" "INSERT INTO work VALUES ('$1')" "COMMIT"
    finish "$1"
}

# One by one: before 15, psql shows but the last answer of a line of several.
next() {
    psql -X -q -A -t -v VERBOSITY=sqlstate 2>&1 <<SQL
SET lock_timeout = '20s';
BEGIN;
SELECT ringfence.guard('$1', 7, 'c'$2);
INSERT INTO work VALUES ('$1');
COMMIT;
SQL
}

stopped lease "'2 s'"
is "the next claim commits" "$(next lease '')" t
is "while the client still stands still" "$(state_of lease)" T
wake lease
is "which learns on waking that its lease is over" "$(code_of lease)" $lease_code
is "and has written nothing" "$(ask "SELECT count(*) FROM work")" 1

# No lease: it would be in the way for ever.
stopped preempt NULL
is "without a lease, the next one waits" \
    "$(ask "SET lock_timeout = '300ms'; SELECT ringfence.guard('preempt', 7, 'c')")" "ERROR:  55P03"
is "unless it preempts" "$(next preempt ', preempt => true')" t
is "while the client still stands still" "$(state_of preempt)" T
wake preempt
is "which learns on waking that it was ended" "$(code_of preempt)" 57P01
is "and has written nothing" "$(ask "SELECT count(*) FROM work WHERE who = 'preempt'")" 1

# One that wakes between two transactions has lost nothing but its claim.
session between
tell between "BEGIN" "SELECT ringfence.guard('lease', 7, 'c', lease => '300 ms')" "COMMIT"
settle between
kill -STOP "${session_pid[between]}"
is "nobody who holds nothing is in the way" \
    "$(next lease ", preempt => true")$(ask "SELECT ringfence.guard('lease', 8, 'd', preempt => true)")" tt
kill -CONT "${session_pid[between]}"
tell between "SELECT 'still here'" "BEGIN" "SELECT ringfence.guard('lease', 7, 'c')" "COMMIT"
finish between
is "and is not ended" "$(last_of between)" "still here"
is "but its next claim is refused" "$(code_of between)" RF001
