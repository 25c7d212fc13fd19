#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# case 45
# Hypertables of TimescaleDB, protected before and after they become one, and
# written by way of the hypertable and straight into a chunk; whichever library is
# loaded first.  Where TimescaleDB is not had, that is all there is to see: make
# matrix PG=18 has it.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

# shellcheck source=tests/lib/timescaledb.sh
. "$RF_ROOT/tests/lib/timescaledb.sh"

make_table() {
    ask "CREATE TABLE $1 (at timestamptz NOT NULL, sku text, fence bigint, n int,
        PRIMARY KEY (sku, at))" >/dev/null
}
make_hypertable() { ask "SELECT create_hypertable('$1', 'at')" >/dev/null; }
first_chunk() { ask "SELECT c FROM show_chunks('$1') c ORDER BY c LIMIT 1"; }
last_chunk() { ask "SELECT c FROM show_chunks('$1') c ORDER BY c DESC LIMIT 1"; }
insert() { ask "INSERT INTO $1 VALUES ('$2', 'a', 5, 1)"; }
protect() { ask "SELECT ringfence.protect('$1', $2)"; }

# claimed SQL: as the holder of a's resource, the answer to SQL alone
claimed() {
    ask "BEGIN; SELECT ringfence.guard('sku:a', 5, 'h'); $1; COMMIT" | sed 1d
}

# copy TABLE SKU DAY [CLAIM]: one row by COPY
copy() {
    psql -X -q -A -t -v VERBOSITY=sqlstate -c BEGIN -c "${4:-}" \
        -c "COPY $1 FROM STDIN" -c COMMIT 2>&1 <<<"$3"$'\t'"$2"$'\t5\t1' |
        grep ERROR
}

# With an INSERT in it, TimescaleDB puts a node of its own on top of the plan.
merge() {
    ask "MERGE INTO $1 t USING (VALUES (1)) v (x) ON true
        WHEN MATCHED AND t.sku = 'b' THEN UPDATE SET n = 1, fence = 6
        WHEN MATCHED THEN UPDATE SET n = 1$2
        WHEN NOT MATCHED THEN INSERT VALUES ('2026-01-01', 'a', 5, 1)"
}

# found: what audit() says of whatever table, a line each
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

missing='critical: trigger "~ringfence_truncate" is missing'
unrecorded='notice: a partition of a protected table that is not recorded'
origin() {
    echo "warning: trigger \"~ringfence_$1\" does not fire when session_replication_role is replica"
}

# ---- A fence column ----------------------------------------------------------------

column_is_judged() {
    is "an UPDATE that is not fenced is refused: $1" \
        "$(ask "UPDATE $1 SET n = 2")" "ERROR:  RF003"
    is "a stale one: $1" "$(ask "UPDATE $1 SET n = 2, fence = 4")" "ERROR:  RF001"
    is "a fenced one passes: $1" \
        "$(ask "UPDATE $1 SET n = 2, fence = 5 RETURNING n")" 2
    is "DELETE is refused: $1" "$(ask "DELETE FROM $1")" "ERROR:  RF003"
    is "TRUNCATE: $1" "$(ask "TRUNCATE $1")" "ERROR:  RF003"
    is "a change of the key: $1" \
        "$(ask "UPDATE $1 SET sku = 'x', fence = 5")" "ERROR:  RF003"
    is "MERGE with a part that is not fenced: $1" "$(merge "$1" "")" "ERROR:  RF003"
    is "and passes when all are: $1" "$(merge "$1" ", fence = 5")" ""
    is "a replica's change is compared: $1" \
        "$(ask "SET session_replication_role = replica; UPDATE $1 SET fence = 4")" \
        "ERROR:  RF001"
}

upsert_is_judged() {
    local upsert="INSERT INTO $1 VALUES ('2026-01-01', 'a', 5, 1)
        ON CONFLICT (sku, at) DO UPDATE SET n = 3"
    is "an upsert that is not fenced is refused: $1" "$(ask "$upsert")" "ERROR:  RF003"
    is "a stale one: $1" "$(ask "$upsert, fence = 4")" "ERROR:  RF001"
    is "a fenced one passes: $1" "$(ask "$upsert, fence = 5 RETURNING n")" 3
}

