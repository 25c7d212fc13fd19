#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 52
# PgBouncer in transaction mode, one server connection for all clients: what
# one has claimed is nothing to the next, and no lock stays behind.
set -u
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/lib/pgbouncer.sh
. "$RF_ROOT/tests/lib/pgbouncer.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
finish() {
    exec {one}>&- {two}>&- 2>/dev/null
    pooler_stop "$dir"
    rm -rf "$dir"
}
trap finish EXIT

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"; }

pooler_start "$dir" || exit 1

sql "CREATE TABLE line (sku text);
    DO \$\$BEGIN PERFORM ringfence.protect('line', resource => 'line:{sku}');
    END\$\$"

# Two clients that stay connected. Each answers with a line for each question.
mkfifo "$dir/one" "$dir/two" "$dir/answers"
for client in one two; do
    psql -X -q -A -t -h "$dir" -p 6432 -v VERBOSITY=sqlstate \
        <"$dir/$client" >"$dir/$client.out" 2>&1 &
done
exec {one}>"$dir/one" {two}>"$dir/two"

# say CLIENT SQL: the SQLSTATE the client gets, once it has it.
say() {
    local fd=$one seen i
    [ "$1" = one ] || fd=$two
    seen=$(grep -c '^state ' "$dir/$1.out")
    printf '%s\n\\echo state :SQLSTATE\n' "$2" >&"$fd"
    for ((i = 0; i < 200; i++)); do
        [ "$(grep -c '^state ' "$dir/$1.out")" -gt "$seen" ] && break
        sleep 0.05
    done
    grep '^state ' "$dir/$1.out" | tail -n 1 | cut -d' ' -f2
}

pid="SELECT pg_backend_pid();"
plan 8
say one "$pid" >/dev/null
say two "$pid" >/dev/null
is "both clients share one server connection" \
    "$(grep -E '^[0-9]+$' "$dir/one.out")" \
    "$(grep -E '^[0-9]+$' "$dir/two.out")"
say one "BEGIN;" >/dev/null
is "one claims" "$(say one "SELECT ringfence.guard('line:a', 5, 'one');")" 00000
is "and writes" "$(say one "INSERT INTO line VALUES ('a');")" 00000
say one "COMMIT;" >/dev/null
is "the next client on the connection has no claim" \
    "$(say two "INSERT INTO line VALUES ('a');")" RF003
is "nor does the first in its next transaction" \
    "$(say one "INSERT INTO line VALUES ('a');")" RF003
is "no lock is left behind" \
    "$(sql "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database
            WHERE datname = current_database())")" 0
say two "BEGIN;" >/dev/null
is "a newer claim passes" \
    "$(say two "SELECT ringfence.guard('line:a', 6, 'two');")" 00000
say two "COMMIT;" >/dev/null
is "and the older one is refused, on the same connection" \
    "$(say one "SELECT ringfence.guard('line:a', 5, 'one');")" RF001
