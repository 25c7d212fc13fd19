#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# What people read: warnings of observe mode, the server's log, the list of
# protected tables.
set -u
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

plan 13

say() { psql -X -q -A -t "$@" 2>&1; }
says() { grep -qF -- "$1" <<<"$2" || { echo "$2" && return 1; }; }

say -c "CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
    INSERT INTO stock VALUES ('a', 8);
    SELECT ringfence.protect('stock', 'fence', 'stock:{sku}', 'observe')" >/dev/null

# ---- Observed ------------------------------------------------------------------

warned=$(say <<'SQL'
BEGIN;
SELECT ringfence.guard('stock:a', 7, 'h');
UPDATE stock SET fence = 7;
ROLLBACK;
SQL
)
ok "what would be refused is a WARNING" says "WARNING:  fence is stale" "$warned"
ok "that names table, resource and both numbers" says \
    'Table "public.stock", resource "stock:a": the row has fence 8, this transaction has claimed 7.' "$warned"
ok "and says that it was let through" says "Let through in observe mode." "$warned"
say -c "CREATE TABLE plain (fence bigint); INSERT INTO plain VALUES (8);
    SELECT ringfence.protect('plain', 'fence', mode => 'observe')" >/dev/null
ok "by column alone: the table and both numbers" says \
    'Table "public.plain": the row has fence 8, this write has fence 7.' \
    "$(say -c 'UPDATE plain SET fence = 7')"
is "a statement over very many rows does not fill the log" \
    "$(say -c 'INSERT INTO plain SELECT 8 FROM generate_series(1, 1000)' \
        -c 'UPDATE plain SET fence = 7' | grep -c WARNING)" 10

# ---- The log -------------------------------------------------------------------

me=$(say -c "SELECT current_user")
say -c "SELECT ringfence.guard('told', 500, 'a')" -c "SELECT ringfence.reset('told', 10)" >/dev/null
logged() { grep -A 1 -F "$1" "$RF_SERVER_LOG" | grep -qF "$2"; }
ok "a reset is in the server's log" logged "fence of a resource is reset" \
    "Resource \"told\": from 500 to 10 by role \"$me\"."
psql -X -q -A -t >/dev/null 2>&1 <<'SQL' &
BEGIN;
SELECT ringfence.guard('preempted', 5, 'a');
SELECT pg_sleep(60);
SQL
holder=$!
for ((i = 0; i < 300; i++)); do
    [ -z "$(say -c "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%'
        AND datname = current_database() AND state = 'active'")" ] || break
    sleep 0.1
done
say -c "SELECT ringfence.guard('preempted', 6, 'b', preempt => true)" >/dev/null
wait $holder
ok "so is a session that was ended for a newer fence" logged "for a newer fence" \
    'Resource "preempted": fence 6 is being claimed.'

# ---- A person who may look ---------------------------------------------------------

role=rf_reader_$$
say -c "CREATE ROLE $role" -c "GRANT USAGE ON SCHEMA ringfence TO $role" \
    -c "GRANT SELECT ON ringfence.protected TO $role" \
    -c "GRANT EXECUTE ON FUNCTION ringfence.stats() TO $role" >/dev/null
is "the list of protected tables can be read by whom one lets" \
    "$(say -c "SET ROLE $role" -c 'SELECT "table", fence_column, resource, mode, partitions, triggers
        FROM ringfence.protected')" \
    $'public.plain|fence||observe|0|in place\npublic.stock|fence|stock:{sku}|observe|0|in place'
is "so can the counts" \
    "$(say -c "SET ROLE $role" -c "SELECT observed >= 12 FROM ringfence.stats()")" t
for statement in "SELECT 1 FROM ringfence.registry" "SELECT 1 FROM ringfence.protection" \
    "SELECT ringfence.reset('told', 1)"; do
    ok "and nothing else: $statement" says "permission denied" \
        "$(say -c "SET ROLE $role" -c "$statement")"
done
say -c "DROP OWNED BY $role" -c "DROP ROLE $role" >/dev/null
is "who was let look can go again" \
    "$(say -c "SELECT count(*) FROM pg_roles WHERE rolname = '$role'")" 0