# ---- Protected, then made a hypertable ---------------------------------------------

protected_before() {
    make_table before
    protect before "'fence'" >/dev/null
    make_hypertable before
    is "a protected table that becomes a hypertable has no hole" "$(found)" ""
    insert before 2026-01-01
    is "with its first chunk, UPDATE is still refused" \
        "$(ask "UPDATE before SET n = 2")" "ERROR:  RF003"
    is "MERGE too" "$(merge before "")" "ERROR:  RF003"
    is "a stale one too" "$(ask "UPDATE before SET fence = 4")" "ERROR:  RF001"
    is "what the chunk itself lets through is found" "$(found | grep critical)" \
        'critical: trigger "~ringfence_column" is missing
critical: trigger "~ringfence_column" was replaced: it calls ringfence.column_statement(), not ringfence.column_row()
'"$missing"
    is "its remedies run" "$(mend)" ""
    is "and mend it" "$(found)" ""
    column_is_judged before
    column_is_judged "$(first_chunk before)"
    upsert_is_judged before
}

# ---- A hypertable, then protected --------------------------------------------------

protected_after() {
    local chunk
    make_table after
    make_hypertable after
    is "a hypertable without chunks is protected" "$(protect after "'fence'")$(found)" ""
    ask "SELECT ringfence.unprotect('after')" >/dev/null
    insert after 2026-01-01
    is "one with a chunk as well" "$(protect after "'fence'")$(found)" ""
    column_is_judged after
    column_is_judged "$(first_chunk after)"

    insert after 2025-01-01
    chunk=$(last_chunk after)
    is "a chunk that comes later judges rows" \
        "$(ask "UPDATE $chunk SET n = 2") $(ask "UPDATE $chunk SET fence = 4")" \
        "ERROR:  RF003 ERROR:  RF001"
    is "what it does not is found" "$(found)" \
        "$missing"$'\n'"$unrecorded"$'\n'"$(origin column)"$'\n'"$(origin seal)"
    is "the remedies run" "$(mend)" ""
    is "and mend it" "$(found)$(ask "TRUNCATE $chunk")" "ERROR:  RF003"

    ask "DROP TRIGGER \"~ringfence_seal\" ON $chunk"
    is "a trigger dropped on a chunk alone stops its writes" \
        "$(ask "UPDATE after SET fence = 6")" "ERROR:  RF005"
    is "and is found" "$(found)" 'critical: trigger "~ringfence_seal" is missing'
    is "the remedy runs" "$(mend)" ""
    is "and mends it" "$(found)" ""

    is "no fence stops drop_chunks" \
        "$(ask "SELECT count(*) FROM drop_chunks('after', '2025-06-01'::timestamptz)")" 1
    is "which audit tells" "$(found)" "notice: a partition that is not there any more"
    is "until protect() is called" "$(mend)$(found)" ""
    is "a chunk is protected with its hypertable only" \
        "$(protect "$(first_chunk after)" "'fence'")" "ERROR:  RF005"
    is "and unprotected" \
        "$(ask "SELECT ringfence.unprotect('$(first_chunk after)')")" "ERROR:  RF005"
}

# ---- Resources ---------------------------------------------------------------------

