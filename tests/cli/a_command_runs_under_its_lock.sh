#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence run: takes the lock and the claim, tells the command its grant, keeps
# the lock, passes signals and exit codes on, and gives the lock back.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

free() { [ "$(ringfence inspect "$1" --json | json .state)" = free ]; }
held() { [ "$(ringfence inspect "$1" --json | json .state)" = held ]; }

plan 32

is "the command is told its grant" \
    "$(ringfence run job -- sh -c 'echo $RINGFENCE_RESOURCE $RINGFENCE_FENCE ${#RINGFENCE_HOLDER}')" \
    "job 1 32"
is "and has the lock meanwhile" \
    "$(ringfence run job -- sh -c 'ringfence inspect job --json | jq -r ".state, .holder == env.RINGFENCE_HOLDER"' | xargs)" \
    "held true"
ok "which is given back afterwards" free job
is "the exit code is the command's" "$(code ringfence run job -- sh -c 'exit 42')" 42
is "zero, too" "$(code ringfence run job -- true)" 0
is "128 and the signal that ended it" \
    "$(code ringfence run job -- sh -c 'kill -USR1 $$')" 138
is "127 when there is no such command" \
    "$(code ringfence run job -- no-such-command)" 127
is "126 when it can't be started" "$(code ringfence run job -- /etc)" 126
ok "and the lock is given back then, too" free job
is "standard input is the command's" \
    "$(echo hello | ringfence run job -- cat)" hello
is "its options are its own" "$(ringfence run job -- echo --ttl --json)" \
    "--ttl --json"
is "a pipe that closes ends it as everywhere" \
    "$(ringfence run job -- sh -c 'trap | grep -c PIPE; yes 2>errors | head -n 1; cat errors')" \
    "0"$'\n'y

# ---- Another has it --------------------------------------------------------

ringfence run job -- sleep 60 &
holder=$!
ok "a lock is taken" until_true held job
is "101 while another has it" "$(code ringfence run job -- true)" 101
ok "the message says for how long" says \
    'job is held by another for up to [0-9.]+ s; wait with --wait' \
    ringfence run job -- true
is "102 when the wait is over" \
    "$(code ringfence run job --wait 200ms -- true)" 102
ringfence run job --wait 20s -- echo at last >waited &
waiter=$!
ok "somebody waits" until_true test true = \
    "$(until_true sh -c 'ringfence inspect job --json | grep -q waited_for.:true' && echo true)"

# ---- Signals ---------------------------------------------------------------

kill -TERM $holder
status=0
wait $holder || status=$?
is "TERM is passed on" "$status" 143
status=0
wait $waiter || status=$?
is "who waited gets the lock" "$status $(cat waited)" "0 at last"

ringfence run job -- bash -c 'trap "echo usr1; exit 5" USR1; echo ready; while :; do sleep 0.05; done' >traps &
pid=$!
ok "a command with a trap is ready" until_true grep -q ready traps
kill -USR1 $pid
status=0
wait $pid || status=$?
is "its own handler decides over the exit code" "$status $(tail -n 1 traps)" \
    "5 usr1"

ringfence run job -- sleep 60 &
first=$!
until_true held job >/dev/null
ringfence run job --wait 60s -- touch never &
pid=$!
until_true sh -c 'ringfence inspect job --json | grep -q waited_for.:true'
kill -INT $pid
kill -TERM $pid
status=0
wait $pid || status=$?
ok "a signal ends the wait for the lock" test "$status" = 143 -o "$status" = 130
ok "and the command is not run" test ! -e never
kill -TERM $first
wait $first

# ---- Kept ------------------------------------------------------------------

is "the lock is kept for longer than it was taken for" \
    "$(ringfence run job --ttl 300ms -- sh -c 'sleep 1; ringfence inspect job --json | jq -r ".holder == env.RINGFENCE_HOLDER"')" \
    true

# ---- Shared ----------------------------------------------------------------

ringfence run book --shared --wait 20s -- sleep 60 &
one=$!
ringfence run book --shared --wait 20s -- sleep 60 &
two=$!
ok "readers share it" until_true sh -c \
    '[ "$(ringfence inspect book --json | jq .readers)" = 2 ]'
is "and keep writers out" "$(code ringfence run book -- true)" 101
is "a reader has no fence" \
    "$(ringfence run book --shared -- sh -c 'echo $RINGFENCE_FENCE')" 0
kill -TERM $one $two
wait $one $two

# ---- The claim -------------------------------------------------------------

is "without a database nothing is claimed" \
    "$(ringfence run claim -- true; sql "SELECT count(*) FROM ringfence.registry")" 0
grant=$(with_database ringfence run claim -- sh -c 'echo $RINGFENCE_FENCE $RINGFENCE_HOLDER')
is "with one, the grant is the claim" \
    "$(sql "SELECT fence || ' ' || holder FROM ringfence.registry WHERE resource = 'claim'")" \
    "$grant"
sql "SELECT ringfence.reset('claim', 50)" >/dev/null
is "a fence that is stale at birth is raised" \
    "$(with_database ringfence run claim -- sh -c 'echo $RINGFENCE_FENCE')" 51
is "the environment of libpq is enough" \
    "$(PGHOST=$test_host PGDATABASE=$test_database ringfence run claim -- true
        sql "SELECT fence FROM ringfence.registry WHERE resource = 'claim'")" 52
is "and --no-pg says no to it" \
    "$(PGHOST=$test_host PGDATABASE=$test_database ringfence run claim --no-pg -- true
        sql "SELECT fence FROM ringfence.registry WHERE resource = 'claim'")" 52
