# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Story: somebody writes past the guard: without a fence, with a lower one, by COPY, MERGE, ON CONFLICT, DELETE, TRUNCATE, as a replica.
# Holds: each is refused, and the rows stay as they were.
# Seen: the code of every refusal; the rows afterwards.
refused() {
    psql -X -q -A -t -v VERBOSITY=sqlstate -c "$1" 2>&1 | grep -qE 'RF00[1-6]'
}
rows() { sql "SELECT string_agg(i::text, ',' ORDER BY name) FROM item AS i"; }
drill() {
    local before statement
    worker first ttl=5000 sections=3
    until_over "$first"
    before=$(rows)
    while read -r statement; do
        must "refused: $statement" refused "$statement"
    done <<'STATEMENTS'
UPDATE item SET newest = 'x'
UPDATE item SET newest = 'x', fence = fence
UPDATE item SET newest = 'x', fence = 2 WHERE name = 'a'
UPDATE item SET newest = 'x', fence = NULL WHERE name = 'a'
UPDATE item SET newest = 'x', fence = 99 WHERE name = 'a'
DELETE FROM item WHERE name = 'a'
TRUNCATE item
INSERT INTO item VALUES ('d', 'x', 1)
INSERT INTO item VALUES ('a', 'x', 4) ON CONFLICT (name) DO UPDATE SET newest = 'x'
MERGE INTO item USING (VALUES ('a')) AS v (n) ON name = n WHEN MATCHED THEN UPDATE SET newest = 'x'
COPY item FROM PROGRAM 'printf "e\tx\t1\n"'
SET session_replication_role = replica; UPDATE item SET fence = 1 WHERE name = 'a'
SELECT ringfence.guard('b', 5, 'h'); UPDATE item SET newest = 'x', fence = 5 WHERE name = 'a'
STATEMENTS
    must "the rows are as they were" test "$(rows)" = "$before"
    [ "$mode" = weakened ] || alive
}
