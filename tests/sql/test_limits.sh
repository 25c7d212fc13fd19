#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What a session may use up: a transaction that claims more than the server has
# locks for is told so, and a session that goes on for ever does not grow, nor do
# its tables.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 15

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" "max_locks_per_transaction = 10" "autovacuum = off" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence; SELECT ringfence.guard('r', 5, 'a')" >/dev/null

# ---- Tables --------------------------------------------------------------------
# Who takes one lock again and again finds its rows without the index, and so
# without what an index scan clears away by the way.

is_small() {
    echo "$1 bytes"
    [ "$1" -le 16384 ]
}

psql -X -q <<'SQL'
DO $$
DECLARE
    lock record;
BEGIN
    FOR i IN 1..1000 LOOP
        SELECT * INTO lock FROM ringfence.acquire('again', 'a', '1 min');
        COMMIT;
        PERFORM ringfence.release('again', lock.fence, 'a');
        COMMIT;
    END LOOP;
END $$
SQL
is "a lock was had a thousand times" \
    "$(ask "SELECT ringfence.high_water('again')")" 1000
ok "and its rows have stayed in their pages" is_small "$(ask "
    SELECT greatest(pg_relation_size('ringfence.leases'),
                    pg_relation_size('ringfence.registry'))")"

# ---- Locks ---------------------------------------------------------------------

many="SELECT count(ringfence.guard('many ' || i, 1, 'a')) FROM generate_series(1, 100000) AS i"
is "more claims than there are locks" "$(ask "$many")" "ERROR:  53200"
# Heard to the end: the error is told before the locks are given back.
psql -X -c "$many" >"$TMPDIR/said" 2>&1
ok "which names the setting to raise" \
    grep -q max_locks_per_transaction "$TMPDIR/said"
session greedy
tell greedy "BEGIN" "SELECT ringfence.guard('r', 6, 'b')" "SAVEPOINT s" "$many" \
    "ROLLBACK TO s" \
    "SELECT 'locks: ' || count(*) FROM pg_locks WHERE locktype = 'advisory'" \
    "SELECT 'claim: ' || ringfence.fence('r')" "SELECT ringfence.fence('many 1')" "ROLLBACK TO s" \
    "SELECT ringfence.guard('s', 1, 'b')" "COMMIT"
finish greedy
is "back at the savepoint only what was claimed before is held" \
    "$(grep -h : "$(out greedy)" | tr '\n' ' ')" "locks: 1 claim: 6 "
is "and nothing of the rest is claimed" "$(code_of greedy)" RF006
is "the transaction goes on and commits" \
    "$(ask "SELECT ringfence.high_water('r'), ringfence.high_water('s'), ringfence.high_water('many 1')")" "6|1|0"

# ---- Memory --------------------------------------------------------------------
# In kB, of this one process, after a first round that has everything in place.

session long
tell long "SELECT 'pid: ' || pg_backend_pid()"
settle long
pid=$(sed -n 's/^pid: //p' "$(out long)")
memory() { sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$pid/status"; }

# The address sanitizer keeps back what is given back, up to 256 MB of it.
little=1000
[ -z "${SANITIZE:-}" ] || little=60000

is_little() {
    echo "from $1 kB to $2 kB"
    [ $(($2 - $1)) -lt "$little" ]
}

# grows WHAT SQL: the second time it takes nothing more.
grows() {
    local before after
    tell long "$2"
    settle long
    before=$(memory)
    tell long "$2"
    settle long
    after=$(memory)
    ok "$1" is_little "$before" "$after"
}

grows "a claim, a million times in one statement" \
    "SELECT count(ringfence.guard('r', 6, 'b')) FROM (SELECT generate_series(1, 1000000)) s"
grows "a claim in each of a hundred thousand transactions" \
    "DO \$\$BEGIN FOR i IN 1..100000 LOOP
        PERFORM ringfence.guard('r', 6, 'b'); COMMIT; END LOOP; END\$\$"
grows "newer and newer ones" \
    "DO \$\$BEGIN FOR i IN 1..20000 LOOP
        PERFORM ringfence.guard('n', ringfence.high_water('n') + 1, 'b'); COMMIT; END LOOP; END\$\$"
grows "ever other resources" \
    "DO \$\$BEGIN FOR i IN 1..20000 LOOP
        PERFORM ringfence.guard('o ' || i % 2000, 1, 'b'); COMMIT; END LOOP; END\$\$"
grows "refusals" \
    "SELECT count(*) FILTER (WHERE ringfence.try_guard('r', 1, 'b'))
        FROM (SELECT generate_series(1, 200000)) s"
# From 14 on a transaction can be asked.
counted="0"
[ "$(ask 'SHOW server_version_num')" -lt 140000 ] || counted="(SELECT sum(used_bytes)
    FROM pg_backend_memory_contexts WHERE name = 'TopTransactionContext')"
tell long "DO \$\$BEGIN FOR i IN 1..20000 LOOP
        BEGIN
            PERFORM ringfence.guard('b', i, 'b');
            RAISE division_by_zero;
        EXCEPTION WHEN division_by_zero THEN
        END; END LOOP;
        PERFORM set_config('test.used', $counted::text, false); END\$\$"
settle long
tell long "SELECT 'used: ' || current_setting('test.used')"
settle long
ok "claims given back to a savepoint, within one transaction" \
    test "$(sed -n 's/^used: //p' "$(out long)")" -lt 100000
ask "CREATE TABLE line (sku text); SELECT ringfence.protect('line', resource => 'line:{sku}')" >/dev/null
rows="BEGIN; SELECT ringfence.guard('line:a', 1), ringfence.guard('line:b', 1);
    INSERT INTO line SELECT CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END
        FROM generate_series(1, 200000) AS i; ROLLBACK"
tell long "$rows" # the table's own part is in place after the second time
grows "rows that are judged" "$rows"
finish long
is "and no statement of it failed" "$(code_of long)" ""
