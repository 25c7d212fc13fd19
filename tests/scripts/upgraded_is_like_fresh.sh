#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# An extension that was updated consists of the same objects, with the same
# definitions, privileges and comments, as one that was just created: for every
# release there has been.  Releases older than the current one are installed
# from tests/upgrade/ringfence--VERSION.sql, as they were; a made-up one shows
# that the comparison would notice what an update forgets.
# Not under SANITIZE: it compares catalogs.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" || exit 1
export PGDATABASE=postgres
scripts=$dir/root$($PG_CONFIG --sharedir)/extension
current=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" \
    "$RF_ROOT/pg_extension/ringfence.control")
fresh=$TMPDIR/fresh

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
objects() { psql -X -q -v ON_ERROR_STOP=1 -d "$1" -f "$RF_ROOT/tests/upgrade/objects.sql" 2>&1; }

# like_fresh DB: no difference, which otherwise is told.
like_fresh() {
    objects "$1" >"$TMPDIR/have"
    diff "$fresh" "$TMPDIR/have"
}

# updated VERSION: a database in which that version was created and updated.
updated() {
    db=from_${1//./_}
    sql postgres "CREATE DATABASE $db" &&
        sql "$db" "CREATE EXTENSION ringfence VERSION '$1'" &&
        sql "$db" "ALTER EXTENSION ringfence UPDATE"
}

# ---- What is compared, and with what ------------------------------------------

sql postgres "CREATE DATABASE fresh"
sql fresh "CREATE EXTENSION ringfence"
objects fresh >"$fresh"

# Each a thing that an update can forget: named after what it says.
damages() {
    cat <<'SQL'
a function: ALTER EXTENSION ringfence DROP FUNCTION ringfence.stats(); DROP FUNCTION ringfence.stats()
a function's body: ALTER FUNCTION ringfence.audit() VOLATILE; CREATE OR REPLACE FUNCTION ringfence.expire_receipts(older_than interval, at_most integer DEFAULT 10000) RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT 0'
a function's search_path: ALTER FUNCTION ringfence.audit() RESET search_path
what a function promises: ALTER FUNCTION ringfence.guard(text, bigint, text, interval, boolean) PARALLEL SAFE
what PUBLIC may call: GRANT EXECUTE ON FUNCTION ringfence.reset(text, bigint) TO PUBLIC
what PUBLIC may read: GRANT SELECT ON ringfence.registry TO PUBLIC
a column's privilege: GRANT SELECT (fence) ON ringfence.registry TO PUBLIC
the schema's privileges: GRANT USAGE ON SCHEMA ringfence TO PUBLIC
a comment: COMMENT ON FUNCTION ringfence.audit() IS NULL
a comment on a column: COMMENT ON COLUMN ringfence.registry.fence IS 'x'
the extension's comment: COMMENT ON EXTENSION ringfence IS 'x'
a column: ALTER TABLE ringfence.registry ADD COLUMN new int
a column's type: ALTER TABLE ringfence.retired ALTER COLUMN fence TYPE numeric
NOT NULL: ALTER TABLE ringfence.registry ALTER COLUMN claimed_at DROP NOT NULL
a default: ALTER TABLE ringfence.retired ALTER COLUMN one DROP DEFAULT
a collation: ALTER TABLE ringfence.registry ALTER COLUMN holder TYPE text COLLATE "C"
a constraint: ALTER TABLE ringfence.retired DROP CONSTRAINT retired_one
a storage parameter: ALTER TABLE ringfence.registry RESET (fillfactor)
an index: CREATE INDEX ON ringfence.registry (fence)
a view: CREATE OR REPLACE VIEW ringfence.protected AS SELECT * FROM ringfence.protected WHERE true
a view's option: ALTER VIEW ringfence.protected SET (security_barrier)
a field of a type: ALTER TYPE ringfence.hole ADD ATTRIBUTE new int
row security: ALTER TABLE ringfence.registry ENABLE ROW LEVEL SECURITY
a trigger: CREATE TRIGGER t BEFORE UPDATE ON ringfence.registry FOR EACH STATEMENT EXECUTE FUNCTION ringfence.column_row()
a membership: ALTER EXTENSION ringfence DROP FUNCTION ringfence.audit()
an object too many: CREATE FUNCTION ringfence.old() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION ringfence ADD FUNCTION ringfence.old()
an object of another kind: CREATE SEQUENCE ringfence.s; CREATE DOMAIN ringfence.d AS int; ALTER EXTENSION ringfence ADD DOMAIN ringfence.d
what is dumped: UPDATE pg_extension SET extconfig = NULL, extcondition = NULL
a row: INSERT INTO ringfence.retired (fence, raised_at) VALUES (1, 'epoch')
SQL
}

# noticed SQL: the comparison sees what the SQL changes; nothing is kept.
noticed() {
    {
        echo "\\set QUIET on"
        echo "BEGIN; $1;"
        cat "$RF_ROOT/tests/upgrade/objects.sql"
        echo "ROLLBACK;"
    } | psql -X -q -v ON_ERROR_STOP=1 -d fresh >"$TMPDIR/have" 2>&1 || {
        cat "$TMPDIR/have"
        return 1
    }
    ! diff -q "$fresh" "$TMPDIR/have"
}

not_noticed() { ! noticed "$1"; }

# ---- The releases ----------------------------------------------------------------

# All that the changelog names but the current one.
releases() {
    sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' "$RF_ROOT/CHANGELOG.md" |
        grep -vxF "$current"
}

# steps: the versions that a step in sql/ begins with.
steps() {
    find "$RF_ROOT/sql" -name 'ringfence--*--*.sql' |
        sed 's/.*ringfence--\(.*\)--.*/\1/'
}

mapfile -t damage < <(damages)
mapfile -t old < <({ releases; steps; } | sort -u)
plan $((${#damage[@]} + ${#old[@]} + 10))

ok "two fresh ones are the same" like_fresh fresh
ok "and nothing is seen where nothing changed" not_noticed "SET LOCAL jit = off"
is "all kinds of objects are known" "$(grep 'unknown kind' "$fresh")" ""
for line in "${damage[@]}"; do
    ok "seen: ${line%%: *}" noticed "${line#*: }"
done
is "nothing of that was kept" "$(like_fresh fresh)" ""

for version in "${old[@]}"; do
    cp "$RF_ROOT/tests/upgrade/ringfence--$version.sql" "$scripts/"
    updated "$version" >"$TMPDIR/said" 2>&1
    ok "updated from $version" like_fresh "from_${version//./_}"
done

# ---- A made-up release, two steps ago ----------------------------------------------

# made NAME: what the current script says about that function.
made() {
    awk -v name="ringfence.$1(" '
        !on && index($0, "CREATE FUNCTION " name) { on = 1 }
        on { print }
        on && index($0, "COMMENT ON FUNCTION") { last = 1 }
        last && /;$/ { exit }' "$RF_ROOT/sql/ringfence.sql"
}

{
    cat "$RF_ROOT/sql/ringfence.sql"
    echo "DROP FUNCTION ringfence.stats();"
    echo "ALTER TABLE ringfence.receipts DROP COLUMN applied_at;"
} >"$scripts/ringfence--0.0.1.sql"
made stats >"$scripts/ringfence--0.0.1--0.0.2.sql"
cat >"$scripts/ringfence--0.0.2--$current.sql" <<'SQL'
ALTER TABLE ringfence.receipts
    ADD COLUMN applied_at timestamptz NOT NULL DEFAULT pg_catalog.now();
ALTER TABLE ringfence.receipts ALTER COLUMN applied_at DROP DEFAULT;
COMMENT ON COLUMN ringfence.receipts.applied_at IS
    'When.';
SQL
sql postgres "CREATE DATABASE old"
sql old "CREATE EXTENSION ringfence VERSION '0.0.1';
    CREATE TABLE stock (sku text PRIMARY KEY, fence bigint);
    INSERT INTO stock VALUES ('a', 5);
    DO 'BEGIN PERFORM ringfence.protect(''stock'', ''fence'', ''s:{sku}'');
        PERFORM ringfence.guard(''s:a'', 7, ''h''); END'"
ok "an old release is not like the current one" bash -c '! "$@"' - cmp -s \
    "$fresh" <(objects old)
ok "ALTER EXTENSION walks all steps" sql old "ALTER EXTENSION ringfence UPDATE"
is "claims are kept" "$(sql old "SELECT ringfence.high_water('s:a')")" 7
is "tables stay protected" \
    "$(sql old "UPDATE stock SET fence = 6" 2>&1 | head -n 1)" \
    "ERROR:  write is not fenced"
is "and audit has nothing to say" "$(sql old "SELECT * FROM ringfence.audit()")" ""

updated 0.0.1 >"$TMPDIR/said" 2>&1
is "what was updated in two steps is like a fresh one" \
    "$(like_fresh from_0_0_1)" ""
