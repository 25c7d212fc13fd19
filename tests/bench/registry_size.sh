#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# guard() in a registry of ten million resources and in one of ten thousand, in
# two databases by turns.  Ten thousand are in use, by chance and all over the
# table, and one session works on all of them.  Beside it, a plain SELECT of the
# same row: what grows with the table for everybody.
set -euo pipefail
rounds=${ROUNDS:-60}
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

# contestants SIZE OURS [SUFFIX-OF-THE-OTHER]: guard() and SELECT in that registry.
contestants() {
    local name="'resource-' || (random() * ($in_use - 1))::int * ($1 / $in_use)"
    cat <<SQL
--: $2 $1 ${3:-}
--: database bench_registry_$1
--: statement
SELECT ringfence.guard($name, 7, 'b5e1')
--: $2 $1.select ${3:+$3.select}
--: database bench_registry_$1
--: statement
SELECT fence FROM ringfence.registry WHERE resource = (SELECT $name)
SQL
}

for size in $sizes; do
    database=bench_registry_$size
    query -d postgres -c "CREATE DATABASE $database"
    PGDATABASE=$database fill "$size"
    PGDATABASE=$database describe "$size"
done
{
    echo "--: rounds $rounds"
    echo '--: batch_ms 30'
    echo '--: processors 1'
    contestants 10000 theirs
    contestants 10000000 ours 10000
} >"$RF_TMP/size.sql"
# Processor time alone: the rest is waiting for one's turn.
"$RF_BUILD/bench/statements" registry_size "$RF_TMP/size.sql" |
    awk -F '\t' -v OFS='\t' 'sub(/\.cpu$/, "", $1) { $3 = "us cpu"; print }'
for size in $sizes; do
    query -d postgres -c "DROP DATABASE bench_registry_$size"
done
