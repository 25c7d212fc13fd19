#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# A session remembers where it has seen a resource's row.  When another
# resource's row has come to stand in that very place, it is not taken for it.
# On a server of its own: elsewhere old versions stay as long as others look.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" "autovacuum = off" || exit 1
export PGDATABASE=postgres

# In two sessions: the other one's commands follow "\!".
cat >"$dir/other.sql" <<'SQL'
SELECT ringfence.guard('r1', 7, 'b');
-- As it is updated, the other row comes to stand in every free place.
DO $$
BEGIN
    FOR i IN 1..1000 LOOP
        UPDATE ringfence.registry SET fence = 6, holder = 'b'
        WHERE resource = 'r2';
        COMMIT;
        PERFORM FROM ringfence.registry r, place
        WHERE r.resource = 'r2' AND r.ctid = place.seen;
        EXIT WHEN FOUND;
    END LOOP;
END $$;
SQL
psql -X -q -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
CREATE EXTENSION ringfence;
SELECT ringfence.guard('r1', 5, 'a'), ringfence.guard('r2', 5, 'a');
SELECT ringfence.guard('r1', 6, 'b');
CREATE TABLE place AS
    SELECT ctid AS seen FROM ringfence.registry WHERE resource = 'r1';
SQL
said=$(
    psql -X -qAt -v ON_ERROR_STOP=1 <<SQL
SELECT ringfence.guard('r1', 6, 'b');
\\! psql -X -qAt -v ON_ERROR_STOP=1 -f $dir/other.sql
SELECT resource FROM ringfence.registry WHERE ctid = (SELECT seen FROM place);
SELECT ringfence.try_guard('r1', 6, 'b');
SELECT fence, holder FROM ringfence.registry WHERE resource = 'r1';
SQL
)
want=$(printf '%s\n' t t r2 f '7|b')

plan 1
is "another row in a place once seen is not taken for the resource's" \
    "$said" "$want"
