#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 40, case 41
# A database goes through pg_dump and pg_restore in each of the ways there
# are; afterwards no fence goes back, or audit() says what to mend.
set -u
. "$RF_ROOT/tests/lib/tap.sh"

bin=$($PG_CONFIG --bindir)
source_db=$PGDATABASE
copy=${PGDATABASE}_copy

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }

# state DB COMMAND: the SQLSTATE that the command ends in, 00000 if it passes.
state() {
    psql -X -q -A -t -d "$1" 2>/dev/null <<SQL | tail -n 1
\\o /dev/null
$2;
\\o
\\echo :SQLSTATE
SQL
}

fresh_copy() {
    sql postgres "DROP DATABASE IF EXISTS $copy WITH (FORCE)"
    sql postgres "CREATE DATABASE $copy TEMPLATE template0"
}

everything() {
    sql "$1" "SELECT * FROM stock ORDER BY sku" &&
        sql "$1" "SELECT * FROM parts ORDER BY sku" &&
        sql "$1" "SELECT * FROM line ORDER BY sku" &&
        sql "$1" "SELECT * FROM price ORDER BY sku" &&
        sql "$1" "SELECT * FROM copied ORDER BY sku" &&
        sql "$1" "SELECT * FROM ringfence.registry ORDER BY resource" &&
        sql "$1" "SELECT * FROM ringfence.protection ORDER BY 1, 2"
}

audit() { sql "$1" "SELECT severity, problem FROM ringfence.audit()"; }

mend() {
    sql "$1" "DO \$\$DECLARE r text; BEGIN
        FOR r IN SELECT remedy FROM ringfence.audit() LOOP EXECUTE r; END LOOP;
        END\$\$"
}

trap 'sql postgres "DROP DATABASE IF EXISTS $copy WITH (FORCE)"' EXIT

sql "$source_db" "
CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
CREATE TABLE parts (sku text, fence bigint) PARTITION BY LIST (sku);
CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE line (sku text, amount int);
CREATE TABLE price (sku text, amount int);
INSERT INTO stock VALUES ('a', 5), ('new', NULL);
INSERT INTO parts VALUES ('p', 5);
INSERT INTO line VALUES ('x', 1);
INSERT INTO price VALUES ('x', 1);
DO \$\$BEGIN
    PERFORM ringfence.protect('stock', 'fence');
    PERFORM ringfence.protect('parts', 'fence');
    PERFORM ringfence.protect('line', resource => 'line:{sku}');
    PERFORM ringfence.protect('price', resource => 'import');
    PERFORM ringfence.guard('line:x', 9, 'h');
END\$\$"
# What is made like a table of one resource has its CHECK, and is not protected.
sql "$source_db" "CREATE TABLE copied (LIKE price INCLUDING ALL);
    INSERT INTO copied VALUES ('c', 1)"
copied="notice|has constraint \"~ringfence_claim\", copied from a protected table: it lets everything pass"
want=$(everything "$source_db")

plan 27

# ---- All of it ----
"$bin/pg_dump" -Fc -f "$TMPDIR/full" "$source_db"
fresh_copy
ok "a full dump restores" "$bin/pg_restore" -e -d "$copy" "$TMPDIR/full"
is "rows, registry and record are the same" "$(everything "$copy")" "$want"
is "audit finds what it found before" "$(audit "$copy")" "$copied"
is "a stale write is refused" \
    "$(state "$copy" "UPDATE stock SET fence = 4 WHERE sku = 'a'")" RF001
is "so is one in a partition" \
    "$(state "$copy" "UPDATE parts SET fence = 4")" RF001
is "TRUNCATE of a partition is refused" \
    "$(state "$copy" "TRUNCATE part")" RF003
is "a row of a table that is one resource needs the claim" \
    "$(state "$copy" "UPDATE price SET amount = 2")" RF003
is "an old claim is refused" \
    "$(state "$copy" "SELECT ringfence.guard('line:x', 8, 'h')")" RF001

