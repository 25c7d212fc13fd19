#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence acquire, renew and release are three processes with one grant,
# which goes from one to the next by the environment or by standard input.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

left() { redis PTTL "{lock:v1:$1}"; }
between() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }
forget() { unset RINGFENCE_RESOURCE RINGFENCE_FENCE RINGFENCE_HOLDER; }

plan 30

name="o'brien \$(touch hit) \`touch hit\`"
eval "$(ringfence acquire "$name" --ttl 60s)"
is "what acquire prints is for a shell to evaluate" "$RINGFENCE_RESOURCE" "$name"
ok "whatever the name is" test ! -e hit
is "the fence is what Redis has" \
    "$(redis GET "{lock:v1:$name}")" "$RINGFENCE_FENCE:$RINGFENCE_HOLDER"
ok "it lives as long as was asked for" between "$(left "$name")" 40000 60000
ok "renew" ringfence renew --ttl 2m
ok "lets it live on" between "$(left "$name")" 100000 120000
is "and says so" "$(ringfence renew --ttl 2m)" \
    "$name: fence 1, 1 min 58 s left"
is "101 for everybody else" "$(code ringfence acquire "$name")" 101
ok "release" ringfence release
is "gives it back" "$(redis EXISTS "{lock:v1:$name}")" 0
is "once" "$(code ringfence release)" 103
is "renew doesn't take it again" "$(code ringfence renew)" 103
is "and leaves nothing behind" "$(redis EXISTS "{lock:v1:$name}")" 0
forget

ringfence acquire job --json >grant
is "acquire --json prints JSON" "$(json '.resource, .fence' <grant | xargs)" \
    "job 1"
is "renew --stdin takes it" "$(ringfence renew --stdin --json --ttl 60s <grant |
    json '.fence, .left_ms > 40000' | xargs)" "1 true"
is "release --stdin, too" \
    "$(ringfence release --stdin --json <grant | json .released)" true
is "a second time in JSON" \
    "$(ringfence release --stdin --json <grant 2>/dev/null | json '.outcome, .exit' | xargs)" \
    "RF_LOST 103"

ringfence acquire job --json >grant
redis DEL '{lock:v1:job}' >/dev/null
ringfence acquire job --json >other
is "103 when it is another's now" "$(code sh -c 'ringfence renew --stdin <grant')" 103
is "and the other keeps it" "$(code sh -c 'ringfence renew --stdin <other')" 0
ringfence release --stdin <other

is "109 without a grant" "$(code ringfence renew)" 109
is "109 with half of one" \
    "$(RINGFENCE_FENCE=3 RINGFENCE_RESOURCE=job code ringfence renew)" 109
is "109 with a fence that is none" \
    "$(RINGFENCE_FENCE=3x RINGFENCE_RESOURCE=job RINGFENCE_HOLDER=00000000000000000000000000000000 code ringfence renew)" \
    109
is "109 with what is no JSON" "$(code sh -c 'echo nonsense | ringfence renew --stdin')" 109
is "109 with JSON that is no grant" \
    "$(code sh -c "echo '{\"resource\": 1}' | ringfence renew --stdin")" 109

ringfence acquire full >/dev/full 2>message
is "111 when the grant can't be told" $? 111
is "and the lock is given back" "$(redis EXISTS '{lock:v1:full}')" 0
ok "with a message" grep -q 'could not be written' message

ringfence acquire claim --json >/dev/null
is "acquire without a database claims nothing" \
    "$(sql 'SELECT count(*) FROM ringfence.registry')" 0
redis DEL '{lock:v1:claim}' >/dev/null
with_database ringfence acquire claim --json >grant
is "with one it claims" \
    "$(sql "SELECT fence || ' ' || holder FROM ringfence.registry WHERE resource = 'claim'")" \
    "$(json '"\(.fence) \(.holder)"' <grant)"
is "the grant is on no command line" \
    "$(ringfence renew --help | grep -c -- '--holder')" 0
