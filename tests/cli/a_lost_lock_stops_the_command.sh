#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# When the lock is lost, everything that ringfence run has started gets TERM
# and then KILL, however it was lost and whatever the command does about it.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

# begin [OPTION...] -- COMMAND...: in the background, ready when "ready" is there
begin() {
    rm -f ready pid
    ringfence run job --ttl 600ms "$@" 2>message &
    run=$!
    until_true test -s ready
    child=$(cat ready)
}
# end: wait for run; its exit code in $ended.
end() {
    ended=0
    wait $run || ended=$?
}
lose() { redis DEL '{lock:v1:job}' >/dev/null; }
take_away() { redis SET '{lock:v1:job}' somebody-else >/dev/null; }

obedient='trap "echo term >got; exit 3" TERM; echo $$ >ready; while :; do sleep 0.05; done'
stubborn='trap "echo term >>got" TERM; echo $$ >ready; while :; do sleep 0.05; done'

plan 22

begin -- bash -c "$obedient"
lose
end
is "103 when the lock has run out" "$ended" 103
is "the command got TERM" "$(cat got)" term
ok "the message says why" grep -q \
    '^ringfence: job: the lock is lost: it ran out before it could be renewed; the command was stopped$' message

begin -- bash -c "$obedient"
take_away
end
is "103 when another has it" "$ended" 103
ok "the message says that" grep -q 'another has it now' message
is "the other's lock is left alone" "$(redis GET '{lock:v1:job}')" somebody-else
lose

rm -f got
begin --grace 300ms -- bash -c "$stubborn"
lose
end
is "103 when the command ignores TERM" "$ended" 103
ok "it got TERM" grep -q term got
ok "and after the grace time KILL" gone "$child"
ok "which the message says" grep -q 'stopped by KILL' message

# The first process obeys, what it started does not.
begin --grace 300ms -- bash -c \
    '(trap "" TERM; echo $BASHPID >grandchild; sleep 60) & trap "exit 3" TERM; until [ -s grandchild ]; do sleep 0.02; done; echo $$ >ready; wait'
lose
end
is "103 when only a part of it obeys" "$ended" 103
ok "and the rest is killed as well" gone "$(cat grandchild)"

rm -f got
begin -- bash -c "$obedient"
kill -STOP "$child"
lose
end
is "a command that is stopped (SIGSTOP) gets TERM, too" "$ended $(cat got)" \
    "103 term"

rm -f got
begin -- bash -c "$obedient"
kill -STOP $run
ok "when ringfence itself is stopped, its lock runs out" until_true sh -c \
    'ringfence inspect job --json | grep -q free'
ok "and another can have it" ringfence run job -- true
kill -CONT $run
end
is "awake again, it stops the command" "$ended $(cat got)" "103 term"

rm -f got
begin --hold-max 900ms -- bash -c "$obedient"
end
is "103 when it is held for too long" "$ended" 103
ok "which the message says" grep -q 'as long as --hold-max allows' message

rm -f got
begin -- bash -c "$obedient"
kill -KILL $run
wait $run 2>/dev/null
ok "should ringfence be killed, the command gets TERM" \
    until_true grep -q term got
ok "and the lock runs out" until_true ringfence run job -- true

rm -f got
begin --timeout 200ms -- bash -c "$obedient"
kill -STOP "$(cat redis.pid)"
end
is "103 when Redis gives no answer until the deadline" "$ended" 103
kill -CONT "$(cat redis.pid)"
ok "which the message says" grep -q 'could not be reached' message
