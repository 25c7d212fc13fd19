# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# cli.sh - what tests of the command ringfence have around them (to be sourced)
#
#   ringfence ...          the one that was built
#   code COMMAND...        print the exit code alone
#   says PATTERN COMMAND...    it says that on standard error, in one line
#   prints PATTERN COMMAND...  and that on standard output
#   json FILTER            read JSON from standard input, by jq
#   until_true COMMAND...  wait until it succeeds, at most twenty seconds
#   redis ...              redis-cli on the test's Redis, in $TMPDIR
#
# The environment has a Redis of its own and no database: tests that want one
# set RINGFENCE_PG to a blank, which is the test's own.

# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/redis.sh
. "$RF_ROOT/tests/lib/redis.sh"

cd "$TMPDIR" || exit 1
PATH=$RF_BUILD:$PATH
export HOME=$TMPDIR/home XDG_CONFIG_HOME=
mkdir -p "$HOME"
unset RINGFENCE_PG RINGFENCE_PREFIX NO_COLOR
unset RINGFENCE_RESOURCE RINGFENCE_FENCE RINGFENCE_HOLDER

redis_start "$TMPDIR" || exit 1
trap 'redis_stop "$TMPDIR"' EXIT
export RINGFENCE_URL=redis+unix://$TMPDIR/redis.sock

# The harness names a database to every test; only some want it.
test_database=$PGDATABASE
unset PGDATABASE
test_host=$PGHOST
unset PGHOST
with_database() {
    RINGFENCE_PG="host=$test_host dbname=$test_database" "$@"
}
sql() { PGHOST=$test_host psql -X -q -A -t -d "$test_database" -c "$1"; }

redis() { redis-cli -s "$TMPDIR/redis.sock" "$@"; }
json() { jq -r "$1"; }

code() {
    local status=0
    "$@" >/dev/null 2>&1 </dev/null || status=$?
    echo "$status"
}
# says PATTERN COMMAND...: on standard error, in one line
says() {
    local pattern=$1 text
    shift
    text=$("$@" 2>&1 >/dev/null </dev/null)
    echo "$text"
    [ "$(wc -l <<<"$text")" = 1 ] && grep -qE -- "$pattern" <<<"$text"
}
# prints PATTERN COMMAND...: on standard output
prints() {
    local pattern=$1 text
    shift
    text=$("$@" 2>/dev/null </dev/null)
    echo "$text"
    grep -qE -- "$pattern" <<<"$text"
}

until_true() {
    local i
    for ((i = 0; i < 1000; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    echo "waited in vain: $*"
    return 1
}

# gone PID: it has ended, and is no zombie of somebody else's.
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
