#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# ringfence watch: a screen on a terminal, lines without one, JSON for scripts;
# the database's claims beside the locks; and a lock service that goes away.
# shellcheck disable=SC2016 # for shells that are started
set -u
# shellcheck source=tests/lib/cli.sh
. "$RF_ROOT/tests/lib/cli.sh"

once() { ringfence watch --count 1 "$@"; }

plan 32

is "nothing is held" "$(once)" ""
is "in JSON" "$(once --json)" "[]"
is "a resource that is named is shown free" \
    "$(once --json job | json '.[] | .resource, .state' | xargs)" "job free"
ringfence acquire job --json >grant
is "held" "$(once --json | json '.[] | .state, .fence' | xargs)" "held 1"
is "without a database there is no claim" "$(once --json | json '.[0] | has("claim")')" false
ok "a line has the time and all of it" grep -qE \
    "^[0-9:]{8} job  held  1  $(json .holder <grant)  [0-9.]+ s  -$" <(once)

# ---- Claims ----------------------------------------------------------------

claim() { with_database once --json | json '.[] | select(.resource == "job") | .claim.fence'; }
cell() { with_database once | sed -n 's/.* job .*  //p'; }
is "nothing is claimed" "$(claim) $(cell)" "null -"
with_database ringfence guard --stdin <grant >/dev/null
is "the claim of the lock" "$(claim) $(cell)" "1 1"
sql "SELECT ringfence.guard('job', 5, 'x')" >/dev/null
is "a newer one" "$(claim) $(cell)" "5 5 newer"
sql "SELECT ringfence.reset('job', 0); SELECT ringfence.guard('job', 1, 'x')" >/dev/null
is "another's" "$(cell)" "1 another's"
redis SET '{lock:v1:job}:fence' 8 >/dev/null
redis DEL '{lock:v1:job}' >/dev/null
ringfence acquire job >/dev/null
is "an older one" "$(cell)" "1 older"
role=watch_$test_database
sql "CREATE ROLE $role LOGIN" >/dev/null
as_role() { RINGFENCE_PG="host=$test_host dbname=$test_database user=$role" "$@"; }
ok "who may not see claims sees locks" grep -q 'job .*  ?$' <(as_role once 2>/dev/null)
ok "and is told why" as_role says 'no claims: permission denied' ringfence watch --count 1
sql "DROP ROLE $role"

# ---- Changes ---------------------------------------------------------------

redis FLUSHALL >/dev/null
ringfence watch --every 20ms >lines 2>errors &
pid=$!
ringfence run one -- true
ringfence acquire two >/dev/null
ok "what comes is shown" until_true grep -q 'two  held' lines
redis DEL '{lock:v1:two}' >/dev/null
ok "and what goes" until_true grep -q 'two  free' lines
lines=$(wc -l <lines)
sleep 0.3
is "and nothing twice" "$(wc -l <lines)" "$lines"
redis_stop "$TMPDIR"
ok "a lock service that goes away is told" until_true grep -q 'cannot connect\|no answer' errors
redis_start "$TMPDIR"
ringfence acquire three >/dev/null
ok "and looked for again" until_true grep -q 'three  held' lines
kill -TERM $pid
status=0
wait $pid || status=$?
is "TERM ends it" "$status" 143
is "a mistake ends it at once" "$(code ringfence watch --url nonsense)" 109
is "111 when nobody reads any more" \
    "$(ringfence watch --every 10ms --json 2>/dev/null | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}")" 111

# ---- A terminal ------------------------------------------------------------

export TERM=xterm
script -qec 'stty rows 10 cols 60; ringfence watch --every 50ms --count 3' /dev/null </dev/null >screen
ok "it has a screen of its own" grep -q $'\033\[?1049h' screen
ok "and leaves it as it was" grep -q $'\033\[?25h\033\[?1049l' screen
ok "the table is drawn" grep -q 'three.*held' screen
# What is between two line ends, without what is no letter.
is "no line is wider than the terminal" \
    "$(tr -d '\r' <screen | sed 's/\x1b\[H/\n/g; s/\x1b\[[0-9;?]*[A-Za-z]//g' | awk 'length > 60')" ""

# draw COLUMNS COMMAND...: what the terminal showed last, a line each
draw() {
    local columns=$1
    shift
    script -qec "stty rows 10 cols $columns; $*" /dev/null </dev/null |
        tr -d '\r' | sed 's/\x1b\[H/\f/g; s/\x1b\[[0-9;?]*[A-Za-z]//g' |
        awk 'BEGIN { RS = "\f" } { last = $0 } END { printf "%s", last }'
}
long=$(printf 'a-rather-long-name-%.0s' 1 2 3)
ringfence acquire "$long" >/dev/null
export RINGFENCE_PG="host=$test_host dbname=$test_database"
draw 40 ringfence watch --count 1 >narrow
ok "a narrow one has what matters" grep -qE '^RESOURCE +STATE +FENCE +LEFT +CLAIM$' narrow
ok "and what is cut says so" grep -qE '^a-rath[-a-z]*~ +held +1 +[0-9.]+ s +-$' narrow
is "in no more than its width" "$(awk 'length > 40' narrow)" ""
unset RINGFENCE_PG
ringfence acquire 'größe:日本語' >/dev/null
LC_ALL=C.UTF-8 draw 70 ringfence watch --count 1 'größe:日本語' three >wide
# Wide letters take two columns each, so STATE begins at the same one.
ok "letters are as wide as they are" grep -qE '^größe:日本語  held' wide
ok "in every line" grep -qE '^three         held' wide
is "a dumb one gets lines" \
    "$(TERM=dumb script -qec 'ringfence watch --count 1 three' /dev/null </dev/null | tr -d '\r' | cut -d' ' -f2-4)" \
    'three  held'
redis_stop "$TMPDIR"
draw 60 ringfence watch --count 1 three >note
ok "what is wrong stands below" grep -qE '^0 of 0; Ctrl-C ends; .*(connect|answer)' note
