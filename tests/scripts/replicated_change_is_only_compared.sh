#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 37
# A subscriber protects its table as well. Changes from the publisher pass
# without claims; one that would take a fence back stops the subscription.
set -u
. "$RF_ROOT/tests/lib/tap.sh"

there=${PGDATABASE}_sub
slot=rf_$PGDATABASE

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
here() { sql "$PGDATABASE" "$1"; }
away() { sql "$there" "$1"; }

# until_is SQL WANT: ask the subscriber until it says so, at most 30 seconds.
until_is() {
    local i said
    for ((i = 0; i < 300; i++)); do
        said=$(away "$1")
        [ "$said" = "$2" ] && return 0
        sleep 0.1
    done
    echo "have: $said"
    echo "want: $2"
    return 1
}

# until_refused: the server's log says that the subscriber refused a change.
until_refused() {
    local i
    for ((i = 0; i < 300; i++)); do
        # Workers of subscriptions are logged without a database.
        grep -q '\]  ERROR:  fence is stale' "$RF_SERVER_LOG" && return 0
        sleep 0.1
    done
    return 1
}

finish() {
    away "ALTER SUBSCRIPTION sub DISABLE" &&
        away "ALTER SUBSCRIPTION sub SET (slot_name = NONE)" &&
        away "DROP SUBSCRIPTION sub"
    sql postgres "DROP DATABASE IF EXISTS $there WITH (FORCE)"
    here "SELECT pg_drop_replication_slot('$slot') FROM pg_replication_slots
        WHERE slot_name = '$slot'" >/dev/null
} 2>/dev/null
trap finish EXIT

tables="
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint, left_over int);
CREATE TABLE line (id int PRIMARY KEY, sku text)"
protect="
DO \$\$BEGIN
    PERFORM ringfence.protect('stock', 'fence');
    PERFORM ringfence.protect('line', resource => 'line:{sku}');
END\$\$"
look="SELECT string_agg(concat_ws('/', sku, fence, left_over), ' ' ORDER BY sku)
    FROM stock"

here "$tables"
here "INSERT INTO stock VALUES ('a', 5, 10), ('b', 5, 10)"
here "$protect"
sql postgres "CREATE DATABASE $there TEMPLATE template0"
away "CREATE EXTENSION ringfence"
away "$tables"
away "$protect"
here "CREATE PUBLICATION pub FOR TABLE stock, line"
here "SELECT pg_create_logical_replication_slot('$slot', 'pgoutput')" >/dev/null
away "CREATE SUBSCRIPTION sub CONNECTION 'host=$PGHOST port=$PGPORT user=$PGUSER
    dbname=$PGDATABASE' PUBLICATION pub
    WITH (create_slot = false, slot_name = '$slot')" 2>/dev/null

plan 8
ok "the first copy arrives" until_is "$look" "a/5/10 b/5/10"
here "UPDATE stock SET fence = 6, left_over = 9 WHERE sku = 'a'"
ok "an update arrives" until_is "$look" "a/6/9 b/5/10"
here "BEGIN; SELECT ringfence.guard('line:x', 1, 'h');
    INSERT INTO line VALUES (1, 'x'), (2, 'x'); DELETE FROM line WHERE id = 2;
    COMMIT" >/dev/null
ok "rows of a resource arrive without a claim" \
    until_is "SELECT string_agg(id::text, ' ') FROM line" "1"

# The subscriber goes its own way: its row is newer than what will come.
away "UPDATE stock SET fence = 8, left_over = 1 WHERE sku = 'a'"
here "UPDATE stock SET fence = 7, left_over = 5 WHERE sku = 'a'"
here "UPDATE stock SET fence = 7 WHERE sku = 'b'"
ok "a change that would take a fence back stops the subscription" until_refused
is "the newer row stands, and what comes later waits" "$(away "$look")" \
    "a/8/1 b/5/10"
here "UPDATE stock SET fence = 9, left_over = 4 WHERE sku = 'a'"
away "UPDATE stock SET fence = 6" 2>/dev/null
is "nobody takes the fence back on the subscriber either" \
    "$(away "$look")" "a/8/1 b/5/10"

# Triggers that fire only where a write originates leave the subscriber alone.
away "ALTER TABLE stock ENABLE TRIGGER \"~ringfence_seal\""
# Before PostgreSQL 14 a second trigger compares rows.
[ "$(away "SHOW server_version_num")" -ge 140000 ] ||
    away "ALTER TABLE stock ENABLE TRIGGER \"~ringfence_column\""
ok "with ORIGIN triggers the publisher is followed" \
    until_is "$look" "a/9/4 b/7/10"
is "which audit tells" \
    "$(away "SELECT problem FROM ringfence.audit()
        WHERE problem LIKE '%_seal%'")" \
    'trigger "~ringfence_seal" does not fire when session_replication_role is replica'
