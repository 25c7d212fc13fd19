#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# postgresql:// where its servers do what servers do: one is in recovery, one is
# restarted while a lock is held, waited for or asked for, and at last the
# standby takes over.  Real servers, and the command as the client.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"

unset RINGFENCE_PG RINGFENCE_PREFIX
export HOME=$TMPDIR XDG_CONFIG_HOME=
PATH=$RF_BUILD:$PATH
dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir/s"; pg_stop "$dir/p"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir "$dir/p" "$dir/s"
pg_start "$dir/p" >"$dir/log" 2>&1 || exit 1
primary=$dir/p/socket
standby=$dir/s/socket
sql() { psql -X -q -A -t -h "$1" -p 5432 -U postgres -d postgres -c "$2"; }
sql "$primary" "CREATE EXTENSION ringfence"
pg_standby "$dir/p" "$dir/s" >"$dir/log" 2>&1 || exit 1

# The command is told of no database but that of the locks.
run_primary() {
    pg_run "$dir/p" >"$dir/log" 2>&1
    unset PGHOST PGPORT PGUSER
}
unset PGHOST PGPORT PGUSER

url() { echo "postgresql://postgres@/postgres?host=$1&port=5432"; }
# Hosts of sockets are named one by one, in the order in which they are tried.
both() { echo "postgresql://postgres@/postgres?host=$standby,$primary&port=5432,5432$1"; }
code() {
    local status=0
    "$@" >"$dir/said" 2>&1 </dev/null || status=$?
    echo "$status"
}
until_true() {
    local i
    for ((i = 0; i < 3000; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    return 1
}
held() { [ "$(sql "$1" "SELECT count(*) FROM ringfence.locks")" = 1 ]; }
# The standby knows of the lock that the primary has granted last.
has_followed() {
    local fence
    fence=$(sql "$primary" "SELECT fence FROM ringfence.locks")
    [ -n "$fence" ] && [ "$(sql "$standby" "SELECT fence FROM ringfence.locks")" = "$fence" ]
}
waited_for() { [ "$(sql "$1" "SELECT count(*) FROM pg_locks WHERE objsubid = x'5257'::int AND mode = 'ShareLock'")" != 0 ]; }
# The command's own work: until the file is there.
work=$dir/work.sh
echo 'until [ -e "$1" ]; do sleep 0.02; done' >"$work"
# job NAME ARG...: in the background, until the file NAME is made; then its exit
# code is in NAME.code.
job() {
    local name=$1
    shift
    { ringfence run job --ttl 60s "$@" -- sh "$work" "$dir/$name" >"$dir/$name.said" 2>&1; echo $? >"$dir/$name.code"; } &
}
ended() { [ -s "$dir/$1.code" ]; }
restart() {
    pg_stop "$dir/p"
    run_primary
}

plan 18

# ---- In recovery -----------------------------------------------------------

export RINGFENCE_URL
RINGFENCE_URL=$(url "$standby")
is "a standby grants nothing, and may do so later" "$(code ringfence acquire job)" 107
ok "which is said" grep -q recovery "$dir/said"
is "who has what can be looked at there" "$(code ringfence list)" 0
is "the doctor says so" "$(ringfence doctor --json | jq -r '.[] | select(.subject == "role") | .severity')" critical
RINGFENCE_URL=$(both '')
is "the first of two hosts is taken as it is" "$(code ringfence acquire job)" 107
RINGFENCE_URL=$(both '&target_session_attrs=read-write')
is "unless the one that writes is asked for" "$(code ringfence run job -- true)" 0

# ---- Restarted in the middle ------------------------------------------------

RINGFENCE_URL=$(url "$primary")
job holds
ok "a lock is held" until_true held "$primary"
restart
ok "and still is after a restart" held "$primary"
touch "$dir/holds"
ok "its holder goes on" until_true ended holds
is "and gives it back" "$(cat "$dir/holds.code") $(sql "$primary" "SELECT count(*) FROM ringfence.locks")" "0 0"

job first
until_true held "$primary"
job second --wait 60s
ok "another waits" until_true waited_for "$primary"
restart
touch "$dir/first" "$dir/second"
until_true ended first
ok "and gets it, although the server that was to wake it is gone" until_true ended second
is "both have done their work" "$(cat "$dir/first.code" "$dir/second.code" | xargs)" "0 0"

pg_stop "$dir/p"
is "no server: nothing has landed" "$(code ringfence acquire job)" 107
job late --wait 60s
touch "$dir/late"
run_primary
ok "who may wait gets it when the server is back" until_true ended late
is "and not twice" "$(cat "$dir/late.code") $(sql "$primary" "SELECT ringfence.high_water('job')")" "0 5"

# ---- The standby takes over --------------------------------------------------

RINGFENCE_URL=$(both '&target_session_attrs=read-write')
job moves --timeout 10s
until_true has_followed
pg_stop "$dir/p"
sql "$standby" "SELECT pg_promote(true, 60)" >"$dir/log"
is "the lock is there, too, and nobody else gets it" "$(code ringfence acquire job)" 101
touch "$dir/moves"
until_true ended moves
is "its holder gives it back there" "$(cat "$dir/moves.code") $(sql "$standby" "SELECT count(*) FROM ringfence.locks")" "0 0"
