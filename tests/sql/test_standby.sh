#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A standby answers from the past, so there the guard refuses; promoted, it
# goes on from what it has received.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 9

one=$(mktemp -d /tmp/rf.XXXXXX)
two=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$two"; pg_stop "$one"; rm -rf "$one" "$two"' EXIT
pg_start "$one" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence; SELECT ringfence.guard('r', 5, 'a')" >/dev/null

pg_standby "$one" "$two" || exit 1

primary() { PGHOST=$one/socket ask "$1"; }
standby() { PGHOST=$two/socket ask "$1"; }

primary "SELECT ringfence.guard('r', 6, 'b')" >/dev/null
PGHOST=$two/socket wait_until "SELECT 1 FROM ringfence.registry WHERE fence = 6"

is "no claim" "$(standby "SELECT ringfence.guard('r', 7, 'c')")" "ERROR:  RF005"
is "nor a stored one" "$(standby "SELECT ringfence.guard('r', 6, 'b')")" "ERROR:  RF005"
is "nor a stale one" "$(standby "SELECT ringfence.try_guard('r', 5, 'a')")" "ERROR:  RF005"
is "nor a question" "$(standby "SELECT ringfence.high_water('r')")" "ERROR:  RF005"

is "promoted" "$(standby "SELECT pg_promote()")" t
is "it refuses what was stale" "$(standby "SELECT ringfence.guard('r', 5, 'a')")" "ERROR:  RF001"
is "knows the newest" "$(standby "SELECT ringfence.guard('r', 6, 'b')")" t
is "refuses its number to others" "$(standby "SELECT ringfence.guard('r', 6, 'c')")" "ERROR:  RF002"
is "and accepts a newer one" "$(standby "SELECT ringfence.guard('r', 7, 'c')")" t
