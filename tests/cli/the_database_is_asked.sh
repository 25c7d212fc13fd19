#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence guard, audit, heal and force-release: what an on-call person asks the
# database and the lock service, and what they may change.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

export RINGFENCE_PG="host=$test_host dbname=$test_database"
HOLDER=0123456789abcdef0123456789abcdef
# as_grant RESOURCE FENCE COMMAND...
as_grant() {
    RINGFENCE_RESOURCE=$1 RINGFENCE_FENCE=$2 RINGFENCE_HOLDER=$HOLDER "${@:3}"
}

plan 38

# ---- guard -----------------------------------------------------------------

is "the newest grant is accepted" \
    "$(ringfence run job -- ringfence guard)" "job: fence 1 is the newest"
is "and so in JSON" "$(ringfence run job -- ringfence guard --json | json '.fence, .accepted' | xargs)" \
    "2 true"
is "a newer one is claimed" "$(as_grant job 9 code ringfence guard)" 0
is "from then on" "$(sql "SELECT fence FROM ringfence.registry WHERE resource = 'job'")" 9
is "104 for an older one" "$(as_grant job 8 code ringfence guard)" 104
ok "with both numbers" as_grant job 8 says \
    'fence is stale.*fence 8 of holder.*stored fence 9' ringfence guard
is "105 for the same number in another hand" \
    "$(HOLDER=ffffffffffffffffffffffffffffffff; as_grant job 9 code ringfence guard)" 105
is "109 for what is no fence" "$(as_grant job 0 code ringfence guard)" 109
ringfence acquire other --json >grant
is "by standard input, too" "$(ringfence guard --stdin --json <grant | json .accepted)" true
is "107 without a database" \
    "$(RINGFENCE_PG="host=$TMPDIR" as_grant job 9 code ringfence guard)" 107

# ---- audit -----------------------------------------------------------------

is "no hole" "$(ringfence audit)" "no hole was found"
is "is 0" "$(code ringfence audit)" 0
is "and an empty array" "$(ringfence audit --json)" "[]"
sql "CREATE TABLE stock (sku text PRIMARY KEY, fence bigint)
    " >/dev/null
sql "SELECT ringfence.protect('stock', 'fence')" >/dev/null
sql "ALTER TABLE stock DISABLE TRIGGER \"~ringfence_seal\"" >/dev/null
is "1 when an unfenced write gets past" "$(code ringfence audit)" 1
ok "with what is wrong" prints '^critical +public.stock: trigger .*seal.* is switched off' \
    ringfence audit
ok "and the statement that mends it" prints \
    '-> ALTER TABLE public.stock ENABLE ALWAYS TRIGGER' ringfence audit
is "in JSON" "$(ringfence audit --json | json '.[0] | .severity, .subject' | xargs)" \
    "critical public.stock"
sql "$(ringfence audit --json | json '.[0].remedy')" >/dev/null
is "which mends it" "$(code ringfence audit)" 0
role=audit_$test_database
sql "CREATE ROLE $role; GRANT TRIGGER ON stock TO $role" >/dev/null
is "2 when somebody could open one" "$(code ringfence audit)" 2
sql "DROP OWNED BY $role; DROP ROLE $role" >/dev/null
sql "CREATE TABLE \"$(printf 'x\033[31m\302\233m\342\200\256y')\" (fence bigint)"
ok "other people's names don't steer the terminal" grep -qF 'x?[31m?m?y' <(ringfence audit)
is "nor any of it" "$(ringfence audit | LC_ALL=C tr -d '\n -~' | od -An -c)" ""
sql "DROP TABLE \"$(printf 'x\033[31m\302\233m\342\200\256y')\""

# ---- heal ------------------------------------------------------------------

counter() { redis GET "{lock:v1:$1}:fence"; }
redis FLUSHALL >/dev/null
sql "SELECT ringfence.guard('a', 70, 'x'); SELECT ringfence.guard('b', 5, 'x')" >/dev/null
sql "SELECT ringfence.guard('c', 7, 'x')" >/dev/null
redis SET '{lock:v1:a}:fence' 100 >/dev/null
is "a look at it: 1 when one is below" "$(code ringfence heal --dry-run)" 1
is "and nothing is changed" "$(counter b)" ""
is "those that are below are named" \
    "$(ringfence heal --dry-run --json | json '.below[] | .resource' | xargs)" "b c job other"
redis SET '{lock:v1:b}' elses >/dev/null
redis SET '{lock:v1:c}:fence' rubbish >/dev/null
is "1 when one can't be raised" "$(code ringfence heal)" 1
is "the others are" "$([ "$(counter job)" -gt 9 ] && counter a)" 100
is "what is held and what is no counter is told" \
    "$(ringfence heal --json | json '.below[] | .resource + " " + .outcome[:4]' | xargs)" \
    "b held c no c"
redis DEL '{lock:v1:b}' '{lock:v1:c}:fence' >/dev/null
is "one by name" "$(ringfence heal b | tail -n 1)" "1 looked at, 1 raised, 0 still below"
is "0 when all are raised" "$(code ringfence heal)" 0
is "no lock is left" "$(redis KEYS '*}')" ""
# The next grant is newer than all that was accepted, for any client.
is "the next fence is accepted" "$(ringfence acquire c --no-pg --json >grant; ringfence guard --stdin --json <grant | json '.fence > 7, .accepted' | xargs)" \
    "true true"

# ---- force-release ---------------------------------------------------------

redis FLUSHALL >/dev/null
ringfence acquire job --no-pg >/dev/null
is "a fence and a reason are demanded" \
    "$(code ringfence force-release job) $(code ringfence force-release job --fence 1) $(code ringfence force-release job --reason x)" \
    "109 109 109"
ok "another's fence takes nothing away" says 'has another fence; .*inspect' \
    ringfence force-release job --fence 2 --reason x
is "which is 103" "$(code ringfence force-release job --fence 2 --reason x)" 103
is "with the holder's it is taken" \
    "$(ringfence force-release job --fence 1 --reason 'host db7 is gone' --json | json .released)" true
is "and the reason is in the log" "$(grep -c 'host db7 is gone' redis.log)" 1
is "for everybody to have" "$(redis EXISTS '{lock:v1:job}')" 0

# ---- drill -----------------------------------------------------------------

ok "without the source it says where the drills are" says 'make drills' \
    ringfence drill "$TMPDIR"
