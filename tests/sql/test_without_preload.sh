#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# Without shared_preload_libraries the library is loaded by the first call of a
# session, and everything holds.  Only then is any commit in the server since a
# snapshot a reason to have a first claim retried.
set -u
# shellcheck source=tests/lib/postgres.sh
. "$RF_ROOT/tests/lib/postgres.sh"
# shellcheck source=tests/lib/tap.sh
. "$RF_ROOT/tests/lib/tap.sh"
# shellcheck source=tests/sql/sessions.sh
. "$RF_ROOT/tests/sql/sessions.sh"

plan 33

dir=$(mktemp -d /tmp/rf.XXXXXX)
trap 'pg_stop "$dir"; rm -rf "$dir"' EXIT
pg_start "$dir" || exit 1
export PGDATABASE=postgres
ask "CREATE EXTENSION ringfence; CREATE TABLE stock (n int);
    INSERT INTO stock VALUES (10); SELECT ringfence.guard('r', 5, 'a')" >/dev/null

is "the first call of a session may be refused" \
    "$(ask "SELECT ringfence.guard('r', 4, 'a')")" "ERROR:  RF001"
is "or come from within an UPDATE" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 5, 'a') RETURNING n")" 9
is "whether it advances" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 6, 'a') RETURNING n")" 8
is "or not" \
    "$(ask "UPDATE stock SET n = n - 1 WHERE ringfence.try_guard('r', 5, 'a') RETURNING n")" ""

is "stats are those of the session" \
    "$(ask "SET client_min_messages = error; SELECT ringfence.guard('r', 6, 'a');
        SELECT server_wide, checks FROM ringfence.stats()" | tail -n 1)" "f|1"
ok "which is said" grep -q "those of this session" <(psql -X -c "SELECT ringfence.stats()" 2>&1)

# ---- Snapshots ---------------------------------------------------------------------

session new
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT 1"
settle new
ask "CREATE TABLE unrelated (n int)" >/dev/null
tell new "SELECT ringfence.guard('r', 7, 'b')" "ROLLBACK"
settle new
is "a first claim is refused when anything was committed" "$(code_of new)" 40001
is "and not made" "$(ask "SELECT ringfence.high_water('r')")" 6
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" \
    "SELECT ringfence.guard('r', 7, 'b')" "COMMIT" "SELECT 'done'"
settle new
is "a retry passes" "$(ask "SELECT ringfence.high_water('r')")" 7
tell new "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT 1"
settle new
ask "DROP TABLE unrelated" >/dev/null
tell new "SELECT ringfence.guard('r', 7, 'b')" "COMMIT"
finish new
is "a stored claim does not mind" "$(grep -c 40001 "$TMPDIR/new.err")" 1

# The old holder's last write, with the newest one's claim inside the statement.
session old
session late
tell old "BEGIN" "SELECT ringfence.guard('r', 7, 'b')" "UPDATE stock SET n = 100"
settle old
tell late "UPDATE stock SET n = (SELECT sum(n) FROM stock) + 1 WHERE ringfence.try_guard('r', 8, 'c')"
wait_until "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
tell old "COMMIT"
finish old
finish late
is "it does not compute from the past" "$(code_of late)" 40001
is "and changes nothing" "$(ask "SELECT n FROM stock")" 100

# From within a function of a statement that was not seen to start: strict, but
# only where it matters, and only once.
ask "CREATE FUNCTION claim(f bigint) RETURNS boolean LANGUAGE plpgsql AS
        \$\$BEGIN RETURN ringfence.try_guard('r', f, 'd'); END\$\$" >/dev/null
nested="UPDATE stock SET n = n + 1 WHERE claim(9)"
session first
tell first "$nested" "$nested" "$nested"
finish first
is "the first one of a session is refused, and a retry passes" \
    "$(code_of first) $(ask "SELECT n FROM stock")" "40001 102"
ask "CREATE FUNCTION claim_by_statement(f bigint) RETURNS boolean LANGUAGE plpgsql AS
        \$\$BEGIN PERFORM ringfence.guard('r', f, 'd'); RETURN true; END\$\$" >/dev/null
is "whichever way the function calls" \
    "$(ask "UPDATE stock SET n = n + 1 WHERE claim_by_statement(10)")" "ERROR:  40001"
is "a claim of its own passes in the next one" \
    "$(ask "SELECT ringfence.guard('r', 9, 'd'); $nested RETURNING n" | tail -n 1)" 103
is "a claim that was stored long before passes at once" \
    "$(ask "$nested RETURNING n")" 104

# ---- Statements in parts ---------------------------------------------------------------
# Within a function: the statement that loads the library was not seen to start,
# and is judged at its end.