resource_is_judged() {
    local chunk claim="SELECT ringfence.guard('sku:a', 5, 'h')"
    make_table claims
    make_hypertable claims
    protect claims "resource => 'sku:{sku}'" >/dev/null
    is "COPY without the claim is refused" "$(copy claims a 2026-01-01)" "ERROR:  RF003"
    is "with it, it passes, into a new chunk" "$(copy claims a 2026-01-01 "$claim")" ""
    is "not for another's row" "$(copy claims b 2026-01-02 "$claim")" "ERROR:  RF003"
    is "nor into a chunk that it would make" "$(copy claims b 2020-01-01 "$claim")" \
        "ERROR:  RF003"
    chunk=$(first_chunk claims)
    is "what the chunk itself lets through is found" "$(found | grep -v warning)" \
        "$missing"$'\n'"$unrecorded"
    is "the remedies mend it" "$(mend)$(found)" ""
    for chunk in claims "$(first_chunk claims)"; do
        is "INSERT without the claim is refused: $chunk" \
            "$(insert "$chunk" 2026-01-03)" "ERROR:  RF003"
        is "UPDATE: $chunk" "$(ask "UPDATE $chunk SET n = 2")" "ERROR:  RF003"
        is "DELETE: $chunk" "$(ask "DELETE FROM $chunk")" "ERROR:  RF003"
        is "TRUNCATE: $chunk" "$(claimed "TRUNCATE $chunk")" "ERROR:  RF003"
        is "with it they pass: $chunk" \
            "$(claimed "UPDATE $chunk SET n = n + 1 RETURNING n = 9")" f
    done
    ask "SELECT ringfence.unprotect('claims')" >/dev/null
    is "unprotected, neither it nor a chunk has a trigger of ours" \
        "$(ask "SELECT count(*) FROM pg_trigger WHERE tgname LIKE '~ringfence%'
            AND tgrelid IN ('claims'::regclass, '$chunk'::regclass)")" 0
}

# A table that is one resource has a CHECK as long as it has no chunk; the first
# one inherits that.
whole_is_judged() {
    local table claim="SELECT ringfence.guard('sku:a', 5, 'h')"
    make_table whole
    protect whole "resource => 'sku:a'" >/dev/null
    make_hypertable whole
    is "a table of one resource that becomes a hypertable has no hole" "$(found)" ""
    is "COPY without the claim into a chunk that it would make is refused" \
        "$(copy whole b 2026-01-01)" "ERROR:  RF003"
    is "with it, it passes" "$(copy whole b 2026-01-01 "$claim")" ""
    one_is_judged "with the CHECK"
    is "what is not as it should be is found" "$(found | grep -c critical)" 3
    is "the remedies mend it" "$(mend)$(found)" ""
    one_is_judged "with triggers"
    is "the CHECK is gone" "$(ask "SELECT count(*) FROM pg_constraint
        WHERE conname = '~ringfence_claim'")" 0
    ask "SELECT ringfence.unprotect('whole')" >/dev/null
}

one_is_judged() {
    local table
    for table in whole "$(first_chunk whole)"; do
        is "$1: INSERT without the claim is refused: $table" \
            "$(insert "$table" 2026-01-03)" "ERROR:  RF003"
        is "$1: UPDATE: $table" "$(ask "UPDATE $table SET n = 2")" "ERROR:  RF003"
        is "$1: DELETE: $table" "$(ask "DELETE FROM $table")" "ERROR:  RF003"
        is "$1: claimed they pass: $table" \
            "$(claimed "UPDATE $table SET n = n + 1 RETURNING n = 9")" f
    done
}

# ---- In whichever order the libraries are loaded -----------------------------------

story() {
    local dir
    dir=$(mktemp -d /tmp/rf.XXXXXX)
    # shellcheck disable=SC2064 # this folder, not a later one
    trap "pg_stop $dir; rm -rf $dir" EXIT
    pg_start "$dir" "shared_preload_libraries = '$1'" \
        "timescaledb.telemetry_level = off" || exit 1
    export PGDATABASE=postgres
    ask "CREATE EXTENSION timescaledb; CREATE EXTENSION ringfence" >/dev/null
    protected_before
    protected_after
    resource_is_judged
    whole_is_judged
    # Debian's build: with another one there is more to see.
    is "this TimescaleDB has no columnstore" \
        "$(ask "ALTER TABLE after SET (timescaledb.compress)")" "ERROR:  0A000"
    pg_stop "$dir"
    rm -rf "$dir"
}

plan 202
story timescaledb,ringfence
story ringfence,timescaledb
