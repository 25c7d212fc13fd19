#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# guard() in a registry of ten million resources and in one of ten thousand, in
# two databases by turns.  Ten thousand are in use, by chance and all over the
# table.  Beside it, a plain SELECT of the same row: what grows with the table
# for everybody.
set -euo pipefail
rounds=${ROUNDS:-15}
sizes='10000 10000000'
in_use=10000

query() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# The index last, which takes half the time; then what is in use into memory.
fill() {
    query <<SQL
CREATE EXTENSION ringfence;
CREATE EXTENSION pageinspect;
SET maintenance_work_mem = '512MB';
SET client_min_messages = warning;
ALTER TABLE ringfence.registry DROP CONSTRAINT registry_pkey;
INSERT INTO ringfence.registry
    SELECT 'resource-' || i, 7, 'b5e1', now() FROM generate_series(0, $1) i;
ALTER TABLE ringfence.registry
    ADD CONSTRAINT registry_pkey PRIMARY KEY (resource);
VACUUM (FREEZE, ANALYZE) ringfence.registry;
CHECKPOINT;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(fence) FROM generate_series(0, $in_use - 1) i
    JOIN ringfence.registry ON resource = 'resource-' || i * ($1 / $in_use)
\g /dev/null
SQL
}

# describe SIZE: what the database has to go through.
describe() {
    printf 'registry_size.%s.%s\t%s\t%s\t\t\t\t\n' \
        "$1" levels "$(query -c "SELECT level + 1
            FROM bt_metap('ringfence.registry_pkey')")" 'of the index' \
        "$1" table "$(query -c "SELECT pg_total_relation_size(
            'ringfence.registry') / 1000000")" MB
}

# measure SIZE: microseconds of guard() and of SELECT, out of one short run.
measure() {
    local name="'resource-' || (random() * ($in_use - 1))::int * ($1 / $in_use)"
    cat >"$RF_TMP/size.sql" <<SQL
--: rounds 3
--: batch_ms 100
--: theirs nothing
--: statement
SELECT $name
--: ours guard nothing
--: statement
SELECT ringfence.guard($name, 7, 'b5e1')
--: ours select nothing
--: statement
SELECT fence FROM ringfence.registry WHERE resource = (SELECT $name)
SQL
    ROUNDS=3 "$RF_BUILD/bench/statements" size "$RF_TMP/size.sql" 2>/dev/null |
        awk -F '\t' -v OFS='\t' '
            $1 == "size.guard.cpu" { guard = $2 }
            $1 == "size.select.cpu" { select = $2 }
            END { print guard, select }'
}

for size in $sizes; do
    export PGDATABASE=bench_registry_$size
    query -d postgres -c "CREATE DATABASE $PGDATABASE"
    fill "$size"
    describe "$size"
done
for ((i = 0; i < rounds; i++)); do
    for size in $sizes; do
        printf '%s\t' "$(PGDATABASE=bench_registry_$size measure "$size")"
    done
    echo
done >"$RF_TMP/rounds"

# Medians of the rounds' own ratios, and of each size.
awk -F '\t' '
    function sort(values, n,    i, j, swap) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && values[j - 1] > values[j]; j--) {
                swap = values[j]
                values[j] = values[j - 1]
                values[j - 1] = swap
            }
    }
    function tell(what, few, many,    i, ratio) {
        for (i = 1; i <= NR; i++)
            ratio[i] = many[i] / few[i]
        sort(few, NR)
        sort(many, NR)
        sort(ratio, NR)
        printf "registry_size.10000%s\t%.3g\tus cpu\t\t\t\t\n", what, \
            few[int((NR + 1) / 2)]
        printf "registry_size.10000000%s\t%.3g\tus cpu\t10000\t%.3f\t%.3f" \
            "\t%.3f\n", what, many[int((NR + 1) / 2)], \
            ratio[int((NR + 1) / 2)], ratio[int(1 + NR / 20)], \
            ratio[NR - int(NR / 20)]
    }
    {
        few[NR] = $1
        few_select[NR] = $2
        many[NR] = $3
        many_select[NR] = $4
    }
    END {
        tell("", few, many)
        tell(".select", few_select, many_select)
    }' "$RF_TMP/rounds"
for size in $sizes; do
    query -d postgres -c "DROP DATABASE bench_registry_$size"
done
