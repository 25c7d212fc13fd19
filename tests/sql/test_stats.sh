#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Preloaded, counters are those of the whole server and outlive the sessions
# that counted.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 6

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" "shared_preload_libraries = 'ringfence'" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence" >/dev/null
counts="SELECT checks, advances, stale, collision, preempted FROM ringfence.stats()"

is "at first nothing is counted" "$(ask "$counts")" "0|0|0|0|0"
ask "SELECT ringfence.guard('r', 5, 'a')" >/dev/null
ask "SELECT ringfence.guard('r', 5, 'b')" >/dev/null
ask "SELECT ringfence.guard('r', 4, 'b'), ringfence.guard('r', 9)" >/dev/null
ask "SELECT ringfence.guard('r', 0)" >/dev/null
is "sessions that are gone have counted" "$(ask "$counts")" "3|1|1|1|0"
is "for the whole server" \
    "$(ask "SELECT server_wide, wait_ms FROM ringfence.stats()")" "t|0"
is "which needs no notice" "$(psql -X -q -A -t -c "SELECT 1 FROM ringfence.stats()" 2>&1)" 1

session holder
session waiter
tell holder "BEGIN" "SELECT ringfence.guard('r', 5, 'a')"
settle holder
tell waiter "SELECT ringfence.guard('r', 6, 'b')"
wait_until "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND NOT granted
        AND now() - query_start > interval '1 s'"
tell holder "COMMIT"
finish holder
finish waiter
is "a wait is measured" "$(ask "SELECT wait_ms >= 100 FROM ringfence.stats()")" t

session older
tell older "BEGIN" "SELECT ringfence.guard('r', 6, 'b')"
settle older
ask "SELECT ringfence.guard('r', 7, 'c', preempt => true)" >/dev/null
finish older
is "an ended session is counted by who ended it" "$(ask "$counts")" "7|3|1|1|1"