# ---- Schema first, then data: the triggers are there when the rows come ----
"$bin/pg_dump" -Fc -s -f "$TMPDIR/schema" "$source_db"
"$bin/pg_dump" -Fc -a -f "$TMPDIR/data" "$source_db"
fresh_copy
"$bin/pg_restore" -e -d "$copy" "$TMPDIR/schema"
"$bin/pg_restore" -d "$copy" "$TMPDIR/data" 2>"$TMPDIR/said"
is "rows that need a claim are refused" \
    "$(grep -c 'write is not fenced' "$TMPDIR/said")" 2
is "rows that carry their fence are restored" \
    "$(sql "$copy" "SELECT count(*) FROM stock")" 2

# ---- The same in the role for replicas ----
fresh_copy
"$bin/pg_restore" -e -d "$copy" "$TMPDIR/schema"
ok "with session_replication_role = replica all data restore" \
    env PGOPTIONS="-c session_replication_role=replica" \
    "$bin/pg_restore" -e -d "$copy" "$TMPDIR/data"
is "to the same" "$(everything "$copy")" "$want"
is "and audit finds what it found before" "$(audit "$copy")" "$copied"

# ---- The same with --disable-triggers ----
fresh_copy
"$bin/pg_restore" -e -d "$copy" "$TMPDIR/schema"
ok "with --disable-triggers all data restore" \
    "$bin/pg_restore" -e -a --disable-triggers -d "$copy" "$TMPDIR/data"
is "to the same" "$(everything "$copy")" "$want"
is "audit finds triggers that no longer fire always" \
    "$(audit "$copy" | grep -v '^notice' | cut -d'|' -f1 | sort -u)" warning
mend "$copy"
is "its remedies mend all of them" "$(audit "$copy")" ""
is "a stale write is refused" \
    "$(state "$copy" "UPDATE parts SET fence = 4")" RF001
is "a row without its claim as well" \
    "$(state "$copy" "UPDATE price SET amount = 2")" RF003

# ---- A CHECK that somebody has validated is made before the rows are loaded --
sql "$source_db" "BEGIN; SELECT ringfence.guard('import', 1, 'h');
    ALTER TABLE price VALIDATE CONSTRAINT \"~ringfence_claim\"; COMMIT" >/dev/null
want=$(everything "$source_db")
"$bin/pg_dump" -Fc -f "$TMPDIR/full" "$source_db"
fresh_copy
ok "a full dump restores with it" "$bin/pg_restore" -e -d "$copy" "$TMPDIR/full"
is "to the same" "$(everything "$copy")" "$want"
is "where a row needs its claim" \
    "$(state "$copy" "UPDATE price SET amount = 2")" RF003

# ---- Who owns the schema: a dump restores it before the extension ----
# restored_as ROLE ARG...: the full dump, restored by that role.
restored_as() {
    local role=$1
    shift
    fresh_copy
    "$bin/pg_restore" -e -U "$role" -d "$copy" "$@" 2>"$TMPDIR/said" || {
        cat "$TMPDIR/said"
        return 1
    }
}
owner() {
    sql "$copy" "SELECT pg_get_userbyid(nspowner) FROM pg_namespace
        WHERE nspname = 'ringfence'"
}

chief=rf_chief_$$
plain=rf_plain_$$
sql postgres "CREATE ROLE $chief SUPERUSER LOGIN; CREATE ROLE $plain"
trap 'sql postgres "DROP DATABASE IF EXISTS $copy WITH (FORCE)"
    sql "$source_db" "ALTER SCHEMA ringfence OWNER TO CURRENT_USER"
    sql postgres "DROP ROLE $chief, $plain"' EXIT
ok "another superuser restores it" restored_as "$chief" "$TMPDIR/full"
ok "also without its owners" restored_as "$chief" --no-owner "$TMPDIR/full"
is "and then owns the schema" "$(owner)" "$chief"
sql "$source_db" "ALTER SCHEMA ringfence OWNER TO $plain"
"$bin/pg_dump" -Fc -f "$TMPDIR/full" "$source_db"
is "a schema that an ordinary role owned is refused" \
    "$(restored_as "$chief" "$TMPDIR/full" | grep -o "Schema.*\"$plain\"")" \
    "Schema \"ringfence\" belongs to \"$plain\""
ok "and restored without its owners" \
    restored_as "$chief" --no-owner "$TMPDIR/full"
