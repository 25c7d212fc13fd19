#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# guard() in a registry of ten million resources and in one of ten thousand, in
# two databases by turns.  Ten thousand are in use, by chance and all over the
# table.  It takes minutes, so it has to be named:
# long
set -euo pipefail
rounds=${ROUNDS:-9}
sizes='10000 10000000'

# measure SIZE: microseconds of a call, out of one short run.
measure() {
    local name="'resource-' || (random() * 10000)::int * ($1 / 10000)"
    cat >"$RF_TMP/size.sql" <<SQL
--: rounds 3
--: batch_ms 100
--: theirs nothing
--: statement
SELECT $name
--: ours guard nothing
--: statement
SELECT ringfence.guard($name, 7, 'b5e1')
SQL
    PGDATABASE=bench_registry_$1 ROUNDS=3 "$RF_BUILD/bench/statements" size \
        "$RF_TMP/size.sql" 2>/dev/null |
        awk -F '\t' '$1 == "size.guard.cpu" { print $2 }'
}

for size in $sizes; do
    psql -X -q -d postgres -c "CREATE DATABASE bench_registry_$size"
    psql -X -q -v ON_ERROR_STOP=1 -d "bench_registry_$size" <<SQL
CREATE EXTENSION ringfence;
INSERT INTO ringfence.registry
    SELECT 'resource-' || i, 7, 'b5e1', now() FROM generate_series(0, $size) i;
VACUUM (FREEZE, ANALYZE) ringfence.registry;
CHECKPOINT;
SQL
done
for ((i = 0; i < rounds; i++)); do
    for size in $sizes; do
        printf '%s\t' "$(measure "$size")"
    done
    echo
done >"$RF_TMP/rounds"

# Medians of the rounds' own ratios, and of each size.
awk -F '\t' '
    function median(values, n,    i, j, swap) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && values[j - 1] > values[j]; j--) {
                swap = values[j]
                values[j] = values[j - 1]
                values[j - 1] = swap
            }
        return values[int((n + 1) / 2)]
    }
    { few[NR] = $1; many[NR] = $2; ratio[NR] = $2 / $1 }
    END {
        m = median(ratio, NR)
        printf "registry_size.10000\t%.3g\tus cpu\t\t\t\t\n", median(few, NR)
        printf "registry_size.10000000\t%.3g\tus cpu\t10000\t%.3f\t%.3f\t%.3f\n", \
            median(many, NR), m, ratio[int(1 + NR / 20)], \
            ratio[NR - int(NR / 20)]
    }' "$RF_TMP/rounds"
for size in $sizes; do
    psql -X -q -d postgres -c "DROP DATABASE bench_registry_$size"
done
