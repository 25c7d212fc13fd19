#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 40, case 45
# Protected hypertables go through pg_dump and pg_restore in each of the ways
# that TimescaleDB has for it; afterwards they are protected as before, chunks
# and all, or audit() says what to mend.  Where TimescaleDB is not had, that is
# all there is to see: make matrix PG=18 has it.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

# shellcheck source=tests/lib/timescaledb.sh
. "$RF_ROOT/tests/lib/timescaledb.sh"

bin=$($PG_CONFIG --bindir)
dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" "shared_preload_libraries = 'timescaledb,ringfence'" \
    "timescaledb.telemetry_level = off" || exit 1
export PGDATABASE=original

everything() {
    ask "SELECT * FROM by_column ORDER BY at"
    ask "SELECT * FROM by_claim ORDER BY at"
    ask "SELECT resource, fence, holder FROM ringfence.registry"
    ask "SELECT table_schema, table_name, root_name, mode
        FROM ringfence.protection ORDER BY 1, 2"
}

# Our triggers, those of chunks as well, and how each is switched on.
triggers() {
    ask "SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid)
        FROM pg_trigger WHERE tgname LIKE '~ringfence%' ORDER BY 1, 2"
}

found() {
    ask "SELECT DISTINCT severity || ': ' || problem FROM ringfence.audit() ORDER BY 1"
}

mend() {
    ask "DO \$\$ DECLARE mending text; BEGIN
        FOR mending IN SELECT DISTINCT remedy FROM ringfence.audit() LOOP
            EXECUTE mending;
        END LOOP;
    END \$\$"
}

chunk() { ask "SELECT c FROM show_chunks('$1') c ORDER BY c LIMIT 1"; }

# fresh: an empty database that is ready to be restored into
fresh() {
    export PGDATABASE=postgres
    ask "DROP DATABASE IF EXISTS copy WITH (FORCE)"
    ask "CREATE DATABASE copy TEMPLATE template0"
    export PGDATABASE=copy
    ask "CREATE EXTENSION timescaledb"
    ask "SELECT timescaledb_pre_restore()"
} >/dev/null

restore() { "$bin/pg_restore" -d copy "$@"; }

# Data alone collide with what CREATE EXTENSION timescaledb notes of itself.
fresh_with_schema() {
    fresh
    restore -e "$TMPDIR/schema"
    ask "DELETE FROM _timescaledb_catalog.metadata" >/dev/null
}

restored() { ask "SELECT timescaledb_post_restore()" >/dev/null; }

# is_protected WHEN: writes to hypertables and chunks are judged
is_protected() {
    local table
    for table in by_column "$(chunk by_column)"; do
        is "$1 an UPDATE must name its fence: $table" \
            "$(ask "UPDATE $table SET n = 2")" "ERROR:  RF003"
        is "$1 a stale one is refused: $table" \
            "$(ask "UPDATE $table SET n = 2, fence = 4")" "ERROR:  RF001"
        is "$1 DELETE is refused: $table" \
            "$(ask "DELETE FROM $table")" "ERROR:  RF003"
        is "$1 TRUNCATE: $table" "$(ask "TRUNCATE $table")" "ERROR:  RF003"
    done
    for table in by_claim "$(chunk by_claim)"; do
        is "$1 a row needs its claim: $table" \
            "$(ask "UPDATE $table SET n = 2")" "ERROR:  RF003"
        is "$1 a new one as well: $table" \
            "$(ask "INSERT INTO $table VALUES ('2026-01-02', 'a', 5, 1)")" \
            "ERROR:  RF003"
        is "$1 with it, it passes: $table" "$(ask "BEGIN;
            SELECT ringfence.guard('sku:a', 9, 'h');
            UPDATE $table SET n = 2 RETURNING n; ROLLBACK" | tail -n 1)" 2
    done
    is "$1 an old claim is refused" \
        "$(ask "SELECT ringfence.guard('sku:a', 8, 'h')")" "ERROR:  RF001"
    is "$1 a new chunk judges rows" "$(ask "BEGIN;
        INSERT INTO by_column VALUES ('2030-01-01', 'b', 5, 1);
        UPDATE by_column SET fence = 4 WHERE sku = 'b'; COMMIT")" "ERROR:  RF001"
}

PGDATABASE=postgres ask "CREATE DATABASE original TEMPLATE template0" >/dev/null
ask "CREATE EXTENSION timescaledb; CREATE EXTENSION ringfence" >/dev/null
for table in by_column by_claim; do
    ask "CREATE TABLE $table (at timestamptz NOT NULL, sku text, fence bigint,
        n int, PRIMARY KEY (sku, at))" >/dev/null
    ask "SELECT create_hypertable('$table', 'at')" >/dev/null
    ask "INSERT INTO $table VALUES ('2026-01-01', 'a', 5, 1),
        ('2025-01-01', 'a', 5, 1)" >/dev/null
done
ask "SELECT ringfence.protect('by_column', 'fence'),
    ringfence.protect('by_claim', resource => 'sku:{sku}')" >/dev/null
ask "SELECT ringfence.guard('sku:a', 9, 'h')" >/dev/null
want=$(everything)
want_triggers=$(triggers)

plan 61
is "nothing is to mend to begin with" "$(found)" ""
is_protected "before the dump"

# ---- All of it ----
"$bin/pg_dump" -Fc -f "$TMPDIR/full" original 2>/dev/null
fresh
ok "a full dump restores" restore -e "$TMPDIR/full"
restored
is "to the same rows, registry and record" "$(everything)" "$want"
is "with the same triggers" "$(triggers)" "$want_triggers"
is "audit finds nothing" "$(found)" ""
is_protected "restored,"

# ---- Schema first, then data in the role for replicas ----
"$bin/pg_dump" -Fc -s -f "$TMPDIR/schema" original 2>/dev/null
"$bin/pg_dump" -Fc -a -f "$TMPDIR/data" original 2>/dev/null
fresh_with_schema
ok "with session_replication_role = replica all data restore" \
    env PGOPTIONS="-c session_replication_role=replica" \
    "$bin/pg_restore" -e -d copy "$TMPDIR/data"
restored
is "to the same" "$(everything)" "$want"
is "with the same triggers" "$(triggers)" "$want_triggers"
is "and audit finds nothing" "$(found)" ""

# ---- The same with --disable-triggers ----
fresh_with_schema
ok "with --disable-triggers all data restore" \
    restore -e -a --disable-triggers "$TMPDIR/data"
restored
is "to the same" "$(everything)" "$want"
is "audit finds triggers that no longer fire always" \
    "$(found | cut -d: -f1 | sort -u)" warning
is "its remedies mend all of them" "$(mend)$(found)" ""
is_protected "mended,"
