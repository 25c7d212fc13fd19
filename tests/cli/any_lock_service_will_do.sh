#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What the commands do they do behind any URL that the library takes: here locks
# of PostgreSQL alone, and a quorum of Redis servers.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

state() { ringfence inspect "$1" --json | json .state; }

# life: the life of a lock, in one line.
life() {
    ringfence run job -- sh -c 'ringfence inspect job --json | jq -r .state; ringfence run job -- true 2>/dev/null; echo $?'
    ringfence acquire job --ttl 60s --json >grant
    ringfence list --json | json '.[].resource'
    ringfence renew --stdin --json --ttl 60s <grant | json '.left_ms > 40000'
    ringfence force-release job --fence "$(json .fence <grant)" --reason test >/dev/null
    echo "taken $?"
    code sh -c 'ringfence renew --stdin <grant'
    ringfence acquire job --json >grant
    ringfence release --stdin <grant
    state job
}
expected="held 101 job true taken 0 103 free"

plan 8

export RINGFENCE_URL="postgresql:///$test_database?host=$test_host"
is "PostgreSQL alone" "$(life | xargs)" "$expected"
is "to acquire is to claim" \
    "$(ringfence run job -- ringfence guard --json --pg "host=$test_host dbname=$test_database" | json .accepted)" true
is "doctor says how its waiters are woken" \
    "$(ringfence doctor --json | json '.[] | select(.subject == "waking") | .found')" \
    "by LISTEN"
ok "a password in such a URL is refused as well" says 'a password on the command line' \
    ringfence list --url 'postgresql:///db?password=x'

ports=()
for i in 1 2 3; do
    mkdir "r$i"
    # A port is free until somebody else takes it: then another.
    until ports[i]=$((20000 + RANDOM % 20000)) &&
        redis_start "$TMPDIR/r$i" --port "${ports[i]}" --bind 127.0.0.1 2>start.log; do :; done
done
trap 'for i in 1 2 3; do redis_stop "$TMPDIR/r$i"; done; redis_stop "$TMPDIR"' EXIT
RINGFENCE_URL=redlock://127.0.0.1:${ports[1]},127.0.0.1:${ports[2]},127.0.0.1:${ports[3]}
is "a quorum" "$(life | xargs)" "$expected"
is "doctor looks at each server" \
    "$(ringfence doctor --json | json '[.[] | select(.subject == "permissions")] | length')" 3
redis_stop "$TMPDIR/r2"
is "and tells of one that is away" \
    "$(ringfence doctor --json | json '.[] | select(.subject == "server") | .severity')" warning
is "locks can be had without it" "$(life | xargs)" "$expected"