ask "CREATE TABLE goods (sku text PRIMARY KEY, fence bigint, n int);
    INSERT INTO goods VALUES ('a', 5, 0), ('b', 5, 0);
    CREATE TABLE parts (sku text, fence bigint, n int) PARTITION BY LIST (sku);
    CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
    CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
    INSERT INTO parts TABLE goods;
    SELECT ringfence.protect('goods', 'fence');
    SELECT ringfence.protect('parts', 'fence');
    CREATE FUNCTION arms(other text) RETURNS text LANGUAGE plpgsql AS \$\$
    BEGIN
        EXECUTE 'WITH w AS (UPDATE goods SET fence = 6 WHERE sku = ''a'')
            UPDATE goods SET n = 1' || other || ' WHERE sku = ''b''';
        RETURN 'done';
    END \$\$;
    CREATE FUNCTION merged(goods text, other text) RETURNS text LANGUAGE plpgsql AS \$\$
    BEGIN
        EXECUTE 'MERGE INTO ' || goods || ' t
            USING (VALUES (''a''), (''b'')) v (sku) ON v.sku = t.sku
            WHEN MATCHED AND t.sku = ''a'' THEN UPDATE SET n = 1, fence = 6
            WHEN MATCHED THEN UPDATE SET n = 1' || other;
        RETURN 'done';
    END \$\$" >/dev/null
merged() { ask "SELECT merged('$1', '$2')"; }
[ "$(ask 'SHOW server_version_num')" -ge 150000 ] ||
    merged() { ask "SELECT arms('$2')"; }

is "one part that names the fence does not speak for another" \
    "$(ask "SELECT arms('')")" "ERROR:  RF003"
is "nor in a MERGE" "$(merged goods '')" "ERROR:  RF003"
is "nor on partitions" "$(merged parts '')" "ERROR:  RF003"
is "and nothing of it stays" \
    "$(ask "SELECT count(*) FROM (TABLE goods UNION ALL TABLE parts) t WHERE n = 0")" 4
is "where all name it, it passes" \
    "$(ask "SELECT arms(', fence = 6')") $(merged goods ', fence = 6') $(merged parts ', fence = 6')" \
    "done done done"
ask "SELECT ringfence.protect('goods', 'fence', mode => 'observe')" >/dev/null
is "observed, it is let through and told" "$(ask "SELECT arms('')")" \
    $'WARNING:  RF003\ndone'
is "and counted once" \
    "$(ask "SET client_min_messages = error; SELECT arms('');
        SELECT observed FROM ringfence.stats()" | tail -n 1)" 1

# A trigger's write during a cascade is not the server's own.  What surrounds the
# very first statement was not seen to start, and is seen to end.
ask "CREATE TABLE parent (id int PRIMARY KEY);
    CREATE TABLE child (id int REFERENCES parent ON DELETE CASCADE);
    CREATE TABLE mirror (id int PRIMARY KEY, fence bigint,
        of int REFERENCES parent ON DELETE SET NULL);
    INSERT INTO parent SELECT generate_series(1, 9);
    INSERT INTO child SELECT generate_series(1, 6);
    INSERT INTO mirror SELECT i, 5, i FROM generate_series(1, 9) i;
    SELECT ringfence.protect('goods', 'fence'), ringfence.protect('mirror', 'fence');
    CREATE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS
        \$\$BEGIN UPDATE goods SET n = n + 1; RETURN OLD; END\$\$;
    CREATE TRIGGER also BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION also()" >/dev/null
is "what a trigger writes during a cascade is refused, the first time" \
    "$(ask "DELETE FROM parent WHERE id = 1")" "ERROR:  RF003"
is "and the second" \
    "$(ask "DO \$\$BEGIN PERFORM ringfence.high_water('r'); DELETE FROM parent WHERE id = 2; END\$\$")" \
    "ERROR:  RF003"
is "in a session that loads the library at its start" \
    "$(PGOPTIONS='-c session_preload_libraries=ringfence' ask "DELETE FROM parent WHERE id = 2")" "ERROR:  RF003"
ask "CREATE OR REPLACE FUNCTION also() RETURNS trigger LANGUAGE plpgsql AS
        \$\$BEGIN PERFORM ringfence.high_water('r'); UPDATE goods SET n = n + 1; RETURN OLD; END\$\$" >/dev/null
is "and when the trigger itself has loaded it before" \
    "$(ask "DELETE FROM parent WHERE id = 1")" "ERROR:  RF003"
is "nothing of it stays" "$(ask "SELECT count(*) FROM child")" 6
ask "DROP TRIGGER also ON child" >/dev/null
is "the cascade itself passes, of several rows" \
    "$(ask "DELETE FROM parent WHERE id < 4")$(ask "SELECT count(*) FROM mirror WHERE of IS NULL")" 3
is "also from within a function" \
    "$(ask "DO \$\$BEGIN DELETE FROM parent WHERE id = 4; DELETE FROM parent WHERE id = 5; END\$\$")$(
        ask "SELECT count(*) FROM mirror WHERE of IS NULL")" 5
ask "ALTER TABLE mirror DROP CONSTRAINT mirror_of_fkey,
    ADD FOREIGN KEY (of) REFERENCES parent ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED" >/dev/null
is "or at the commit" \
    "$(ask "DELETE FROM parent WHERE id IN (6, 7)")$(ask "SELECT count(*) FROM mirror WHERE of IS NULL")" 7

# ---- Leases and preemption need nothing either -----------------------------------------

is "a lease ends the transaction" \
    "$(ask "BEGIN; SELECT ringfence.guard('r', 9, 'd', lease => '100 ms'); SELECT pg_sleep(60)" |
        grep -o '25P0[34]')" "$([ "$(ask 'SHOW server_version_num')" -lt 170000 ] && echo 25P03 || echo 25P04)"
session older
tell older "BEGIN" "SELECT ringfence.guard('r', 9, 'd')"
settle older
is "a newer claim ends an older holder" \
    "$(ask "SELECT ringfence.guard('r', 10, 'e', preempt => true)")" t
finish older
