#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A lease ends the holder's transaction, whatever the holder does or fails to
# do, and nothing else.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 17

claim="SELECT ringfence.guard('r', 5, 'a', lease => '200 ms')"
lease_code=25P03
[ "$(ask 'SHOW server_version_num')" -lt 170000 ] || lease_code=25P04

# ---- Idle --------------------------------------------------------------------

session idle
tell idle "BEGIN" "$claim"
settle idle
wait_until "SELECT 1 WHERE NOT EXISTS ($(alive idle))"
tell idle "COMMIT"
finish idle
is "idle: the session has been ended" "$(code_of idle)" $lease_code
is "and its claim is not in the way" \
    "$(ask "SET lock_timeout = '5s'; SELECT ringfence.guard('r', 6, 'b')")" t

# ---- Busy --------------------------------------------------------------------

session busy
tell busy "BEGIN" "SELECT ringfence.guard('s', 5, 'a', lease => '200 ms')" \
    "SELECT pg_sleep(60)"
finish busy
is "busy: the statement has been ended" "$(code_of busy)" $lease_code

# Each statement alone is shorter than the lease.
session chatty
tell chatty "BEGIN" "SELECT ringfence.guard('t', 5, 'a', lease => '300 ms')"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    tell chatty "SELECT pg_sleep(0.05)"
done
tell chatty "COMMIT"
finish chatty
is "short statements do not stretch it" "$(code_of chatty)" $lease_code

# ---- Waiting -----------------------------------------------------------------

session holder
tell holder "BEGIN" "SELECT ringfence.guard('w', 5, 'a')"
settle holder
session waiting
tell waiting "BEGIN" \
    "SELECT ringfence.guard('w', 6, 'b', lease => '200 ms')" "COMMIT"
finish waiting
is "it counts while the claim waits" "$(code_of waiting)" $lease_code
tell holder "COMMIT"
finish holder
is "and the claim was not made" "$(ask "SELECT ringfence.high_water('w')")" 5

# ---- Stopped: the client neither reads nor answers -----------------------------

# The server's process stands still in sending, and answers to nothing but
# termination.
mkfifo "$TMPDIR/stop"
exec 9<>"$TMPDIR/stop" # opened, and never read
PGAPPNAME=stopped psql -X -q -A -t -o "$TMPDIR/stop" \
    -c "BEGIN" -c "SELECT ringfence.guard('x', 5, 'a', lease => '2 s')" \
    -c "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000000)) TO STDOUT" \
    >/dev/null 2>&1 &
stopped=$!
wait_until "SELECT 1 FROM pg_stat_activity
    WHERE application_name = 'stopped' AND wait_event = 'ClientWrite'"
kill -STOP $stopped
is "a stopped client's claim goes within its lease and a second" \
    "$(ask "SET lock_timeout = '20s'; SELECT ringfence.guard('x', 6, 'b')")" t
kill -KILL $stopped
wait $stopped 2>/dev/null
exec 9<&-

# ---- What it leaves alone -------------------------------------------------------

session later
tell later "BEGIN" "SELECT ringfence.guard('y', 5, 'a', lease => '2 s')" \
    "COMMIT" "SELECT pg_sleep(2.8)" "SHOW idle_in_transaction_session_timeout" \
    "BEGIN" "SELECT pg_sleep(0.1)" "COMMIT" "SELECT 'still here'"
finish later
is "the next transaction is not concerned" "$(last_of later)" "still here"
is "no setting is left behind" "$(grep -c '^0$' "$(out later)")" 1

session rolled
tell rolled "BEGIN" "SELECT ringfence.guard('y', 5, 'a', lease => '2 s')" \
    "SELECT 1 / 0" "SELECT pg_sleep(0.1)" "ROLLBACK" "SELECT pg_sleep(2.8)" \
    "SELECT 'still here'"
finish rolled
is "a failed transaction has no lease" "$(last_of rolled)" "still here"

session refused
tell refused "BEGIN" "SELECT ringfence.try_guard('y', 4, 'a', lease => '200 ms')" \
    "SELECT pg_sleep(0.8)" "COMMIT" "SELECT 'still here'"
finish refused
is "a refused grant has none" "$(last_of refused)" "still here"

session waited
session holder2
tell holder2 "BEGIN" "SELECT ringfence.guard('z', 7, 'a')"
settle holder2
tell waited "BEGIN" "SELECT ringfence.try_guard('z', 6, 'b', lease => '4 s')"
wait_until "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
tell holder2 "COMMIT"
finish holder2
tell waited "SELECT pg_sleep(4.8)" "COMMIT" "SELECT 'still here'"
finish waited
is "nor one that is refused after a wait" "$(last_of waited)" "still here"

session longer
tell longer "BEGIN" "SELECT ringfence.guard('l', 5, 'a', lease => '2 s')" \
    "SELECT ringfence.guard('l', 5, 'a', lease => '60 s')" \
    "SELECT ringfence.guard('l2', 5, 'a', lease => '60 s')" \
    "SELECT pg_sleep(60)"
finish longer
is "a second claim does not lengthen it" "$(code_of longer)" $lease_code

session shorter
tell shorter "BEGIN" "SELECT ringfence.guard('m', 5, 'a', lease => '60 s')" \
    "SELECT ringfence.guard('m', 5, 'a', lease => '200 ms')" \
    "SELECT pg_sleep(60)"
finish shorter
is "a repeated one may shorten it" "$(code_of shorter)" $lease_code

session own
tell own "SET idle_in_transaction_session_timeout = '200 ms'" "BEGIN" \
    "SELECT ringfence.guard('n', 5, 'a', lease => '60 s')"
settle own
wait_until "SELECT 1 WHERE NOT EXISTS ($(alive own))"
tell own "COMMIT"
finish own
is "nor does it lengthen what the session has set" "$(code_of own)" 25P03

session prepared
tell prepared "BEGIN" "SELECT ringfence.guard('p', 5, 'a', lease => '2 s')" \
    "PREPARE TRANSACTION 'lease'" "SELECT pg_sleep(2.8)" \
    "COMMIT PREPARED 'lease'" "SELECT 'still here'"
finish prepared
is "a prepared transaction has none" "$(last_of prepared)" "still here"

session tiny
tell tiny "BEGIN" "SELECT ringfence.guard('q', 5, 'a', lease => '1 microsecond')" \
    "SELECT pg_sleep(60)"
finish tiny
is "a microsecond is rounded up, not away" "$(code_of tiny)" $lease_code
